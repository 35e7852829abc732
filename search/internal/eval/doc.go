// Package eval answers the question: which k documents are best for one query, on the cores?
//
// An [Engine] is an index with what its queries share: a lexicon, scorers by model, and a pool of
// queries. A [Query] is a request at work: a list (a cursor with scorer and bounds) for each word,
// a heap of answers, and the threshold. The algorithms are functions of a Query, one per file,
// named as in the papers. A [Team] answers one query with several workers, each with a Query of its
// own.
//
// The way of a request: Engine.Prepare looks its words up and opens their lists; Query.Begin
// chooses the algorithm and a floor, a score that k documents are known to reach; Query.Run answers
// it, or a Team does; Query.Finish makes the result.
//
// Invariants:
//   - theta is the score to beat; it never falls while a query runs. cut is theta lowered by a margin
//     that exceeds all rounding: a document whose bounds sum to cut or less is not in the result.
//   - Documents reach push in rising order, unless anyOrder is set: of equal scores the first wins.
//   - Scores are sums in query order in float32, whatever the algorithm.
//   - A floor that was guessed is proved by k answers above it, or the query is answered again.
package eval
