package prim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
)

// sizes are lengths at and around the ends of tiles, warps and rows.
var sizes = []int{0, 1, 3, 4, 31, 127, 128, 129, 511, 513, 2047, 2048, 2049, 4095, 4096, 4097, 3071,
	3072, 3073, 5119, 5120, 5121, 8191, 8192, 8193, 9215, 9216, 9217, 10_239, 10_240, 10_241,
	3*10_240 + 5, 100_000}

func random[T Word](rng *rand.Rand, n int, below uint64) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.Uint64N(below))
	}
	return v
}

func testScan[In, Out Word](t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range sizes {
		host := random[In](rng, n, 1<<32)
		in, out := gputest.Upload(t, s, host), gputest.Alloc[Out](t, s, n)
		if err := InclusiveScan(s, tmp, in, out); err != nil {
			t.Fatal(err)
		}
		got := gputest.Download(t, s, out)
		var sum Out
		for i, v := range host {
			if sum += Out(v); got[i] != sum {
				t.Fatalf("n=%d: inclusive sum %d is %d, want %d", n, i, got[i], sum)
			}
		}
		if err := ExclusiveScan(s, tmp, in, out); err != nil {
			t.Fatal(err)
		}
		got = gputest.Download(t, s, out)
		sum = 0
		for i, v := range host {
			if got[i] != sum {
				t.Fatalf("n=%d: exclusive sum %d is %d, want %d", n, i, got[i], sum)
			}
			sum += Out(v)
		}
	}
}

func TestScan(t *testing.T) {
	t.Run("u32", testScan[uint32, uint32])
	t.Run("u32_u64", testScan[uint32, uint64])
	t.Run("u64", testScan[uint64, uint64])
}

// A scan may work in place, and slices may begin at any value: then 16 bytes are moved at once only
// where the address is aligned.
func TestScanInPlaceAndAnywhere(t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 1<<20)
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 20_000
	for _, from := range []int{0, 1, 2, 3, 4} {
		host := random[uint32](rng, n, 1<<32)
		want := slices.Clone(host)
		for i := from + 1; i < n; i++ {
			want[i] += want[i-1]
		}
		b := gputest.Upload(t, s, host)
		if err := InclusiveScan(s, tmp, b.Slice(from, n), b.Slice(from, n)); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, s, b); !slices.Equal(got, want) {
			t.Fatalf("scan in place from value %d: wrong sums", from)
		}
	}
}

// Selections, runs, histograms and top-k do not depend on where their input begins either.
func TestSlicesMayBeginAnywhere(t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 1<<22)
	rng := rand.New(rand.NewPCG(7, 8))
	const n, bins = 20_000, 50
	host := random[uint32](rng, n, bins)
	slices.Sort(host)
	values, out := gputest.Upload(t, s, host), gputest.Alloc[uint32](t, s, n)
	flags := make([]uint8, n)
	for i := range flags {
		flags[i] = uint8(rng.IntN(2))
	}
	f := gputest.Upload(t, s, flags)
	starts, count := gputest.Alloc[uint64](t, s, n+1), gputest.Alloc[uint64](t, s, 1)
	for _, from := range []int{1, 2, 3, 5} {
		part := values.Slice(from, n)
		var want []uint32
		wantBins := make([]uint32, bins)
		for i := from; i < n; i++ {
			if flags[i] != 0 {
				want = append(want, host[i])
			}
			wantBins[host[i]]++
		}
		if err := Select(s, tmp, part, f.Slice(from, n), out, count); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, s, out)[:gputest.Download(t, s, count)[0]]; !slices.Equal(got, want) {
			t.Fatalf("from value %d: wrong values selected", from)
		}
		if err := Runs(s, tmp, part, out, starts, count); err != nil {
			t.Fatal(err)
		}
		if got, want := gputest.Download(t, s, out)[:gputest.Download(t, s, count)[0]],
			slices.Compact(slices.Clone(host[from:])); !slices.Equal(got, want) {
			t.Fatalf("from value %d: wrong runs", from)
		}
		counts, outside := gputest.Upload(t, s, make([]uint32, bins)), gputest.Upload(t, s, []uint64{0})
		if err := Histogram(s, part, counts, outside); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, s, counts); !slices.Equal(got, wantBins) {
			t.Fatalf("from value %d: wrong histogram", from)
		}
	}
}

func testSelect[T Word](t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 1<<20)
	count := gputest.Alloc[uint64](t, s, 1)
	rng := rand.New(rand.NewPCG(3, 4))
	for i, n := range sizes {
		host := random[T](rng, n, 1<<32)
		flags := make([]uint8, n)
		var want []T
		var wantIndex []uint32
		for j := range flags {
			switch i % 3 { // all, none, or some
			case 0:
				flags[j] = uint8(1 << rng.IntN(8))
			case 1:
				flags[j] = uint8(rng.IntN(4)) &^ 1
			}
			if flags[j] != 0 {
				want = append(want, host[j])
				wantIndex = append(wantIndex, uint32(j))
			}
		}
		in, f, out, index := gputest.Upload(t, s, host), gputest.Upload(t, s, flags),
			gputest.Alloc[T](t, s, n), gputest.Alloc[uint32](t, s, n)
		if err := Select(s, tmp, in, f, out, count); err != nil {
			t.Fatal(err)
		}
		if k := int(gputest.Download(t, s, count)[0]); k != len(want) {
			t.Fatalf("n=%d: %d selected, want %d", n, k, len(want))
		}
		if got := gputest.Download(t, s, out)[:len(want)]; !slices.Equal(got, want) {
			t.Fatalf("n=%d: wrong values selected", n)
		}
		if err := SelectIndex(s, tmp, f, index, count); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, s, index)[:gputest.Download(t, s, count)[0]]; !slices.Equal(got, wantIndex) {
			t.Fatalf("n=%d: wrong indices selected", n)
		}
	}
}

// The inputs of these tests have far fewer than selectAhead tiles, so it is lowered. Blocks that
// count for later tiles and blocks that count for themselves must agree.
func TestSelect(t *testing.T) {
	defer func(ahead uint32) { selectAhead = ahead }(selectAhead)
	for _, ahead := range []uint32{selectAhead, 1, 3} {
		selectAhead = ahead
		t.Run(fmt.Sprint("u32, ahead ", ahead), testSelect[uint32])
		t.Run(fmt.Sprint("u64, ahead ", ahead), testSelect[uint64])
	}
}
