package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search/internal/ask"
)

// Boost raises scores by values of fields. Those of [ParseBoosts] are of value 0 to 1; your own are
// made as structs.
//
//	type Boost struct {
//		Name   string                       // what Explain shows
//		Fields []string                     // number, date and geo fields
//		Value  func(of []float64) float64   // from their values; NaN where there is none
//		Match  query.Node                   // instead of the three: 1 for what it matches, else 0
//		Most   float64                      // its largest value; 0 means that it is not known
//		Weight float64                      // 0 means 1
//		Add    bool                         // score + Weight*Value, not score * (1 + Weight*Value)
//	}
//
// A Value below 0, or that is not a number, counts as 0, and one above Most as Most: boosts only
// raise scores. To lower those of some documents, raise those of the others.
//
// Results are exact. If all boosts have a Most, as those with a Match do, documents are looked at
// in the order of the scores before, and the search ends when no other can be among the best.
// Otherwise every document that matches is looked at. A geo field gives two values, latitude and
// longitude; a date milliseconds since 1970.
//
// A query that has tags:news^2 at its top, where tags is no text field, adds 2 to the scores of
// documents with that value: it is a Boost whose Match is tags:news.
type Boost = ask.Boost

// ParseBoosts parses boosts with commas between them:
//
//	decay(FIELD, ORIGIN, SCALE)   SCALE/(SCALE + distance from ORIGIN): 1 there, 1/2 at SCALE
//	saturation(FIELD, PIVOT)      x/(x + PIVOT): 1/2 where the number x is PIVOT
//	log(FIELD, MOST)              log(1 + x)/log(1 + MOST), at most 1
//
// Each multiplies the score by 1 + its value; a weight before it, as in 0.5*log(views, 1000),
// weights the value. After a + it is added to the score instead: +2*decay(year, 2024, 5).
// Documents without a value are not raised. The origin of a date field is a date, and its scale has
// a unit: decay(published, 2024-05-01, 30d), of y, w, d, h, m and s. A geo field has latitude,
// longitude and a scale in km, m or mi: decay(place, 52.5, 13.4, 10km).
func ParseBoosts(s string) ([]Boost, error) { return ask.ParseBoosts(s) }

// BoostScore is the part of a boost in a document's score.
type BoostScore struct {
	Boost string  `json:"boost"` // its name
	Value float64 `json:"value"` // of this document, before it is weighted
	Score float32 `json:"score"` // of the document after this boost
}

// boosting computes the values of boosts.
type boosting struct {
	s       *Searcher
	boosts  []Boost
	columns [][][]*columns.Column // by segment, boost and field
	matches []*Within             // of boosts that have a Match
	values  []float64             // of the boosts
	of      []float64             // of the fields of one
}

// boosting prepares the boosts of a request.
func (s *Searcher) boosting(ctx context.Context, r *Request) (*boosting, error) {
	list, err := ask.BindBoosts(r.Boosts, s.index.Schema())
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	b := &boosting{s: s, boosts: list, values: make([]float64, len(list)), matches: make([]*Within, len(list)),
		columns: make([][][]*columns.Column, len(s.index.Segments()))}
	for i := range list {
		if list[i].Match == nil {
			continue
		}
		if b.matches[i], err = s.Match(ctx, Request{Query: list[i].Match}); err != nil {
			return nil, fmt.Errorf("boost %q: %w", list[i].Name, err)
		}
	}
	return b, nil
}

// open returns the columns of a segment.
func (b *boosting) open(segment int) ([][]*columns.Column, error) {
	if b.columns[segment] == nil {
		all := make([][]*columns.Column, len(b.boosts))
		for i := range b.boosts {
			for _, name := range b.boosts[i].Fields {
				c, err := b.s.index.Segments()[segment].Column(name)
				if err == nil && c != nil {
					err = c.Verify(nil)
				}
				if err != nil {
					return nil, fmt.Errorf("search: %w", err)
				}
				all[i] = append(all[i], c)
			}
		}
		b.columns[segment] = all
	}
	return b.columns[segment], nil
}

// value computes the values of the boosts for a document. They hold until the next call.
func (b *boosting) value(doc uint32) error {
	all := b.s.index.Segments()
	at, found := slices.BinarySearchFunc(all, doc, func(s segments.Segment, doc uint32) int {
		return cmp.Compare(s.Base, doc)
	})
	if !found {
		at--
	}
	open, err := b.open(at)
	if err != nil {
		return err
	}
	local := int(doc - all[at].Base)
	for i, list := range open {
		if w := b.matches[i]; w != nil {
			if b.values[i] = 0; w.Sets[at] != nil && w.Sets[at].Has(uint32(local)) {
				b.values[i] = 1
			}
			continue
		}
		b.of = b.of[:0]
		for _, c := range list {
			b.of = appendValue(b.of, c, local)
		}
		b.values[i] = b.boosts[i].Of(b.of)
	}
	return nil
}

