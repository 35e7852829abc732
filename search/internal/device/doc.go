// Package device answers the question: which documents are best, on a GPU?
//
// An [Index] is an index on a device: postings in tiles of 16,384 documents and, for each model in
// use, a one-byte code per posting that bounds its score. A [Group] is an index on one device or
// several. [Index.Answer] answers one request, [Batch] many. The kernels are in kernels/*.cu; files
// named paper_*.go run the algorithms of a thesis (R. Gaioso, UFSCar 2019).
//
// A batch takes these steps. Requests wait in a ring (ring.go) and are cut into chunks (chunk.go).
// The cores look up their words (resolve.go, words.go) and write a plan (lane_plan.go, known.go). A
// lane, a stream with its buffers, launches it (lane_run.go, lane.go). The cores make results from
// the output (results.go).
//
// # Strategies
//
// The tables slotStrategies, for one request, and laneStrategies, for requests of a batch, have
// every strategy, when it is taken and why (plan.go). Stats.Strategy names the one that was taken.
// Requests of a batch with more than 32 words or 2,048 answers, and what lanes leave, are answered
// by slotStrategies, many in a launch (general.go). Of a long query in a lane the host knows only
// that; the kernel batch_plan chooses between batch_pairs, batch_sums and batch_score
// (kernels/batch.cuh).
//
// The cores (package eval) answer the rest: more than 511 words or 16,384 answers, BM25F and
// rounded lengths, and ties or lists that do not fit. In a batch they also answer query trees,
// counts and pages. Stats.GPU.Fallback says why the cores answered.
//
// # Filters
//
// Requests within a filter that is asked often are answered on an excerpt, an Index of the
// documents that it admits, whose lists are made on the device (excerpt.go, excerpts.go). Otherwise
// documents that were deleted, or that the filter does not admit, are left out of more answers than
// were asked for (leftout.go).
//
// # Memory
//
// store.go measures the index and allocates what the budget allows. If all postings fit, they stay
// on the device. If not, it is an LRU cache of lists: those that a query lacks are loaded, others
// are evicted, and a query whose lists do not fit together is answered by the cores. Opening fails,
// with the memory that is needed, if less than a thousandth of the postings fits.
//
// # Invariants
//
//   - Results equal those of package eval, to the bit.
//   - A cut that was guessed is proved by the result, or the query is answered again.
//   - Streams write device memory; the host reads pinned memory once the result's mark is there.
//   - gate is held for reading while queries run, and for writing while lists come and go.
package device
