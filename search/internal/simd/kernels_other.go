//go:build (!amd64 && !arm64) || purego

package simd

// Without kernels callers run plain Go, so that these are never called.

const (
	HasKernels     = false
	HasWideKernels = false
)

func Xs(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32) {}

func Scores(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32) {}

func Filter(docs *uint32, scores *float32, n int, need float32, out *Candidate) int { return 0 }

func Scan(sums *float32, n int, base uint32, need float32, out *Candidate) int { return 0 }

func Keep(found *Candidate, n int, need float32) int { return 0 }

func Pick(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32,
	outScores *float32) int {
	return 0
}

func FindPlaces(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64) {
}

func Between(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32,
	outSums *float32) int {
	return 0
}
