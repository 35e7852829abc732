// Package lookup answers the question: which statistics does the index have for the words of a
// query?
//
// A [Lexicon] is the index's dictionary and analyzer behind a cache of words. A [Wording] is the
// words of one query. A lookup has three steps, Read, Guess and LookUp. Each prefetches what the
// next step needs, so that the steps of several queries can be interleaved.
//
// Invariants:
//   - Terms are in the order in which words first appear in the query; a repeated word is one term
//     with the sum of the weights.
//   - In mode And a query with an unknown word has no terms.
//   - The cache holds entries of the index's dictionary; an evicted word is looked up again.
package lookup
