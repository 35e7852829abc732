package index

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
)

// The kernel that collects the postings of a block stores the same as plain Go, and detects the
// same invalid postings.
func TestTakeKernelsEqualPlainGo(t *testing.T) { cputest.Levels(t, testTaking) }

func testTaking(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	for range 3_000 {
		n := takeStep * (1 + rng.IntN(BlockSize/takeStep))
		at := rng.IntN(BlockSize - n + 1)
		docs, tfs := make([]uint32, n), make([]uint32, n)
		next := rng.Uint32N(2)
		doc := next
		for i := range docs {
			doc += rng.Uint32N(1 << rng.IntN(20))
			docs[i], tfs[i] = doc, 1+rng.Uint32N(2)
			doc++
		}
		switch rng.IntN(4) {
		case 0:
			docs[rng.IntN(n)] = rng.Uint32() // not ascending, or too large
		case 1:
			tfs[rng.IntN(n)] = rng.Uint32N(2) * rng.Uint32()
		}
		var got, want waiting
		wrong, all := takeSteps(docs, tfs, next, &got, at)
		wantWrong, wantAll := plainTake(docs, tfs, next, &want, at)
		if got != want || wrong != wantWrong || all != wantAll {
			t.Fatalf("%d postings at %d, next %d: wrong %x, all %x, want %x, %x\n got %v\nwant %v", n, at,
				next, wrong, all, wantWrong, wantAll, got, want)
		}
	}
}

// The bit-sliced counters give the number of values above each width modulo 8, and whether there
// are at least 8, as counting them one by one does.
func TestWidthCounts(t *testing.T) { cputest.Levels(t, testCountingWidths) }

func testCountingWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 84))
	for range 3_000 {
		var v [BlockSize]uint32
		widest, often := rng.IntN(33), rng.IntN(BlockSize)
		for i := range v {
			if rng.IntN(BlockSize) <= often {
				v[i] = uint32(rng.Uint64() & (1<<widest - 1) >> rng.IntN(8))
			}
		}
		for name, c := range map[string]widthCounts{
			"block":  countBlock(&v),
			"halves": countWidths(v[:BlockSize/2], v[BlockSize/2:]),
		} {
			for w := range 32 {
				want := uint64(0)
				for _, x := range v {
					if bits.Len32(x) > w {
						want++
					}
				}
				bit := func(x uint64) uint64 { return x >> w & 1 }
				got := bit(c.ones) | bit(c.twos)<<1 | bit(c.fours)<<2
				if got != want%8 || (bit(c.more) == 1) != (want >= 8) {
					t.Fatalf("%s: %d numbers modulo 8 are wider than %d bits, at least 8: %d; want %d", name,
						got, w, bit(c.more), want)
				}
			}
		}
	}
}
