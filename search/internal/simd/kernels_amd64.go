//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package simd

import "github.com/collocate/collocate/internal/cpu"

var (
	// HasKernels reports whether the kernels may be called; otherwise callers run plain Go.
	// HasWideKernels does so for the kernels that gather or search for single numbers.
	HasKernels, HasWideKernels bool

	wide bool // with AVX-512; else with AVX2
)

func init() {
	cpu.Follow(func(l cpu.Level) {
		HasKernels, HasWideKernels, wide = l != cpu.None, l != cpu.None, l == cpu.AVX512
	})
}

// The kernels. Each jumps to the version for the selected level, see dispatch_amd64.s.

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
func locate(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)

//go:noescape
func Merge(docs *uint32, scores *float32, n int, found *Candidate, m int)

//go:noescape
func Pick(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32,
	outScores *float32) int

//go:noescape
func SiftHalves(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32,
	outDocs, outTFs *uint32) int

//go:noescape
func FindPlaces(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8, out *uint64)

//go:noescape
func keepBits(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int

//go:noescape
func SiftLevels(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32,
	outSums *float32) int

//go:noescape
func Between(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs, outTFs *uint32,
	outSums *float32) int

// hasAVX512 reports whether the AVX-512-only kernels may be called.
func hasAVX512() bool { return wide }

// Their versions.

//go:noescape
func occupiedAVX512(set *uint64, n int, out *uint64)

//go:noescape
func keepStartsAVX512(starts, ends, places, until *uint32, n int, place uint32) int

//go:noescape
func xsAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func scoresAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func filterAVX512(docs *uint32, scores *float32, n int, need float32, out *Candidate) int

//go:noescape
func scanAVX512(sums *float32, n int, base uint32, need float32, out *Candidate) int

//go:noescape
func keepAVX512(found *Candidate, n int, need float32) int

//go:noescape
func locateAVX512(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)

//go:noescape
func mergeAVX512(docs *uint32, scores *float32, n int, found *Candidate, m int)

//go:noescape
func pickAVX512(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32,
	outScores *float32) int

//go:noescape
func siftHalvesAVX512(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32,
	outDocs, outTFs *uint32) int

//go:noescape
func findPlacesAVX512(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8,
	out *uint64)

//go:noescape
func keepBitsAVX512(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int

//go:noescape
func siftLevelsAVX512(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32,
	outSums *float32) int

//go:noescape
func betweenAVX512(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs,
	outTFs *uint32, outSums *float32) int

//go:noescape
func xsAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func scoresAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, out *float32)

//go:noescape
func filterAVX2(docs *uint32, scores *float32, n int, need float32, out *Candidate) int

//go:noescape
func scanAVX2(sums *float32, n int, base uint32, need float32, out *Candidate) int

//go:noescape
func keepAVX2(found *Candidate, n int, need float32) int

//go:noescape
func locateAVX2(block, docs *uint32, n int, last uint32, at, places *uint32) (found, used int)

//go:noescape
func mergeAVX2(docs *uint32, scores *float32, n int, found *Candidate, m int)

//go:noescape
func pickAVX2(docs, tfs, lengths *uint32, n int, m *Kernel, need, limit float32, outDocs *uint32,
	outScores *float32) int

//go:noescape
func siftHalvesAVX2(docs, tfs *uint32, halves *uint8, n int, m *Kernel, k *float32, limit float32,
	outDocs, outTFs *uint32) int

//go:noescape
func findPlacesAVX2(maps **uint8, units *[NumLevels]int8, lists, from, n int, need int8,
	out *uint64)

//go:noescape
func keepBitsAVX2(docs, at *uint32, n int, bits *uint64, shift int, outDocs, outAt *uint32) int

//go:noescape
func siftLevelsAVX2(docs, tfs *uint32, n int, s *LevelSieve, outDocs, outTFs *uint32,
	outSums *float32) int

//go:noescape
func betweenAVX2(docs, tfs *uint32, sums *float32, n int, low, high float32, outDocs,
	outTFs *uint32, outSums *float32) int
