package simd

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/cpu/cputest"
)

// Documents are kept as by plain Go, whether their bits lie close together or far apart, up to the
// last bit, with a bit for each document or for groups of 16, beside the input or in its place.
func TestKeepBits(t *testing.T) { cputest.Levels(t, testKeepBits) }

func testKeepBits(t *testing.T) {
	type room [index.BlockSize + KernelSlack]uint32
	rng := rand.New(rand.NewPCG(87, 88))
	for _, shift := range []int{0, 4} {
		for _, gap := range []uint32{1, 2, 30, 40, 70, 500, 600, 1000, 1100, 2000, 10_000} { // at most
			for n := range index.BlockSize + 1 {
				var docs, at, gotDocs, gotAt, wantDocs, wantAt room
				last := rng.Uint32N(3000)
				for i := range n {
					last += 1 + rng.Uint32N(gap)
					docs[i], at[i] = last, rng.Uint32()
				}
				bits := make([]uint64, last>>shift/64+1)
				for i := range bits {
					bits[i] = rng.Uint64()
				}
				want := PlainKeepBits(docs[:n], at[:], bits, shift, wantDocs[:], wantAt[:])
				got := KeepBits(docs[:n], at[:], bits, shift, gotDocs[:], gotAt[:])
				for _, place := range []string{"beside", "in place"} {
					if got != want || !slices.Equal(gotDocs[:got], wantDocs[:want]) ||
						!slices.Equal(gotAt[:got], wantAt[:want]) {
						t.Fatalf("shift %d, gaps up to %d, %s: of %v kept %v, want %v", shift, gap, place,
							docs[:n], gotDocs[:got], wantDocs[:want])
					}
					gotDocs, gotAt = docs, at
					got = KeepBits(gotDocs[:n], gotAt[:], bits, shift, gotDocs[:], gotAt[:])
				}
			}
		}
	}
}
