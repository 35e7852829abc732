// Package feedback answers the question: which words would the best documents add to a query?
//
// The best documents come as bags of words, each with its score for the query. The result is the
// words of the expanded query with their weights: first those of the query in its order, then the
// others by falling weight, of equal weight in byte order.
//
// Invariants:
//   - Weights are computed in float64 in a fixed order: engines, threads and segments do not
//     matter.
//   - All weights are positive: a word whose weight would be 0 is left out.
//
// # RM3
//
// As in Anserini: of each document the n most frequent words are kept (equal ones in byte order)
// that have 2 to 20 characters, letters a to z and digits only, and are in at most a tenth of all
// documents. A word weighs the sum, over the documents, of the document's score times the word's
// share of what was kept. The n heaviest, scaled to the sum 1, are mixed with the query, whose
// words sum to 1, too: weight times the query, plus 1-weight times these.
//
// # Bo1
//
// As in Terrier: with tf how often a word occurs in the documents, and f = CF/N how often it occurs
// in the collection for each of its N documents, w = tf·log2((1+f)/f) + log2(1+f). Words of one
// document only do not count, unless the query has them or there is one document only. The n with
// the highest w, or as many as the query has if these are more, add w/m to their weights: m is what
// w would be if all occurrences of the word with the highest w were in the documents, f = tf/N. The
// words of the query count by how often it has them, divided by the highest of these.
package feedback
