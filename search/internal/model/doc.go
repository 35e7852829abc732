// Package model answers the question: how much does a word say about a document?
//
// A [Model] and a [Collection] make a [Weigher]; it makes a [Scorer] for each word of a query.
// A scorer scores one posting (Score), a block of postings (Batch), and bounds the scores of all
// postings that an [index.Bound] stands for (Bound). [Buckets] and length groups keep coarse
// lengths of documents, which are cheaper to read than exact ones.
//
// Invariants:
//   - No score is negative or NaN.
//   - Bound(b) is at least the score of every posting that b stands for, rounding included.
//   - Batch gives the same bits as Score, at every level of vector instructions.
//   - Weighers and scorers are read-only once made; goroutines share them.
package model
