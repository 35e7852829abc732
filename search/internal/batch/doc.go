// Package batch answers the question: how do the cores answer many requests?
//
// [OnCores] and [Each] fetch requests as they come, let workers answer them, and yield what was
// made of the results in order. The workers of a batch share a ring (ring.go). A worker claims some
// requests at a time and answers whole ones; an idle worker takes over half of another's claim
// (claim.go). Each leaves it to its caller how a request is answered. OnCores is for an index of
// one segment: its pool (pool.go) looks up the words of several requests at once, and an idle
// worker may join the team of a long query. Tuning constants are in tuning.go.
//
// Invariants:
//   - Every request is answered once, and results are yielded in the order of the requests.
//   - One goroutine writes requests to the ring; the goroutine of the caller reads results from it.
//   - The first error takes the place of its result and ends the batch.
package batch
