package par

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// Every property is checked at sizes around the edges of blocks and for several
// numbers of threads, against the obvious loop.

type input struct {
	n, threads int
	rng        *rand.Rand
}

func draw(t *rapid.T) input {
	n := rapid.OneOf(
		rapid.IntRange(0, 70),
		rapid.SampledFrom([]int{minBlock - 1, minBlock, 2 * minBlock, 2*minBlock + 1, 5*minBlock + 3}),
		rapid.IntRange(0, 6*minBlock),
	).Draw(t, "n")
	return input{
		n:       n,
		threads: rapid.IntRange(-1, 5).Draw(t, "threads"),
		rng:     rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)),
	}
}

// keys returns keys of a shape that determines the path a sort takes: few values, dense, random,
// clusters with common leading bits, or already sorted.
func (in input) keys(shape string) []uint64 {
	keys := make([]uint64, in.n)
	for i := range keys {
		switch shape {
		case "few":
			keys[i] = in.rng.Uint64N(5)
		case "dense":
			keys[i] = in.rng.Uint64N(uint64(in.n))
		case "random":
			keys[i] = in.rng.Uint64()
		case "clusters":
			keys[i] = in.rng.Uint64N(3)<<60 | in.rng.Uint64()>>(8+8*in.rng.UintN(6))
		case "sorted":
			keys[i] = uint64(i) << 20
		}
	}
	return keys
}

var shapes = []string{"few", "dense", "random", "clusters", "sorted"}

func TestScansAddUpWhatCameBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		src := make([]int32, in.n)
		for i := range src {
			src[i] = int32(in.rng.IntN(2001) - 1000)
		}
		inc, exc := make([]int32, in.n), make([]int32, in.n)
		var total int32
		for i, v := range src {
			exc[i] = total
			total += v
			inc[i] = total
		}
		got := slices.Clone(src)
		if s := InclusiveScan(in.threads, got, got); s != total || !slices.Equal(got, inc) {
			t.Fatalf("inclusive scan in place differs, total %d want %d", s, total)
		}
		if s := ExclusiveScan(in.threads, got, src); s != total || !slices.Equal(got, exc) {
			t.Fatalf("exclusive scan differs, total %d want %d", s, total)
		}
	})
}

func TestRadixSortIsTheStableSortByTheChosenBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		keys := in.keys(rapid.SampledFrom(shapes).Draw(t, "shape"))
		lo := rapid.IntRange(0, 64).Draw(t, "lo")
		hi := rapid.IntRange(lo, 64).Draw(t, "hi")
		if rapid.Bool().Draw(t, "all bits") {
			lo, hi = 0, 64
		}
		mask := bitRange[uint64](lo, hi)
		type rec struct {
			key uint64
			at  int
		}
		want := make([]rec, in.n)
		vals := make([]string, in.n)
		for i, k := range keys {
			want[i] = rec{k, i}
			vals[i] = strconv.Itoa(i)
		}
		slices.SortStableFunc(want, func(a, b rec) int { return cmp.Compare(a.key&mask, b.key&mask) })

		alone := slices.Clone(keys)
		RadixSort(in.threads, alone, nil, lo, hi)
		RadixSortPairs(in.threads, keys, vals, make([]uint64, in.n), make([]string, in.n), lo, hi)
		for i, w := range want {
			if alone[i] != w.key || keys[i] != w.key || vals[i] != strconv.Itoa(w.at) {
				t.Fatalf("place %d: got %#x alone, (%#x, %s) with value, want (%#x, %d)", i,
					alone[i], keys[i], vals[i], w.key, w.at)
			}
		}
	})
}

func TestRadixSortOfNarrowKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		keys, vals := make([]uint32, in.n), make([]uint32, in.n)
		for i := range keys {
			keys[i], vals[i] = in.rng.Uint32()>>in.rng.UintN(32), uint32(i)
		}
		orig, sorted := slices.Clone(keys), slices.Clone(keys)
		slices.Sort(sorted)
		RadixSortPairs(in.threads, keys, vals, nil, nil, 0, 32)
		if !slices.Equal(keys, sorted) {
			t.Fatal("the keys are not sorted")
		}
		for i := range keys {
			if orig[vals[i]] != keys[i] || i > 0 && keys[i] == keys[i-1] && vals[i] < vals[i-1] {
				t.Fatalf("position %d: the value is not that of its key, or out of order", i)
			}
		}
	})
}

// This is large enough that buckets of equal leading bits are shared among workers.
func TestRadixSortOfLongRuns(t *testing.T) {
	keys := make([]uint64, 1<<19)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range keys {
		// Three clusters far apart, and one key that differs in the top bit.
		keys[i] = rng.Uint64N(3)<<50 | rng.Uint64N(1<<14)
	}
	keys[9] |= 1 << 63
	keys[11] |= rng.Uint64() >> 1
	want := slices.Clone(keys)
	slices.Sort(want)
	for _, threads := range []int{1, 3} {
		got := slices.Clone(keys)
		RadixSort(threads, got, nil, 0, 64)
		if !slices.Equal(got, want) {
			t.Errorf("threads %d: the keys are not sorted", threads)
		}
	}
}

func TestMergeSortIsTheStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		keys := in.keys(rapid.SampledFrom(shapes).Draw(t, "shape"))
		want := make([]int32, in.n)
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(keys[a], keys[b]) })
		order := make([]int32, in.n)
		for i := range order {
			order[i] = int32(i)
		}
		MergeSort(in.threads, order, nil, func(i, j int32) bool { return keys[i] < keys[j] })
		if !slices.Equal(order, want) {
			t.Fatal("the order is not the stable order")
		}
		words := make([]string, in.n)
		for i, k := range keys {
			words[i] = strconv.FormatUint(k, 36)
		}
		sorted := slices.Sorted(slices.Values(words))
		MergeSort(in.threads, words, make([]string, in.n), func(a, b string) bool { return a < b })
		if !slices.Equal(words, sorted) {
			t.Fatal("words are not sorted")
		}
	})
}

func TestWhereListsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		share := rapid.SampledFrom([]float64{0, 0.01, 0.5, 1}).Draw(t, "share")
		flags, where := make([]bool, in.n), []uint32{}
		for i := range flags {
			if flags[i] = in.rng.Float64() < share; flags[i] {
				where = append(where, uint32(i))
			}
		}
		if got := Where[uint32](in.threads, in.n, func(i int) bool { return flags[i] }); !slices.Equal(got, where) {
			t.Fatal("Where differs from a loop")
		}
	})
}

func TestRunsAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		keys := in.keys(rapid.SampledFrom(shapes).Draw(t, "shape"))
		if rapid.Bool().Draw(t, "sort") {
			slices.Sort(keys)
		}
		var starts []uint32
		var unique []uint64
		var counts []uint32
		for i, k := range keys {
			if i == 0 || k != keys[i-1] {
				starts, unique, counts = append(starts, uint32(i)), append(unique, k), append(counts, 0)
			}
			counts[len(counts)-1]++
		}
		starts = append(starts, uint32(in.n))
		if got := RunStarts[uint32](in.threads, keys); !slices.Equal(got, starts) {
			t.Fatal("RunStarts differs from a loop")
		}
		u, c := CountRuns[uint32](in.threads, keys)
		if !slices.Equal(u, unique) || !slices.Equal(c, counts) {
			t.Fatal("CountRuns differs from a loop")
		}
	})
}

func TestSegmentsHandEachItemItsSegment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := draw(t)
		// Lengths as uneven as those of posting lists: many empty, one with nearly all items.
		var lengths, want []int32
		left := in.n
		for left > 0 || rapid.Bool().Draw(t, "empty at the end") {
			l := 0
			if left > 0 && in.rng.IntN(3) > 0 {
				l = 1 + in.rng.IntN(min(left, 1<<in.rng.UintN(16)))
			}
			for range l {
				want = append(want, int32(len(lengths)))
			}
			lengths = append(lengths, int32(l))
			left -= l
		}
		offsets, got := make([]int32, len(lengths)), make([]int32, in.n)
		ExclusiveScan(in.threads, offsets, lengths)
		Segments(in.threads, got, offsets)
		if !slices.Equal(got, want) {
			t.Fatal("Segments differs from a loop")
		}
	})
}

func TestForCoversEveryItemOnce(t *testing.T) {
	for _, n := range []int{0, 1, 99, 100, 101} {
		for _, threads := range []int{0, 1, 4, 200} {
			for _, grain := range []int{0, 1, 7, 1000} {
				seen := make([]atomic.Int32, n)
				For(threads, n, grain, func(worker, lo, hi int) {
					if worker < 0 || worker >= max(threads, 1) || hi-lo > max(grain, 1) {
						t.Errorf("fn(%d, %d, %d) was called with %d threads and grain %d", worker, lo, hi, threads, grain)
					}
					for i := lo; i < hi; i++ {
						seen[i].Add(1)
					}
				})
				for i := range seen {
					if c := seen[i].Load(); c != 1 {
						t.Fatalf("n=%d threads=%d grain=%d: item %d was visited %d times, want once", n, threads, grain, i, c)
					}
				}
			}
		}
	}
}

func ExampleSegments() {
	// Three words with 2, 0 and 3 postings: to which word does each of the five belong?
	offsets := make([]int32, 3)
	total := ExclusiveScan(1, offsets, []int32{2, 0, 3})
	owner := make([]int32, total)
	Segments(1, owner, offsets)
	fmt.Println(owner)
	// Output: [0 0 2 2 2]
}

func ExampleCountRuns() {
	keys := []uint32{'b' << 8, 'a' << 8, 'b' << 8, 'a'<<8 | 1, 'b'<<8 | 1}
	RadixSort(1, keys, nil, 0, 32)
	pairs, tf := CountRuns[uint32](1, keys)
	for i, p := range pairs {
		fmt.Printf("%c%d:%d ", p>>8, p&255, tf[i])
	}
	// Output: a0:1 a1:1 b0:2 b1:1
}
