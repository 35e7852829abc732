// Package thesisbench makes the tables and figures of a thesis on parallel retrieval again
// (R. Gaioso, "Paralelização de algoritmos de busca de documentos mais relevantes na Web utilizando
// GPUs", UFSCar 2019, chapters 5 and 7): parallel WAND and MaxScore by partition, size, partitions
// in a row and policy, on a GPU or on CPU cores, next to the sequential algorithms on one core of
// the same machine, with the recall of the approximate ones. Every cell stands beside the thesis'.
//
// The thesis used ClueWeb09-B, which cannot be shipped. A collection with as many documents is
// generated, with lists of the same lengths (see Thesis); it lacks the clustering of real text. An
// index and topics of one's own can be measured instead.
package thesisbench