// appendValue appends the value of a document's field: one number, or two for a point.
func appendValue(to []float64, c *columns.Column, doc int) []float64 {
	if c != nil && c.Field().Type == fields.Geo {
		if p, ok := c.Point(doc); ok {
			lat, lon := p.Degrees()
			return append(to, lat, lon)
		}
		return append(to, math.NaN(), math.NaN())
	}
	if c != nil {
		if v, ok := c.Number(doc); ok {
			return append(to, v)
		}
	}
	return append(to, math.NaN())
}

// raise applies the boosts to hits.
func (b *boosting) raise(hits []Hit) error {
	for i := range hits {
		if err := b.value(hits[i].Doc); err != nil {
			return err
		}
		hits[i].Score = ask.Boosted(hits[i].Score, b.boosts, b.values)
	}
	return nil
}

// The first round of searchBoosted takes this many times as many documents as are wanted, at least
// firstRound; each further round grows by the same factor.
const (
	roundFactor = 4
	firstRound  = 100
)

// searchBoosted answers a request with boosts. Documents come by their score without boosts, round
// by round, until no other can be among the best.
func (s *Searcher) searchBoosted(ctx context.Context, r Request) (*Result, error) {
	b, err := s.boosting(ctx, &r)
	if err != nil {
		return nil, err
	}
	plain, gpu := r, ask.WantsGPU(r.Parallel)
	plain.Boosts, plain.AtLeast = nil, 0
	if gpu {
		if plain.Parallel = nil; plain.Algorithm == Tiles {
			plain.Algorithm = Auto
		}
	}
	var found *Result
	if r.Sort != nil || r.K == NoHits {
		if found, err = s.Search(ctx, plain); err == nil {
			err = b.raise(found.Hits)
		}
	} else {
		found, err = s.bestBoosted(ctx, b, &r, plain)
	}
	if err == nil && gpu {
		found.Stats.GPU = &GPUStats{Fallback: "boosts are not supported on a GPU"}
	}
	return found, err
}

func (s *Searcher) bestBoosted(ctx context.Context, b *boosting, r *Request, plain Request) (*Result, error) {
	k, err := answersOf(r)
	if err != nil {
		return nil, err
	}
	want := k + r.From
	plain.From, plain.After, plain.K = 0, nil, min(MaxK, max(roundFactor*want, firstRound))
	var all *Result
	var best []Hit
	for {
		found, err := s.Search(ctx, plain)
		if err != nil {
			return nil, err
		}
		n := len(found.Hits)
		var last Hit
		if n > 0 {
			last = found.Hits[n-1]
		}
		if err := b.raise(found.Hits); err != nil {
			return nil, err
		}
		if all == nil {
			all = found
			plain.Count, plain.Facets = false, nil
		} else {
			all.Stats.Add(&found.Stats)
		}
		for _, h := range found.Hits {
			if r.After == nil || r.After.Precedes(h.Doc, h.Score) {
				best = append(best, h)
			}
		}
		slices.SortFunc(best, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
		best = best[:min(want, len(best))]
		if n < plain.K {
			break
		}
		if most, ok := ask.MostBoosted(last.Score, b.boosts); ok &&
			(len(best) == want && best[want-1].Score > most || most < r.AtLeast) {
			break
		}
		plain.After = &After{Score: last.Score, Doc: int64(last.Doc)}
		plain.K = min(MaxK, roundFactor*plain.K)
	}
	all.Hits = best[min(r.From, len(best)):]
	return all, nil
}

// explainBoosts adds the boosts of a request to explanations.
func (s *Searcher) explainBoosts(ctx context.Context, r *Request, docs []uint32, list []*Explanation) error {
	b, err := s.boosting(ctx, r)
	if err != nil {
		return err
	}
	for i, e := range list {
		if err := b.value(docs[i]); err != nil {
			return err
		}
		base := e.Score
		for n := range b.boosts {
			e.Score = ask.Boosted(base, b.boosts[:n+1], b.values)
			e.Boosts = append(e.Boosts, BoostScore{Boost: b.boosts[n].Name, Value: b.values[n], Score: e.Score})
		}
	}
	return nil
}
