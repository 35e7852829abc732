// Package eval answers the question: which k documents are best for one query, on the cores?
//
// An [Engine] is an index with what its queries share: a lexicon, scorers by model, and a pool of
// queries. A [Query] is a request being answered: a list (a cursor with its scorer and bounds) for
// each word, a heap of answers, and the threshold. The algorithms are functions of a Query, one per
// file, named as in the literature. A [Team] answers one query with several workers, each with a
// Query of its own; [Segments] is an index of several segments.
//
// A request takes four steps:
//
//  1. Engine.Prepare looks up the words and opens their lists.
//  2. Query.Begin chooses the algorithm and finds a floor.
//  3. Query.Run, or a Team, finds the k best documents.
//  4. Query.Finish makes the result.
//
// Algorithm bmm and mode And have several strategies. A plan lists them in order; the first one
// that is worth it answers the query: orPlan (or_plan.go), andPlan (and_plan.go) and onePlan
// (one_plan.go). Before that, choose (auto.go) turns Auto into an algorithm, and useSeeds
// (seeds.go) may raise the floor of a query of many words. Tuning constants are in tuning.go.
//
// # Terms
//
//	theta      the threshold: the score that a document must beat to enter the result
//	cut        theta lowered by a margin that exceeds all rounding
//	floor      the initial theta: a score that k documents are known, or guessed, to beat
//	bound      a number that no score of a list, block or window exceeds
//	x          the part of BM25 that depends on frequency and length: x = k/tf, and
//	           score = weight/(1+x) + plus; see package bm25. The index stores the lowest x of
//	           each block, from which the block's bound is computed
//	win        to enter the result: a document can win if its bounds sum to more than cut
//	essential  in MaxScore, a list that is needed to win: the bounds of all other lists together
//	           do not exceed cut, so a document must be in an essential list
//	level      one of 16 classes of x; the index has a map of levels for long lists
//	place      16 documents that share a level in a map
//	stretch    128 places, which a kernel processes in one step
//	bar        the threshold of a team: a score with a document number (team_threshold.go)
//
// # Invariants
//
//   - theta never decreases while a query runs. A document whose bounds sum to cut or less is not
//     in the result, so skipping it is exact.
//   - Documents reach push in rising order, unless anyOrder is set: of equal scores the first wins.
//   - Scores are float32 sums in query order, whatever the algorithm.
//   - A guessed floor is proved by k answers above it, or the query is evaluated again.
package eval
