package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// outlook is what is known of the segments of an index before their lists are opened, from the best
// postings of the query's words in each: how good answers can be there, so that some segments need
// not be opened, and a score that k documents in all of them reach together.
type outlook struct {
	known  bool      // the model is the one of which segments store the best postings
	most   []float64 // no document of a segment has a higher score
	points []point
	terms  []model.BM25Scorer
	highX  []float32 // of each segment, see model.BM25Weigher
	order  []int     // segments, the most promising first
}

// point says that some postings more have an x of at most that.
type point struct {
	x     float32
	count int
}

// lookAhead finds the outlook of a request, and the floor.
func (s *Segments) lookAhead(r *ask.Request, n *run) error {
	o := &n.outlook
	o.known, n.floor = false, -1
	if r.Mode == ask.And && n.Missing() {
		return nil
	}
	o.most, o.highX = append(o.most[:0], make([]float64, len(s.Parts))...), o.highX[:0]
	o.terms = slices.Grow(o.terms[:0], len(n.Terms)) // stays where it is
	rank := n.k
	for i, e := range s.Parts {
		any, err := e.Weigher(r.Model)
		if err != nil {
			return err
		}
		w, ok := any.(*model.BM25Weigher)
		if !ok || !w.Stored {
			return nil
		}
		if i == 0 {
			for t := range n.Terms {
				o.terms = append(o.terms, w.BoundingScorer(n.Terms[t].AllDF(), n.Terms[t].Weight))
				if o.terms[t].L {
					return nil
				}
				n.Terms[t].Scored = &o.terms[t].Term
			}
		}
		for t := range n.Terms {
			best, err := n.Best(&s.lexicons, t)
			if err != nil {
				return err
			}
			if x := best[i].X; x < math.MaxFloat32 {
				o.most[i] += float64(o.terms[t].OfX(x * w.LowX))
			}
		}
		o.highX = append(o.highX, w.HighX)
		rank += e.outside(r)
	}
	o.known = true
	if n.stats.Algorithm == ask.Exhaustive || r.Mode == ask.And && len(n.Terms) > 1 {
		return nil
	}
	floor := float32(0)
	for t := range n.Terms {
		best, err := n.Best(&s.lexicons, t)
		if err != nil {
			return err
		}
		if x, ok := o.reached(best, rank); ok {
			floor = max(floor, o.terms[t].OfX(x))
		}
	}
	if floor > 0 {
		n.floor = below(floor) // documents that only equal it may win
	}
	return nil
}

// bestFirst is segments in the order in which they are searched: those that can have the best
// answers first, so that what they leave to beat spares others. If that is not known, it is the
// given order. Ten segments of eLife paragraphs take 2 to 3% less for ten answers of any word.
func (o *outlook) bestFirst(order []int) []int {
	if !o.known {
		return order
	}
	o.order = append(o.order[:0], order...)
	slices.SortStableFunc(o.order, func(a, b int) int { return cmp.Compare(o.most[b], o.most[a]) })
	return o.order
}

// reached is an x that at least the given number of postings of a word have, or a lower one.
func (o *outlook) reached(best []index.Best, rank int) (x float32, ok bool) {
	o.points = o.points[:0]
	for i := range best {
		b, high, before := &best[i], o.highX[i], 1
		if b.X == math.MaxFloat32 {
			continue
		}
		o.add(b.X*high, 1)
		for j, x := range b.Ranked {
			if x == math.MaxFloat32 {
				break
			}
			o.add(x*high, index.Ranks[j]-before)
			before = index.Ranks[j]
		}
	}
	for _, p := range o.points {
		if rank -= p.count; rank <= 0 {
			return p.x, true
		}
	}
	return 0, false
}

// add puts a point among the others, by rising x.
func (o *outlook) add(x float32, count int) {
	o.points = append(o.points, point{})
	i := len(o.points) - 1
	for ; i > 0 && o.points[i-1].x > x; i-- {
		o.points[i] = o.points[i-1]
	}
	o.points[i] = point{x, count}
}

// hopeless says that no document of a segment beats a score of the given number of words.
func (o *outlook) hopeless(segment int, score float32, words int) bool {
	return o.known && score >= 0 && o.most[segment] <= float64(score)*(1-marginOf(words))
}
