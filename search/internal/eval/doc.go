// Package eval answers the question: which k documents are best for one query, on the cores?
//
// An [Engine] is an index with what its queries share: a lexicon, scorers by model, and a pool of
// queries. A [Query] is a request being answered: a list (a cursor with its scorer and bounds) for
// each word, a heap of answers, and the threshold. The algorithms are functions of a Query, one per
// file, named as in the papers. A [Team] answers one query with several workers, each with a Query
// of its own; [Segments] is an index of several segments.
//
// A request takes four steps: Engine.Prepare looks its words up and opens their lists; Query.Begin
// chooses the algorithm and finds a floor; Query.Run answers it, or a Team does; Query.Finish makes
// the result. Which strategy bmm and mode And take is decided by plans, tables of strategies that
// are tried in order: orPlan (or_plan.go), andPlan (and_plan.go) and onePlan (one_plan.go). Before
// a plan is followed, choose (auto.go) turns Auto into an algorithm, and useSeeds (seeds.go) may
// raise the floor of a query of many words. Tuned numbers are in tuning.go.
//
// # Terms
//
//	theta      the threshold: the score that a document must beat to enter the result
//	cut        theta lowered by a margin that exceeds all rounding
//	floor      a score that k documents are known to beat, or that is guessed: theta at the start
//	bound      a number that no score of a list, block or window exceeds
//	x          what BM25 makes of frequency and length: score = weight/(1+x) + plus, x = k/tf,
//	           see package bm25. The index stores the lowest x of each block, from which its
//	           bound is computed
//	essential  in MaxScore, one of the lists of which a document needs at least one to win: the
//	           bounds of the others together do not exceed cut
//	level      one of 16 classes of x; the index has a map of levels for long lists
//	place      16 documents that share a level in a map
//	stretch    128 places, what a kernel looks at in one step
//	bar        the threshold of a team: a score with a document number (team_threshold.go)
//
// # Invariants
//
//   - theta never falls while a query runs. A document whose bounds sum to cut or less is not in
//     the result: this is what makes skipping exact.
//   - Documents reach push in rising order, unless anyOrder is set: of equal scores the first wins.
//   - Scores are float32 sums in query order, whatever the algorithm.
//   - A floor that was guessed is proved by k answers above it, or the query is answered again.
package eval
