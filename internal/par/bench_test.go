package par

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// Each benchmark runs the obvious loop (or the library's sort) beside ours, so that one run on a
// busy machine gives the ratio.

const benchN = 1 << 23

func perItem(b *testing.B, fn func()) {
	b.SetBytes(0)
	for b.Loop() {
		fn()
	}
	b.ReportMetric(float64(b.N)*benchN/1e6/b.Elapsed().Seconds(), "Mitems/s")
}

var benchKeys = func() (k struct{ random, pairs []uint64 }) {
	rng := rand.New(rand.NewPCG(1, 2))
	k.random, k.pairs = make([]uint64, benchN), make([]uint64, benchN)
	zipf := rand.NewZipf(rng, 1.1, 3, 1<<20)
	for i := range k.random {
		k.random[i] = rng.Uint64()
		// term<<22 | document: the keys that package weigh sorts.
		k.pairs[i] = zipf.Uint64()<<22 | uint64(i)*(1<<22)/benchN
	}
	return k
}

func BenchmarkRadixSort(b *testing.B) {
	src := benchKeys()
	keys, scratch := make([]uint64, benchN), make([]uint64, benchN)
	vals, valScratch := make([]uint32, benchN), make([]uint32, benchN)
	narrow, narrowScratch := make([]uint32, benchN), make([]uint32, benchN)
	b.Run("copy only", func(b *testing.B) { perItem(b, func() { copy(keys, src.random) }) })
	b.Run("slices.Sort", func(b *testing.B) {
		perItem(b, func() { copy(keys, src.random); slices.Sort(keys) })
	})
	for _, threads := range []int{1, 2} {
		name := func(s string) string { return fmt.Sprintf("%s/threads=%d", s, threads) }
		b.Run(name("random64"), func(b *testing.B) {
			perItem(b, func() { copy(keys, src.random); RadixSort(threads, keys, scratch, 0, 64) })
		})
		b.Run(name("random64+uint32"), func(b *testing.B) {
			perItem(b, func() {
				copy(keys, src.random)
				RadixSortPairs(threads, keys, vals, scratch, valScratch, 0, 64)
			})
		})
		b.Run(name("termdoc42"), func(b *testing.B) {
			perItem(b, func() { copy(keys, src.pairs); RadixSort(threads, keys, scratch, 0, 64) })
		})
		b.Run(name("term20 of termdoc42"), func(b *testing.B) {
			perItem(b, func() { copy(keys, src.pairs); RadixSort(threads, keys, scratch, 22, 42) })
		})
		b.Run(name("random32"), func(b *testing.B) {
			perItem(b, func() {
				for i, k := range src.random {
					narrow[i] = uint32(k)
				}
				RadixSort(threads, narrow, narrowScratch, 0, 32)
			})
		})
	}
}

func BenchmarkMergeSort(b *testing.B) {
	src := benchKeys()
	words, scratch := make([]string, benchN/8), make([]string, benchN/8)
	orig := make([]string, len(words))
	for i := range orig {
		orig[i] = strconv.FormatUint(src.random[i]%1e6, 36)
	}
	perWord := func(b *testing.B, fn func()) {
		perItem(b, func() { copy(words, orig); fn() })
		b.ReportMetric(float64(b.N)*float64(len(words))/1e6/b.Elapsed().Seconds(), "Mitems/s")
	}
	less := func(a, b string) bool { return a < b }
	b.Run("slices.Sort", func(b *testing.B) { perWord(b, func() { slices.Sort(words) }) })
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("ours/threads=%d", threads), func(b *testing.B) {
			perWord(b, func() { MergeSort(threads, words, scratch, less) })
		})
	}
}

func BenchmarkSteps(b *testing.B) {
	src := benchKeys()
	sorted := slices.Clone(src.pairs)
	for i := range sorted {
		sorted[i] >>= 12 // short runs of equal keys
	}
	slices.Sort(sorted)
	dst := make([]uint64, benchN)
	flags := make([]bool, benchN)
	for i, k := range src.random {
		flags[i] = k&1 == 1
	}
	starts := RunStarts[uint32](1, sorted)
	owner := make([]uint32, benchN)
	b.Run("scan/loop", func(b *testing.B) {
		perItem(b, func() {
			s := uint64(0)
			for i, v := range src.random {
				s += v
				dst[i] = s
			}
		})
	})
	b.Run("compact/loop", func(b *testing.B) {
		perItem(b, func() {
			out := dst[:0]
			for i, v := range src.random {
				if flags[i] {
					out = append(out, v)
				}
			}
		})
	})
	b.Run("runs/loop", func(b *testing.B) {
		perItem(b, func() {
			out := owner[:0]
			for i := range sorted {
				if i == 0 || sorted[i] != sorted[i-1] {
					out = append(out, uint32(i))
				}
			}
		})
	})
	for _, threads := range []int{1, 2} {
		name := func(s string) string { return fmt.Sprintf("%s/threads=%d", s, threads) }
		b.Run(name("scan"), func(b *testing.B) { perItem(b, func() { InclusiveScan(threads, dst, src.random) }) })
		b.Run(name("runs"), func(b *testing.B) { perItem(b, func() { RunStarts[uint32](threads, sorted) }) })
		b.Run(name("segments"), func(b *testing.B) {
			perItem(b, func() { Segments(threads, owner, starts[:len(starts)-1]) })
		})
	}
}
