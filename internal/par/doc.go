// Package par has data-parallel primitives for CPU cores: scan, sort, compact, count, load
// balancing. The papers build their engines from them, and each has a twin in package
// internal/gpu/prim.
//
// Every primitive takes the number of threads first; 1 (or less) runs in the calling goroutine. The
// result never depends on that number. Slices are divided into one contiguous block per worker.
// Small inputs use fewer workers, because starting a goroutine costs as much as a few thousand
// items.
//
// Worked example: the words "b a b" of document 0 and "a b" of document 1, as
// keys term<<8|document, become term frequencies in two steps:
//
//	keys := []uint32{'b'<<8, 'a'<<8, 'b'<<8, 'a'<<8 | 1, 'b'<<8 | 1}
//	par.RadixSort(threads, keys, nil, 0, 32)            // a0 a1 b0 b0 b1
//	pairs, tf := par.CountRuns[uint32](threads, keys)   // a0 a1 b0 b1; 1 1 2 1
//
// This package knows nothing of words, documents or points.
package par
