package prim

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
)

func testReduce[K, V Word](t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 16<<20)
	count := gputest.Alloc[uint64](t, s, 1)
	rng := rand.New(rand.NewPCG(11, 12))
	sizes := []int{0, 1, 127, 128, 1023, 2303, 2304, 2305, 3072, 3073, 3839, 3840, 3841, 6144, 6145,
		3 * 3840, 30_000}
	if testing.Short() {
		sizes = []int{0, 1, 128, 2305, 6145}
	}
	for _, n := range sizes {
		for _, run := range []int{1, 3, 700, n + 1} { // mean length of a run
			keys, values := make([]K, n), random[V](rng, n, 1<<32)
			var wantKeys []K
			var wantSums, wantLengths, wantStarts []uint64
			key := K(0)
			for i := range keys {
				if rng.IntN(run) == 0 {
					key++
				}
				keys[i] = key
				if i == 0 || keys[i-1] != key {
					wantKeys = append(wantKeys, key)
					wantSums, wantLengths = append(wantSums, 0), append(wantLengths, 0)
					wantStarts = append(wantStarts, uint64(i))
				}
				wantSums[len(wantSums)-1] += uint64(values[i])
				wantLengths[len(wantLengths)-1]++
			}
			in, v, out, sums := gputest.Upload(t, s, keys), gputest.Upload(t, s, values),
				gputest.Alloc[K](t, s, n), gputest.Alloc[uint64](t, s, n+1)
			check := func(what string, want []uint64, err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				m := gputest.Download(t, s, count)[0]
				if int(m) != len(wantKeys) || !slices.Equal(gputest.Download(t, s, out)[:m], wantKeys) {
					t.Fatalf("%s of %d keys: wrong keys", what, n)
				}
				if got := gputest.Download(t, s, sums)[:len(want)]; !slices.Equal(got, want) {
					t.Fatalf("%s of %d keys: %v, want %v", what, n, got, want)
				}
			}
			check("sums", wantSums, ReduceByKey(s, tmp, in, v, out, sums, count))
			check("lengths", wantLengths, RunLengths(s, tmp, in, out, sums, count))
			check("starts", append(wantStarts, uint64(n)), Runs(s, tmp, in, out, sums, count))
		}
	}
}

func TestReduceByKey(t *testing.T) {
	t.Run("u32_u32", testReduce[uint32, uint32])
	t.Run("u32_u64", testReduce[uint32, uint64])
	t.Run("u64_u32", testReduce[uint64, uint32])
	t.Run("u64_u64", testReduce[uint64, uint64])
}

func TestBalance(t *testing.T) {
	_, s := gputest.Device(t)
	rng := rand.New(rand.NewPCG(13, 14))
	for _, segments := range []int{1, 2, 100, 5000} {
		for _, longest := range []int{1, 2, 50, 9000} {
			offsets := make([]uint64, segments)
			var want []uint32
			for i := range offsets {
				offsets[i] = uint64(len(want))
				// If some segments are long, most are empty.
				if size := rng.IntN(longest); longest < 100 || rng.IntN(100) == 0 {
					want = append(want, slices.Repeat([]uint32{uint32(i)}, size)...)
				}
			}
			out := gputest.Alloc[uint32](t, s, len(want))
			if err := Balance(s, gputest.Upload(t, s, offsets), len(want), out); err != nil {
				t.Fatal(err)
			}
			if got := gputest.Download(t, s, out); !slices.Equal(got, want) {
				t.Fatalf("%d segments, %d items: wrong segments", segments, len(want))
			}
		}
	}
}
