package simd_test

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/search/internal/simd"
)

// A place is occupied if one of its 16 documents is in the set, on all CPU levels.
func TestOccupied(t *testing.T) { cputest.Levels(t, testOccupied) }

func testOccupied(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 70 {
		set, out := make([]uint64, n), make([]uint64, (n+15)/16)
		for i := range out {
			out[i] = rng.Uint64() // must be overwritten
		}
		for range rng.IntN(4 * (n + 1)) {
			if n > 0 {
				set[rng.IntN(n)] |= 1 << rng.UintN(64)
			}
		}
		simd.Occupied(set, out)
		for p := range 64 * len(out) {
			want := p/4 < n && uint16(set[p/4]>>(p%4*16)) != 0
			if got := out[p/64]>>(p%64)&1 != 0; got != want {
				t.Fatalf("%d words: place %d is occupied: %v, want %v", n, p, got, want)
			}
		}
	}
}
