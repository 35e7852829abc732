//go:build !purego

package simd

import "golang.org/x/sys/cpu"

// HasAVX512 says whether the kernels in kernels_amd64.s can be used. Their plain Go twins give the
// same bits: the same operations in the same order on each posting, never fused.
var HasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2

//go:noescape
func XsAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func ScoresAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func SiftAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, limit float32, outDocs *uint32, outX *float32) int

//go:noescape
func FilterAVX512(docs *uint32, scores *float32, n int, need float32, out *Candidate) int

//go:noescape
func ScanAVX512(sums *float32, n int, base uint32, need float32, out *Candidate) int

//go:noescape
func KeepAVX512(found *Candidate, n int, need float32) int

//go:noescape
func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)

//go:noescape
func MergeAVX512(docs *uint32, scores *float32, n int, found *Candidate, m int)

//go:noescape
func PickAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32, outScores *float32) int

//go:noescape
func SiftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32, outDocs, outTFs *uint32) int

//go:noescape
func FindPlacesAVX512(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)

//go:noescape
func KeepPlacesAVX512(docs, at *uint32, n int, bits *uint64, outDocs, outAt *uint32) int

//go:noescape
func SiftLevelsAVX512(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32, outSums *float32) int

//go:noescape
func BetweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32, outSums *float32) int
