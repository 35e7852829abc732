//go:build !amd64 || purego

package simd

// Without these kernels callers run plain Go, so that these are never called.

func locate(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int) {
	return 0, 0
}

func Merge(docs *uint32, scores *float32, n int, found *Candidate, m int) {}

func SiftHalves(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32,
	outDocs, outTFs *uint32) int {
	return 0
}

func keepBits(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int {
	return 0
}

func SiftLevels(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32,
	outSums *float32) int {
	return 0
}

func hasAVX512() bool { return false }

func occupiedAVX512(set *uint64, n int, out *uint64) {}

func keepStartsAVX512(starts, ends, places, until *uint32, n int, place uint32) int { return 0 }
