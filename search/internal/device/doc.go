// Package device answers the question: which documents are best, on a GPU?
//
// An [Index] is an index on a device: postings in tiles of 16,384 documents, with one byte a
// posting for each model that bounds its score. [Index.Answer] answers one request, [Batch] many.
// The kernels lie in kernels/*.cu; files named paper_*.go run the algorithms of a thesis (R.
// Gaioso, UFSCar 2019).
//
// The way of a batch: requests wait in a ring (ring.go), are cut into chunks, looked up by the
// cores (ask.go, words.go), written as a plan (places.go, known.go), launched (many.go), and turned
// into results (results.go). What the kernels for batches cannot answer goes to those for any query
// (general.go), and what those cannot to the cores (package eval).
//
// Invariants:
//   - Results equal those of package eval, to the bit.
//   - A cut that was guessed is proved by the result, or the query is answered again.
//   - The device is written by streams; the host reads pinned memory once its mark is there.
package device
