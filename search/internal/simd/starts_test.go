package simd_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/search/internal/simd"
)

// KeepStarts keeps the same starts as a search for each of them, on all CPU levels.
func TestKeepStarts(t *testing.T) { cputest.Levels(t, testKeepStarts) }

func testKeepStarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rising := func(list []uint32, n int) []uint32 {
		for at := uint32(0); n > 0; n-- {
			at += 1 + rng.Uint32N(4)
			list = append(list, at)
		}
		return list
	}
	for range 3000 {
		var starts, ends, places, until, want, wantEnds []uint32
		place := rng.Uint32N(5)
		for range 1 + rng.IntN(10) {
			from, after := len(starts), len(places)
			starts = rising(starts, rng.IntN(1+rng.IntN(50)))
			places = rising(places, rng.IntN(1+rng.IntN(80)))
			ends, until = append(ends, uint32(len(starts))), append(until, uint32(len(places)))
			for _, s := range starts[from:] {
				if slices.Contains(places[after:], s+place) {
					want = append(want, s)
				}
			}
			wantEnds = append(wantEnds, uint32(len(want)))
		}
		plain, plainEnds := slices.Clone(starts), slices.Clone(ends)
		n := simd.PlainKeepStarts(plain, plainEnds, places, until, place)
		if !slices.Equal(plain[:n], want) || !slices.Equal(plainEnds, wantEnds) {
			t.Fatalf("plain: %d until %d, want %d until %d", plain[:n], plainEnds, want, wantEnds)
		}
		n = simd.KeepStarts(starts, ends, places, until, place)
		if !slices.Equal(starts[:n], want) || !slices.Equal(ends, wantEnds) {
			t.Fatalf("%d until %d, want %d until %d", starts[:n], ends, want, wantEnds)
		}
	}
}
