package words

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// A frontier relies on this: scores do not fall with the count, nor rise with the other word's
// frequency, even if spans together are longer than the corpus.
func TestScoresAreMonotonic(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(most float64) float64 { return math.Floor(math.Exp(rng.Float64() * math.Log(most))) }
	for by := range measures {
		for range 3000 / trials.Every(5) {
			c := Counts{F1: draw(1e5), F2: draw(1e5), Span: float64(2 * (1 + rng.IntN(10)))}
			c.N = max(c.F1+c.F2, draw(1e7))
			c.O = min(draw(1e4), c.Span*min(c.F1, c.F2))
			less := c
			less.O = max(1, math.Floor(c.O*rng.Float64()))
			less.F2 = min(c.N-c.F1, c.F2+draw(1e4)-1)
			a, b := by.Score(c, 1000), by.Score(less, 1000)
			if less.F2 >= c.F2 && b > a+1e-7*(1+math.Abs(a)) {
				t.Fatalf("%v: %+v scores %v, want at least the score of %+v, %v", by, c, a, less, b)
			}
		}
	}
}

func TestRangesOfFrequencies(t *testing.T) {
	before := -1
	for freq := uint64(1); freq < 5000; freq++ {
		of := rangeOf(freq)
		if of < before || least(of) > float64(freq) || freq < 16 && of == before {
			t.Fatalf("frequency %d is in range %d, which begins at %v; the frequency before is in %d",
				freq, of, least(of), before)
		}
		before = of
	}
	if of := rangeOf(math.MaxUint64); of != 64*steps-1 {
		t.Errorf("the highest frequency is in range %d, want %d", of, 64*steps-1)
	}
}

// A frontier never rules out one of the best cells, in whatever order cells come.
func TestFrontier(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for by := range measures {
		for range 4 {
			var (
				k    ranker
				far  frontier
				want []candidate
			)
			for i := range uint32(4000) {
				f2 := 16 + rng.Uint64N(300)
				c := Counts{O: float64(1 + rng.IntN(16)), F1: 3000, F2: float64(f2), Span: 10, N: 1e5}
				cell := candidate{0, i, c.O, by.Score(c, 9)}
				want = append(want, cell)
				if far.beyond(c.O, f2) || k.offer(cell, 200) {
					continue
				}
				far.refuse(c.O, f2, k.best[0].rank, func(freq float64) float64 {
					c.F2 = freq
					return by.Score(c, 9)
				})
			}
			for _, list := range [][]candidate{want, k.best} {
				slices.SortFunc(list, func(a, b candidate) int {
					return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.id2, b.id2))
				})
			}
			if !slices.Equal(k.best, want[:len(k.best)]) {
				t.Fatalf("%v: the best %d cells are not those of a sort", by, len(k.best))
			}
		}
	}
}

// The neighbours of a frequent word are the first of all scores, sorted, on any number of threads.
func TestNeighboursAgainstSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(rng, 1.1, 2, 6000)
	var lines strings.Builder
	for range 4000 {
		for range 12 {
			fmt.Fprintf(&lines, "w%d ", zipf.Uint64())
		}
		lines.WriteByte('\n')
	}
	for _, weighting := range []cooccur.Weighting{cooccur.Count, cooccur.Distance} {
		r := matrixOf(t, corpusOf(t, text.Lines, lines.String()),
			cooccur.Options{Window: 5, Weighting: weighting})
		for id := range 4 {
			cols, values, err := r.Row(id)
			if err != nil || id == 0 && len(cols) < 2*shortRow {
				t.Fatalf("row %d: %d cells, %v", id, len(cols), err)
			}
			for by := range measures {
				if by.Tests() && weighting != cooccur.Count {
					continue
				}
				for _, top := range []int{1, 25} {
					o := Options{By: []Measure{by}, Top: top, Threads: 1 + id%2}
					got, err := Neighbours(r, id, o)
					if err != nil {
						t.Fatal(err)
					}
					m, err := newMatrix(r, o)
					if err != nil {
						t.Fatal(err)
					}
					if got.Compared != len(cols) {
						t.Errorf("%d compared, want %d", got.Compared, len(cols))
					}
					want := make([]candidate, len(cols))
					for i, col := range cols {
						score := by.Score(m.counts(uint32(id), col, values[i]), len(cols))
						want[i] = candidate{uint32(id), col, values[i], score}
					}
					slices.SortFunc(want, func(a, b candidate) int {
						return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.id2, b.id2))
					})
					for i, a := range got.Pairs {
						if w := want[i]; a.ID2 != int(w.id2) || a.Scores[0] != w.rank && by != LRC {
							t.Fatalf("%v of word %d, place %d: %d with %v, want %d with %v", by, id, i,
								a.ID2, a.Scores[0], w.id2, w.rank)
						}
					}
				}
			}
		}
	}
}
