package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The lowest x of each block, of each 32 blocks, of the list and of its stored ranks are those that
// sorting the list finds.
func TestBestPostingsAreThoseOfTheSortedList(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range trials.Of(20) {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			var c Cursor
			if err := r.Open(term, &c); err != nil {
				t.Fatal(err)
			}
			if len(p.docs[i]) <= BlockSize {
				if c.LowX != nil {
					t.Fatalf("a list of %d postings has stored x %v, want none", len(p.docs[i]), c.LowX)
				}
				continue
			}
			var all []float32
			for j, d := range p.docs[i] {
				all = append(all, xOf(r.StoredModel(), p.tfs[i][j], p.lengths[d]))
			}
			for b := range c.Blocks() {
				from := b * BlockSize
				if want := slices.Min(all[from:min(from+BlockSize, len(all))]); c.LowX[b] != want {
					t.Fatalf("block %d: lowest x %v, want %v", b, c.LowX[b], want)
				}
			}
			for s := range c.Super {
				from := s * BlockSize * SuperBlocks
				if want := slices.Min(all[from:min(from+BlockSize*SuperBlocks, len(all))]); c.SuperX[s] != want {
					t.Fatalf("super block %d: lowest x %v, want %v", s, c.SuperX[s], want)
				}
			}
			slices.Sort(all)
			if c.BestX != all[0] {
				t.Fatalf("lowest x of the list %v, want %v", c.BestX, all[0])
			}
			for i, rank := range Ranks {
				want := float32(math.Inf(1))
				if rank <= len(all) {
					want = all[rank-1]
				}
				if c.Ranked[i] != want {
					t.Fatalf("rank %d of %d postings: x %v, want %v", rank, len(all), c.Ranked[i], want)
				}
			}
		}
	}
}

// BestOf gives the lowest x of a list, and pairs (N, X) that hold: at least N postings have an x of
// at most X. For short lists it knows every posting.
func TestBestOfCountsPostings(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 10 {
		p := randomIndex(rng, 9000, 12)
		r := p.write(t)
		for i, word := range p.words {
			term, err := r.Lookup([]byte(word))
			if err != nil {
				t.Fatal(err)
			}
			var c Cursor
			best, err := r.BestOf(term, &c)
			if err != nil {
				t.Fatal(err)
			}
			var all []float32
			for j, d := range p.docs[i] {
				all = append(all, xOf(r.StoredModel(), p.tfs[i][j], p.lengths[d]))
			}
			slices.Sort(all)
			if best.X != all[0] || len(best.Known) == 0 {
				t.Fatalf("lowest x %v, want %v; %d known pairs, want some", best.X, all[0], len(best.Known))
			}
			last := 0
			for _, k := range best.Known {
				if k.N <= last || k.N > len(all) || all[k.N-1] > k.X {
					t.Fatalf("known: %d of %d postings have x <= %v, after %d; but that posting has %v",
						k.N, len(all), k.X, last, all[min(k.N, len(all))-1])
				}
				last = k.N
			}
			if len(all) <= BlockSize && last != len(all) {
				t.Fatalf("%d of the %d postings of a short list are known, want all", last, len(all))
			}
		}
	}
}

func TestSelectLowest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 / trials.Every(5) {
		v := make([]uint32, rng.IntN(200))
		for i := range v {
			v[i] = rng.Uint32N(1 + rng.Uint32N(1<<uint(rng.IntN(20))))
		}
		n := rng.IntN(len(v) + 1)
		want := slices.Sorted(slices.Values(v))
		selectLowest(v, n)
		if got := slices.Sorted(slices.Values(v)); !slices.Equal(got, want) {
			t.Fatalf("selectLowest changed the numbers to %v, want %v in any order", got, want)
		}
		if got := slices.Sorted(slices.Values(v[:n])); !slices.Equal(got, want[:n]) {
			t.Fatalf("lowest %d: %v, want %v", n, got, want[:n])
		}
	}
}
