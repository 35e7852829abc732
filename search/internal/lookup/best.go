package lookup

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
)

// Scales bounds the x of postings relative to the x that their segments store: it is between Low
// and High times the stored value. See model.BM25Weigher.
type Scales struct{ Low, High []float32 }

// Best has bounds on the best postings of a word in several segments, by their x: the lower the
// better.
type Best struct {
	Low    []float32 // lower bound on x in each segment; MaxFloat32 if it has no posting
	scales *Scales
	ranked [len(bestRanks)]float32 // upper bounds on x at bestRanks; MaxFloat32: unknown
}

// bestRanks are the ranks whose x is kept: each takes four bytes per word in the cache.
var bestRanks = [...]int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}

// Reached returns an x that at least rank postings do not exceed.
func (b *Best) Reached(rank int) (x float32, ok bool) {
	i, _ := slices.BinarySearch(bestRanks[:], rank)
	if i == len(bestRanks) || b.ranked[i] == math.MaxFloat32 {
		return 0, false
	}
	return b.ranked[i], true
}

// bestIn computes the Best of a word in several segments, or returns it from the cache.
//
// Postcondition: the bounds fit together (holds).
func (w *knownWord) bestIn(segments []*index.Reader, scales *Scales) (*Best, error) {
	if b := w.best.Load(); b != nil && b.scales == scales {
		return b, nil
	}
	b := &Best{Low: make([]float32, len(segments)), scales: scales}
	var all []index.AtMost // number of further postings with at most this x
	var c index.Cursor
	for i, r := range segments {
		own, err := r.BestOf(w.each[i], &c)
		if err != nil {
			return nil, err
		}
		if b.Low[i] = own.X; own.X < math.MaxFloat32 {
			b.Low[i] = own.X * scales.Low[i]
		}
		before := 0
		for _, k := range own.Known {
			all = append(all, index.AtMost{X: k.X * scales.High[i], N: k.N - before})
			before = k.N
		}
	}
	slices.SortFunc(all, func(a, b index.AtMost) int { return cmp.Compare(a.X, b.X) })
	n, at := 0, 0
	for i, rank := range bestRanks {
		for ; n < rank && at < len(all); at++ {
			n += all[at].N
		}
		if b.ranked[i] = math.MaxFloat32; n >= rank {
			b.ranked[i] = all[at-1].X
		}
	}
	if assert.On && !b.holds() {
		assert.Fail("the bounds of a word in segments contradict each other")
	}
	w.best.Store(b)
	return b, nil
}
