//go:build !amd64 || purego

package search

const hasAVX512 = false

func xsAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, out *float32) {}

func scoresAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, out *float32) {}

func siftAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, limit float32, outDocs *uint32, outX *float32) int {
	return 0
}

func filterAVX512(docs *uint32, scores *float32, n int, need float32, out *candidate) int { return 0 }

func scanAVX512(sums *float32, n int, base uint32, need float32, out *candidate) int { return 0 }

func keepAVX512(found *candidate, n int, need float32) int { return 0 }

func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int) {
	return 0, 0
}

func mergeAVX512(docs *uint32, scores *float32, n int, found *candidate, m int) {}

func pickAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, need, limit float32, outDocs *uint32, outScores *float32) int {
	return 0
}

func siftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *kernelModel, k *float32, limit float32, outDocs, outTFs *uint32) int {
	return 0
}

func findPlacesAVX512(maps **uint8, units *[numLevels]int8, lists, from, n int, need int8, out *uint64) {
}

func keepPlacesAVX512(docs, at *uint32, n int, bits *uint64, outDocs, outAt *uint32) int { return 0 }

func siftLevelsAVX512(docs, tfs *uint32, n int, s *levelSieve, outDocs, outTFs *uint32, outSums *float32) int {
	return 0
}

func betweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int {
	return 0
}
