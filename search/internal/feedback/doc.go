// Package feedback answers the question: which words do the best documents add to a query?
//
// The feedback documents are given as bags of words, each with its score for the query. The result
// is the words of the expanded query with their weights: first the words of the query in their
// order, then the others by decreasing weight, then in byte order.
//
// Invariants:
//   - Weights are computed in float64 in a fixed order: engines, threads and segments do not
//     matter.
//   - All weights are positive: a word whose weight would be 0 is left out.
//
// # RM3
//
// As in Anserini: of each document, keep the n most frequent words (ties in byte order). Only words
// count that have 2 to 20 characters, consist of the letters a to z and digits, and occur in at
// most a tenth of all documents. The weight of a word is the sum over the documents of the
// document's score times the word's share of the kept occurrences. The n words with the highest
// weights, normalised to sum 1, are interpolated with the query, whose weights are normalised too:
// weight times the query plus 1-weight times these words.
//
// # Bo1
//
// As in Terrier: with tf the number of occurrences of a word in the feedback documents, and f =
// CF/N its mean number of occurrences per document of the collection, w = tf·log2((1+f)/f) +
// log2(1+f). Words that occur in only one feedback document are ignored, unless the query contains
// them or there is only one such document. The n words with the highest w (or as many as the query
// has, if that is more) get w/m added to their weights. m is the w that the word with the highest w
// would have if all of its occurrences were in the feedback documents, f = tf/N. The original
// weight of a query word is its number of occurrences in the query, divided by the largest such
// number.
package feedback
