package eval

import (
	"math"
	"slices"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
)

// outlook bounds the scores of each segment before its lists are opened. The bounds follow from the
// best postings of the query's words in each segment, which the cache of words keeps. Segments that
// cannot win are not opened, and the others are searched in order of their bounds.
type outlook struct {
	known bool               // the bounds are known: the index stores best postings for the model
	most  []float64          // bound of the scores in each segment
	terms []model.BM25Scorer // of the query's words
	order []int              // segments in the order in which they are searched
}

// modelOfAll is what all segments know of a model.
type modelOfAll struct {
	m      model.Model
	first  *model.BM25Weigher // of the first segment
	scales *lookup.Scales     // nil: segments have not stored the best postings for this model
}

// modelFor finds what all segments know of a model, and remembers it.
func (s *Segments) modelFor(m model.Model) (*modelOfAll, error) {
	if last := s.last.Load(); last != nil && last.m == m {
		return last, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if all := s.models[m]; all != nil {
		s.last.Store(all)
		return all, nil
	}
	all, scales := &modelOfAll{m: m}, &lookup.Scales{}
	for i, e := range s.Parts {
		any, err := e.Weigher(m)
		if err != nil {
			return nil, err
		}
		w, ok := any.(*model.BM25Weigher)
		if !ok || !w.Stored {
			scales = nil
			break
		}
		if i == 0 {
			all.first = w
		}
		scales.Low, scales.High = append(scales.Low, w.LowX), append(scales.High, w.HighX)
	}
	all.scales = scales
	if len(s.models) >= mostModels {
		clear(s.models)
	}
	s.models[m] = all
	s.last.Store(all)
	return all, nil
}

// lookAhead computes the outlook of a request, and a first floor: the ranks of the best postings
// over all segments give a score that k documents reach.
func (s *Segments) lookAhead(r *ask.Request, n *run) error {
	o := &n.outlook
	o.known, n.floor, o.order = false, -1, append(o.order[:0], s.order...)
	if r.Mode == ask.And && n.Missing() {
		return nil
	}
	all, err := s.modelFor(r.Model)
	if err != nil || all.scales == nil {
		return err
	}
	o.terms = slices.Grow(o.terms[:0], len(n.Terms)) // stays where it is
	for t := range n.Terms {
		o.terms = append(o.terms, all.first.BoundingScorer(n.Terms[t].AllDF(), n.Terms[t].Weight))
		if o.terms[t].L {
			return nil
		}
		n.Terms[t].Scored = &o.terms[t].Term
	}
	best, err := n.Best(&s.lexicons, all.scales)
	if err != nil {
		return err
	}
	o.most = append(o.most[:0], make([]float64, len(s.Parts))...)
	for t, b := range best {
		for i, x := range b.Low {
			if x < math.MaxFloat32 {
				o.most[i] += float64(o.terms[t].OfX(x))
			}
		}
	}
	o.known = true
	o.bestFirst()
	if n.stats.Algorithm == ask.Exhaustive || r.Mode == ask.And && len(n.Terms) > 1 {
		return nil
	}
	rank, floor := n.k, float32(0)
	for _, e := range s.Parts {
		rank += e.outside(r)
	}
	for t, b := range best {
		if x, ok := b.Reached(rank); ok {
			floor = max(floor, o.terms[t].OfX(x))
		}
	}
	if floor > 0 {
		n.floor = below(floor) // documents that only equal it may win
	}
	return nil
}

// bestFirst orders the segments by falling bound, so that the threshold soon is high enough to skip
// others. Ten segments of eLife paragraphs take 2 to 3% less for ten answers of any word.
func (o *outlook) bestFirst() {
	for i := 1; i < len(o.order); i++ {
		at, j := o.order[i], i
		for ; j > 0 && o.most[o.order[j-1]] < o.most[at]; j-- {
			o.order[j] = o.order[j-1]
		}
		o.order[j] = at
	}
}

// hopeless reports whether no document of a segment can beat a score, in a query of the given
// number of words.
func (o *outlook) hopeless(segment int, score float32, words int) bool {
	return o.known && score >= 0 && o.most[segment] <= float64(score)*(1-marginOf(words))
}
