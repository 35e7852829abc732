// Package batch answers the question: how do the cores answer many requests?
//
// [OnCores] and [Each] fetch requests as they come, let workers answer them, and yield what was
// made of the results in order. A ring is what the workers of a batch share. A worker holds some
// requests at a time and answers whole ones; a worker without work takes over half of what another
// holds. Each knows nothing of how a request is answered. OnCores does, for an index of one
// segment: its pool looks up the words of several requests at once, and a worker without work may
// join the team of a long query.
//
// Invariants:
//   - Every request is answered once, and results are yielded in the order of the requests.
//   - One goroutine writes requests to the ring; the goroutine of the caller reads results from it.
//   - The first error takes the place of its result and ends the batch.
package batch
