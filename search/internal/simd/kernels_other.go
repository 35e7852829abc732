//go:build !amd64 || purego

package simd

const HasAVX512 = false

func XsAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32) {}

func ScoresAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32) {}

func SiftAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, limit float32, outDocs *uint32, outX *float32) int {
	return 0
}

func FilterAVX512(docs *uint32, scores *float32, n int, need float32, out *Candidate) int { return 0 }

func ScanAVX512(sums *float32, n int, base uint32, need float32, out *Candidate) int { return 0 }

func KeepAVX512(found *Candidate, n int, need float32) int { return 0 }

func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int) {
	return 0, 0
}

func MergeAVX512(docs *uint32, scores *float32, n int, found *Candidate, m int) {}

func PickAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32, outScores *float32) int {
	return 0
}

func SiftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32, outDocs, outTFs *uint32) int {
	return 0
}

func FindPlacesAVX512(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64) {
}

func KeepPlacesAVX512(docs, at *uint32, n int, bits *uint64, outDocs, outAt *uint32) int { return 0 }

func SiftLevelsAVX512(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32, outSums *float32) int {
	return 0
}

func BetweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int {
	return 0
}
