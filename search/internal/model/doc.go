// Package model answers the question: what is the score of a word in a document?
//
// A [Model] and a [Collection] give a [Weigher], which makes a [Scorer] for each word of a query. A
// scorer scores one posting (Score) or a block of postings (Batch), and bounds the scores of all
// postings that an [index.Bound] covers (Bound). [Buckets] and length groups hold quantised
// document lengths, which are cheaper to read than exact ones.
//
// Invariants:
//   - No score is negative or NaN.
//   - Bound(b) is at least the score of every posting that b stands for, rounding included.
//   - Batch gives the same bits as Score, at every level of vector instructions.
//   - Weighers and scorers are read-only once made; goroutines share them.
package model
