// Package topk answers the question: which are the k best answers so far?
//
// An answer is a single number, its key: the bits of the score, then the complement of the document
// number. Keys order like results: higher scores first, then lower documents. A [Heap] keeps the k
// best; [MergeBest] and [MergePairs] merge the heaps of several workers.
//
// Invariants:
//   - Of two answers the better has the larger key, and no two keys are equal.
//   - Once a heap is full, no answer whose score is below Worst can enter the result.
package topk
