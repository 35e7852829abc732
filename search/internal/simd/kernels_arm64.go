//go:build !purego

package simd

import "github.com/collocate/collocate/internal/cpu"

// HasKernels reports whether the kernels may be called; otherwise callers run plain Go.
var HasKernels bool

// HasWideKernels says the same of the kernels that gather or search for single numbers, for which
// four lanes are too few.
const HasWideKernels = false

func init() { cpu.Follow(func(l cpu.Level) { HasKernels = l != cpu.None }) }

//go:noescape
func Xs(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func Scores(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func Filter(docs *uint32, scores *float32, n int, need float32, out *Candidate) int

//go:noescape
func Scan(sums *float32, n int, base uint32, need float32, out *Candidate) int

//go:noescape
func Keep(found *Candidate, n int, need float32) int

//go:noescape
func Pick(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32,
	outScores *float32) int

//go:noescape
func FindPlaces(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)

//go:noescape
func Between(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32,
	outSums *float32) int
