package prim

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/par"
)

// Every primitive has a twin on CPU cores, in package par. These tests compare the two on random
// input.

// rig is one random case: a stream, and buffers that are freed at its end.
type rig struct {
	*rapid.T
	outer *testing.T
	s     *gpu.Stream
	tmp   *gpu.Arena
	frees []func() error
}

// property runs f on random cases, all on one device.
func property(t *testing.T, f func(r *rig)) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 4<<20)
	rapid.Check(t, func(rt *rapid.T) {
		r := &rig{T: rt, outer: t, s: s, tmp: tmp}
		defer func() {
			for _, free := range r.frees {
				r.must(free())
			}
		}()
		f(r)
	})
}

func (r *rig) must(err error) {
	if err != nil {
		r.Fatal(err)
	}
}

func alloc[T any](r *rig, n int) gpu.Buffer[T] {
	b, err := gpu.Alloc[T](r.s.Device(), n)
	r.must(err)
	r.frees = append(r.frees, b.Free)
	return b
}

func upload[T any](r *rig, values []T) gpu.Buffer[T] {
	b := alloc[T](r, len(values))
	r.must(b.Upload(r.s, values))
	return b
}

// first waits for the stream and returns the first n values.
func first[T any](r *rig, b gpu.Buffer[T], n int) []T {
	values := make([]T, n)
	r.must(b.Slice(0, n).Download(r.outer.Context(), r.s, values))
	return values
}

func equal[T comparable](r *rig, what string, got, want []T) {
	if !slices.Equal(got, want) {
		r.Fatalf("%s: %v on the GPU, %v on the CPU", what, got, want)
	}
}

// length draws a length: mostly a short one, sometimes that of a warp, a block or a tile.
func (r *rig) length() int {
	return rapid.OneOf(rapid.IntRange(0, 70),
		rapid.SampledFrom([]int{127, 128, 129, 256, 257, 513, 1025})).Draw(r.T, "length")
}

// drawWords draws n numbers below a random bound, so that there are few distinct ones or many.
func drawWords[T Word](r *rig, n int, what string) []T {
	most := rapid.SampledFrom([]uint64{1, 2, 5, 300, 1 << 31}).Draw(r.T, "bound of "+what)
	gen := rapid.Uint64Range(0, most-1)
	v := make([]T, n)
	for i := range v {
		v[i] = T(gen.Draw(r.T, what))
	}
	return v
}

// drawRuns is drawWords with each number repeated.
func drawRuns[T Word](r *rig, n int) []T {
	v := make([]T, 0, n)
	for len(v) < n {
		key := T(rapid.Uint64Range(0, 9).Draw(r.T, "key"))
		for range min(rapid.IntRange(1, 40).Draw(r.T, "times"), n-len(v)) {
			v = append(v, key)
		}
	}
	return v
}

func TestScansMatchPar(t *testing.T) {
	t.Run("u32", func(t *testing.T) { property(t, scansMatchPar[uint32, uint32]) })
	t.Run("u32_u64", func(t *testing.T) { property(t, scansMatchPar[uint32, uint64]) })
	t.Run("u64", func(t *testing.T) { property(t, scansMatchPar[uint64, uint64]) })
}

func scansMatchPar[In, Out Word](r *rig) {
	host := drawWords[In](r, r.length(), "value")
	n := len(host)
	wide, want := make([]Out, n), make([]Out, n)
	for i, v := range host {
		wide[i] = Out(v)
	}
	in, out := upload(r, host), alloc[Out](r, n)
	r.must(InclusiveScan(r.s, r.tmp, in, out))
	par.InclusiveScan(2, want, wide)
	equal(r, "inclusive sums", first(r, out, n), want)
	r.must(ExclusiveScan(r.s, r.tmp, in, out))
	par.ExclusiveScan(2, want, wide)
	equal(r, "exclusive sums", first(r, out, n), want)
}

func TestSelectMatchesPar(t *testing.T) {
	t.Run("u32", func(t *testing.T) { property(t, selectMatchesPar[uint32]) })
	t.Run("u64", func(t *testing.T) { property(t, selectMatchesPar[uint64]) })
}

