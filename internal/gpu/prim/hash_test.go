package prim

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

func TestHistogram(t *testing.T) {
	_, s := gputest.Device(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, bins := range []int{1, 100, 8192, 8193, 50_000} {
		for _, n := range []int{0, 1, 31, 1000, 70_001} {
			host := make([]uint32, n)
			want := make([]uint32, bins)
			var wantOutside uint64
			for i := range host {
				switch rng.IntN(4) {
				case 0:
					host[i] = uint32(rng.IntN(bins))
				case 1:
					host[i] = uint32(bins) + uint32(rng.IntN(2)) // not a bin
				default:
					host[i] = uint32(i / 64 % bins) // runs
				}
				if int(host[i]) < bins {
					want[host[i]]++
				} else {
					wantOutside++
				}
			}
			values, out, outside := gputest.Upload(t, s, host),
				gputest.Upload(t, s, make([]uint32, bins)), gputest.Upload(t, s, []uint64{0})
			if err := Histogram(s, values, out, outside); err != nil {
				t.Fatal(err)
			}
			for i, c := range gputest.Download(t, s, out) {
				if c != want[i] {
					t.Fatalf("%d values, %d bins: bin %d has %d, want %d", n, bins, i, c, want[i])
				}
			}
			if got := gputest.Download(t, s, outside)[0]; got != wantOutside {
				t.Fatalf("%d values, %d bins: %d outside, want %d", n, bins, got, wantOutside)
			}
		}
	}
}

// TestTable adds skewed keys to tables from nearly empty to far too small. The table and its
// overflow list must hold what was added.
func TestTable(t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 8<<20)
	rng := rand.New(rand.NewPCG(9, 10))
	for _, bucketed := range []bool{false, true} {
		for _, slots := range []int{4, 64, 1024, 1 << 16} {
			const n = 20_000
			table, err := NewTable(dev, slots, n, bucketed)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.Clear(s); err != nil {
				t.Fatal(err)
			}
			want := map[uint64]uint64{}
			for round := range 2 {
				keys, adds := make([]uint64, n), make([]uint32, n)
				for i := range keys {
					keys[i] = uint64(rng.IntN(1+rng.IntN(1+rng.IntN(900)))) << 20
					adds[i] = 1
					if round == 1 {
						adds[i] = uint32(1) << rng.IntN(32)
					}
					want[keys[i]] += uint64(adds[i])
				}
				var with gpu.Buffer[uint32]
				if round == 1 {
					with = gputest.Upload(t, s, adds)
				}
				in := gputest.Upload(t, s, keys)
				if err := table.Add(s, in, with); err != nil {
					t.Fatal(err)
				}
				if err := table.Add(s, in.Slice(0, 1), with); err == nil {
					t.Fatal("more additions than the overflow list can hold were accepted")
				}
				overKeys, overAdds, err := table.Overflow(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				if slots >= 1024 && len(overKeys) > 0 {
					t.Errorf("%d slots: %d additions overflowed, want none", slots, len(overKeys))
				}
				for i, k := range overKeys {
					want[k] -= overAdds[i]
				}
			}
			outKeys, outSums, count := gputest.Alloc[uint64](t, s, slots),
				gputest.Alloc[uint64](t, s, slots), gputest.Alloc[uint64](t, s, 1)
			if err := table.Entries(s, tmp, outKeys, outSums, count); err != nil {
				t.Fatal(err)
			}
			m := gputest.Download(t, s, count)[0]
			keys, sums := gputest.Download(t, s, outKeys)[:m], gputest.Download(t, s, outSums)[:m]
			for i, k := range keys {
				if want[k] != sums[i] {
					t.Errorf("%d slots: key %d has sum %d, want %d", slots, k, sums[i], want[k])
				}
				delete(want, k)
			}
			for k, sum := range want {
				if sum != 0 {
					t.Errorf("%d slots: key %d with sum %d is lost", slots, k, sum)
				}
			}
			if err := table.Free(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
