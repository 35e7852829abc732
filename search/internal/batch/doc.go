// Package batch answers the question: how do the cores answer many requests?
//
// [OnCores] fetches requests as they come, lets workers answer them, and yields what was made of
// the results in order. A pool is the workers of one batch and the ring that they share. A worker
// holds some requests at a time, looks up the words of several at once, and answers whole requests;
// a worker without work takes over half of what another holds, or joins the team of a long query.
//
// Invariants:
//   - Every request is answered once, and results are yielded in the order of the requests.
//   - One goroutine writes requests to the ring; the goroutine of the caller reads results from it.
//   - The first error takes the place of its result and ends the batch.
package batch