func selectMatchesPar[T Word](r *rig) {
	host := drawWords[T](r, r.length(), "value")
	n := len(host)
	keep, flags := make([]bool, n), make([]uint8, n)
	for i := range flags {
		flags[i] = uint8(rapid.SampledFrom([]int{0, 0, 1, 128}).Draw(r.T, "flag"))
		keep[i] = flags[i] != 0
	}
	f, count := upload(r, flags), alloc[uint64](r, 1)
	out, index := alloc[T](r, n), alloc[uint32](r, n)
	r.must(Select(r.s, r.tmp, upload(r, host), f, out, count))
	places := par.Where[uint32](2, n, func(i int) bool { return keep[i] })
	want := make([]T, len(places))
	for i, at := range places {
		want[i] = host[at]
	}
	equal(r, "number of values", first(r, count, 1), []uint64{uint64(len(want))})
	equal(r, "values", first(r, out, len(want)), want)
	r.must(SelectIndex(r.s, r.tmp, f, index, count))
	equal(r, "number of places", first(r, count, 1), []uint64{uint64(len(want))})
	equal(r, "places", first(r, index, len(want)), places)
}

func TestSortsMatchPar(t *testing.T) {
	t.Run("u32", func(t *testing.T) { property(t, sortsMatchPar[uint32, uint64]) })
	t.Run("u64", func(t *testing.T) { property(t, sortsMatchPar[uint64, uint32]) })
}

func sortsMatchPar[K, V Word](r *rig) {
	keys := drawWords[K](r, r.length(), "key")
	n := len(keys)
	low := rapid.IntRange(0, 24).Draw(r.T, "lowest bit")
	high := low + rapid.IntRange(0, 8).Draw(r.T, "bits")
	values := make([]V, n)
	for i := range values {
		values[i] = V(i)
	}
	sorted, err := SortKeys(r.s, r.tmp, upload(r, keys), alloc[K](r, n), low, high)
	r.must(err)
	byPair, moved, err := SortPairs(r.s, r.tmp, upload(r, keys), alloc[K](r, n), upload(r, values),
		alloc[V](r, n), low, high)
	r.must(err)
	gotKeys, gotPairs, gotValues := first(r, sorted, n), first(r, byPair, n), first(r, moved, n)
	par.RadixSortPairs(2, keys, values, nil, nil, low, high)
	equal(r, "keys", gotKeys, keys)
	equal(r, "keys with values", gotPairs, keys)
	equal(r, "values", gotValues, values)
}

func TestRunsMatchPar(t *testing.T) {
	t.Run("u32", func(t *testing.T) { property(t, runsMatchPar[uint32, uint64]) })
	t.Run("u64", func(t *testing.T) { property(t, runsMatchPar[uint64, uint32]) })
}

func runsMatchPar[K, V Word](r *rig) {
	keys := drawRuns[K](r, r.length())
	n := len(keys)
	values := drawWords[V](r, n, "value")
	in, unique := upload(r, keys), alloc[K](r, n)
	sums, count := alloc[uint64](r, n+1), alloc[uint64](r, 1)

	starts := par.RunStarts[uint64](2, keys)
	wantKeys, lengths := par.CountRuns[uint64](2, keys)
	k := len(wantKeys)
	verify := func(what string, want []uint64) {
		equal(r, "number of "+what, first(r, count, 1), []uint64{uint64(k)})
		equal(r, what, first(r, sums, len(want)), want)
		equal(r, "keys of "+what, first(r, unique, k), wantKeys)
	}
	r.must(Runs(r.s, r.tmp, in, unique, sums, count))
	verify("starts", starts)
	r.must(RunLengths(r.s, r.tmp, in, unique, sums, count))
	verify("lengths", lengths)
	r.must(ReduceByKey(r.s, r.tmp, in, upload(r, values), unique, sums, count))
	totals := make([]uint64, k)
	for i := range totals {
		for _, v := range values[starts[i]:starts[i+1]] {
			totals[i] += uint64(v)
		}
	}
	verify("totals", totals)
}

func TestBalanceMatchesPar(t *testing.T) {
	property(t, func(r *rig) {
		lengths := drawWords[uint64](r, rapid.IntRange(1, 40).Draw(r.T, "segments"), "length")
		for i := range lengths {
			lengths[i] %= 30
		}
		offsets := make([]uint64, len(lengths))
		n := int(par.ExclusiveScan(2, offsets, lengths))
		out := alloc[uint32](r, n)
		r.must(Balance(r.s, upload(r, offsets), n, out))
		want, small := make([]uint32, n), make([]uint32, len(offsets))
		for i, o := range offsets {
			small[i] = uint32(o)
		}
		par.Segments(2, want, small)
		equal(r, "segments", first(r, out, n), want)
	})
}

