//go:build !purego

package search

import "golang.org/x/sys/cpu"

// hasAVX512 says whether the kernels in kernels_amd64.s can be used. Their plain Go twins give the same bits: the
// same operations in the same order on each posting, never fused.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

//go:noescape
func xsAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, out *float32)

//go:noescape
func scoresAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, out *float32)

//go:noescape
func siftAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, limit float32, outDocs *uint32, outX *float32) int

//go:noescape
func filterAVX512(docs *uint32, scores *float32, n int, need float32, out *candidate) int

//go:noescape
func scanAVX512(sums *float32, n int, base uint32, need float32, out *candidate) int

//go:noescape
func keepAVX512(found *candidate, n int, need float32) int

//go:noescape
func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)

//go:noescape
func mergeAVX512(docs *uint32, scores *float32, n int, found *candidate, m int)

//go:noescape
func pickAVX512(docs, tfs, lengths *uint32, n int, m *kernelModel, need, limit float32, outDocs *uint32, outScores *float32) int

//go:noescape
func siftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *kernelModel, k *float32, limit float32, outDocs, outTFs *uint32) int

//go:noescape
func findPlacesAVX512(maps **uint8, units *[numLevels]int8, lists, from, n int, need int8, out *uint64)

//go:noescape
func keepPlacesAVX512(docs, at *uint32, n int, bits *uint64, outDocs, outAt *uint32) int

//go:noescape
func siftLevelsAVX512(docs, tfs *uint32, n int, s *levelSieve, outDocs, outTFs *uint32, outSums *float32) int

//go:noescape
func betweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int
