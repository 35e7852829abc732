package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The best postings are those that sorting all of them finds.
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
					t.Fatalf("a list of %d postings has stored best ones", len(p.docs[i]))
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
					t.Fatalf("block %d: %v, want %v", b, c.LowX[b], want)
				}
			}
			for s := range c.Super {
				from := s * BlockSize * SuperBlocks
				if want := slices.Min(all[from:min(from+BlockSize*SuperBlocks, len(all))]); c.SuperX[s] != want {
					t.Fatalf("blocks of run %d: %v, want %v", s, c.SuperX[s], want)
				}
			}
			slices.Sort(all)
			if c.BestX != all[0] {
				t.Fatalf("best %v, want %v", c.BestX, all[0])
			}
			for i, rank := range Ranks {
				want := float32(math.Inf(1))
				if rank <= len(all) {
					want = all[rank-1]
				}
				if c.Ranked[i] != want {
					t.Fatalf("rank %d of %d: %v, want %v", rank, len(all), c.Ranked[i], want)
				}
			}
		}
	}
}

// What is known of the best postings before a list is searched is true of short lists and long
// ones.
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
				t.Fatalf("best %v, want %v; %d known", best.X, all[0], len(best.Known))
			}
			last := 0
			for _, k := range best.Known {
				if k.N <= last || k.N > len(all) || all[k.N-1] > k.X {
					t.Fatalf("%d of %d postings have at most %v after %d, the last of them %v",
						k.N, len(all), k.X, last, all[min(k.N, len(all))-1])
				}
				last = k.N
			}
			if len(all) <= BlockSize && last != len(all) {
				t.Fatalf("%d of the %d postings of a short list are known", last, len(all))
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
			t.Fatal("not the same numbers")
		}
		if got := slices.Sorted(slices.Values(v[:n])); !slices.Equal(got, want[:n]) {
			t.Fatalf("lowest %d: %v, want %v", n, got, want[:n])
		}
	}
}