// Histograms and hash tables count what sorting and counting runs does.
func TestCountsMatchPar(t *testing.T) {
	property(t, func(r *rig) {
		values := drawWords[uint32](r, r.length(), "value")
		const bins = 200
		out, outside := upload(r, make([]uint32, bins)), upload(r, []uint64{0})
		r.must(Histogram(r.s, upload(r, values), out, outside))
		keys := make([]uint64, len(values))
		for i, v := range values {
			keys[i] = uint64(v)
		}
		table, err := NewTable(r.s.Device(), 4096, len(keys)+1, rapid.Bool().Draw(r.T, "bucketed"))
		r.must(err)
		r.frees = append(r.frees, table.Free)
		r.must(errors.Join(table.Clear(r.s), table.Add(r.s, upload(r, keys), gpu.Buffer[uint32]{})))

		par.RadixSort(2, values, nil, 0, 32)
		unique, counts := par.CountRuns[uint32](2, values)
		want, left := make([]uint32, bins), uint64(0)
		for i, v := range unique {
			if v < bins {
				want[v] = counts[i]
			} else {
				left += uint64(counts[i])
			}
		}
		equal(r, "bins", first(r, out, bins), want)
		equal(r, "values outside", first(r, outside, 1), []uint64{left})

		over, _, err := table.Overflow(r.outer.Context(), r.s)
		r.must(err)
		if len(over) > 0 {
			r.Fatalf("%d additions overflowed, want none", len(over))
		}
		used, sums, count := alloc[uint64](r, 4096), alloc[uint64](r, 4096), alloc[uint64](r, 1)
		r.must(table.Entries(r.s, r.tmp, used, sums, count))
		n := len(unique)
		equal(r, "entries", first(r, count, 1), []uint64{uint64(n)})
		gotKeys, gotSums := first(r, used, n), first(r, sums, n)
		par.RadixSortPairs(2, gotKeys, gotSums, nil, nil, 0, 64)
		for i := range unique {
			if gotKeys[i] != uint64(unique[i]) || gotSums[i] != uint64(counts[i]) {
				r.Fatalf("entry %d is %d, %d times; want %d, %d times", i, gotKeys[i], gotSums[i], unique[i], counts[i])
			}
		}
	})
}

// The top k are the first k of a stable sort, and heaps keep the largest.
func TestTopKMatchesPar(t *testing.T) {
	property(t, func(r *rig) {
		raw := drawWords[uint64](r, max(1, r.length()), "score")
		n := len(raw)
		scores := make([]float32, n)
		for i, v := range raw {
			scores[i] = float32(v)/3 - 1
		}
		k := rapid.IntRange(0, n).Draw(r.T, "k")
		best, places := alloc[float32](r, k), alloc[uint32](r, k)
		r.must(TopK(r.s, r.tmp, upload(r, scores), k, best, places))
		order := make([]uint32, n)
		for i := range order {
			order[i] = uint32(i)
		}
		par.MergeSort(2, order, nil, func(i, j uint32) bool { return scores[i] > scores[j] })
		equal(r, "places", first(r, places, k), order[:k])
		for i, v := range first(r, best, k) {
			if v != scores[order[i]] {
				r.Fatalf("score %d is %v, want %v", i, v, scores[order[i]])
			}
		}

		heap, size := alloc[uint64](r, max(1, k)), alloc[uint32](r, 1)
		r.must(HeapTop(r.s, upload(r, raw), 1, max(1, min(k, heapLargest)), heap, size))
		got := first(r, heap, int(first(r, size, 1)[0]))
		par.RadixSort(2, got, nil, 0, 64)
		par.RadixSort(2, raw, nil, 0, 64)
		equal(r, "the heap", got, raw[n-len(got):])
	})
}

func TestStringsMatchPar(t *testing.T) {
	property(t, func(r *rig) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "prefix-long-1", "prefix-long-2"}),
			rapid.StringOfN(rapid.RuneFrom([]rune{'a', 'b', 0}), 0, 12, -1))
		var text []byte
		refs := make([]uint64, r.length())
		for i := range refs {
			w := word.Draw(r.T, "word")
			ref, err := StringRef(uint64(len(text)), len(w))
			r.must(err)
			refs[i], text = ref, append(text, w...)
		}
		in, heads := upload(r, refs), alloc[uint8](r, len(refs))
		r.must(SortStrings(r.s, r.tmp, upload(r, text), in, heads))
		value := func(ref uint64) []byte { return text[ref>>stringLenBits:][:ref&(1<<stringLenBits-1)] }
		par.MergeSort(2, refs, nil, func(a, b uint64) bool { return bytes.Compare(value(a), value(b)) < 0 })
		equal(r, "order", first(r, in, len(refs)), refs)
		news := make([]uint8, len(refs))
		for i := range news {
			if i == 0 || !bytes.Equal(value(refs[i-1]), value(refs[i])) {
				news[i] = 1
			}
		}
		equal(r, "first ones", first(r, heads, len(refs)), news)
	})
}
