// Package thesisbench makes the tables and figures of a thesis on parallel retrieval again (R. Gaioso, "Paralelização de algoritmos de busca de documentos mais
// relevantes na Web utilizando GPUs", UFSCar 2019, chapters 5 and 7): parallel WAND
// and MaxScore on a GPU, by partition, size, partitions in a row and policy, next to the sequential algorithms on one core of the
// same machine, with the recall of the approximate ones; and our own search by tiles beside them.
//
// The thesis used ClueWeb09-B, which cannot be shipped. A collection of the same number of documents is generated, with lists of the
// same lengths (see Thesis); what it has not is the clustering of real text.
package thesisbench
