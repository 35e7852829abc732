// Package thesisbench repeats the tables and figures of a thesis on parallel retrieval (R. Gaioso,
// "Paralelização de algoritmos de busca de documentos mais relevantes na Web utilizando GPUs",
// UFSCar 2019, chapters 5 and 7). It measures parallel WAND and MaxScore by partition, size,
// partitions in a row and policy, on a GPU or on CPU cores, and compares them with the sequential
// algorithms on one core of the same machine. Approximate variants have a recall. Each value has
// the thesis' beside it.
//
// The thesis used ClueWeb09-B, which cannot be distributed. Instead a collection of as many
// documents is generated, with lists of the same lengths (see Thesis) but without the clustering of
// real text. Another index and its topics can be measured instead.
package thesisbench
