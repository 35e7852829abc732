package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/text"
)

// Collapse says whether the passages of a document are hits of their own; see fields.Passages.
//
//	NoCollapse     each passage is a hit
//	BestPassage    a document has one hit, its best passage
//	SumOfPassages  ... whose score is the sum of those of all its passages that match
//
// Total then counts documents, and facets still count passages.
type Collapse = ask.Collapse

// The kinds of Collapse.
const (
	NoCollapse    = ask.NoCollapse
	BestPassage   = ask.BestPassage
	SumOfPassages = ask.SumOfPassages
)

// CheckCollapse returns an error if the passages of an index with a schema cannot be collapsed as a
// request says.
func CheckCollapse(schema *fields.Schema, r *Request) error {
	switch {
	case r.Collapse == NoCollapse:
	case schema == nil || schema.Passages == nil:
		return ask.Refuse("collapse %v: the index has no passages", r.Collapse)
	case r.After != nil:
		return ask.Refuse("collapse %v: it begins with the best document: use From instead of After", r.Collapse)
	case r.Collapse == SumOfPassages && r.Nearest != nil:
		return ask.Refuse("collapse %v: there are no sums beside a vector: collapse to the best", r.Collapse)
	case r.Collapse == SumOfPassages && r.Sort != nil:
		return ask.Refuse("collapse %v: a sort by fields has no sums: leave one of them out", r.Collapse)
	}
	return nil
}

// searchCollapsed answers a request whose hits are documents, of an index of passages.
func (s *Searcher) searchCollapsed(ctx context.Context, r Request) (*Result, error) {
	if err := CheckCollapse(s.index.Schema(), &r); err != nil {
		return nil, err
	}
	plain := r
	plain.Collapse, plain.AtLeast, plain.From = NoCollapse, 0, 0
	if r.Count || r.K == NoHits { // documents are counted as the values of a facet
		plain.Facets = append(slices.Clone(r.Facets), Facet{Field: fields.PassageParent, N: 1})
	}
	if plain.K != NoHits {
		var err error
		if r.K, err = answersOf(&r); err != nil {
			return nil, err
		}
	}
	c := collapsing{s: s, sums: r.Collapse == SumOfPassages, place: map[string]int{}}
	want := r.K + r.From
	if plain.K = min(MaxK, max(roundFactor*want, firstRound)); c.sums {
		plain.K = MaxK
	}
	if r.K == NoHits {
		plain.K = NoHits
	}
	for {
		found, err := s.Search(ctx, plain)
		if err != nil {
			return nil, err
		}
		n := len(found.Hits)
		var last After
		if n > 0 {
			last = After{Score: found.Hits[n-1].Score, Doc: int64(found.Hits[n-1].Doc)}
		}
		if n > 0 && r.Sort != nil {
			last.Key = found.Keys[n-1]
		}
		if err := c.add(ctx, found, plain.Facets != nil && len(plain.Facets) > len(r.Facets)); err != nil {
			return nil, err
		}
		if n < plain.K || plain.K == NoHits || !c.sums && len(c.all.Hits) >= want {
			break
		}
		if plain.After = &last; plain.Nearest != nil { // all over, which is faster than going on
			plain.After, c.place = nil, map[string]int{}
			c.all.Hits = c.all.Hits[:0]
		}
		plain.Count, plain.Facets = false, nil
		plain.K = min(MaxK, roundFactor*plain.K)
	}
	return c.result(r.From, want), nil
}

// collapsing gathers documents from their passages.
type collapsing struct {
	s     *Searcher
	sums  bool
	all   *Result
	place map[string]int // of a document in all.Hits
	parts [][]Hit        // its passages, for sums
}

// add adds the next passages, and in the first round what is beside the hits.
func (c *collapsing) add(ctx context.Context, found *Result, counted bool) error {
	hits, keys := found.Hits, found.Keys
	if c.all == nil {
		c.all = found
		if last := len(found.Facets) - 1; counted {
			found.Total = int64(found.Facets[last].Distinct)
			if found.Facets = found.Facets[:last]; last == 0 {
				found.Facets = nil
			}
		}
		found.Hits, found.Keys = []Hit{}, nil
	} else {
		c.all.Stats.Add(&found.Stats)
	}
	docs := make([]uint32, len(hits))
	for i, h := range hits {
		docs[i] = h.Doc
	}
	ids, err := c.s.IDs(docs)
	if err != nil {
		return err
	}
	for i, h := range hits {
		if i&1023 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		parent, _, ok := text.SplitPassageID(ids[i])
		if !ok {
			return ask.Refuse("collapse: %q is not the ID of a passage", ids[i])
		}
		at, known := c.place[parent]
		if !known {
			at = len(c.all.Hits)
			c.place[parent] = at
			c.all.Hits = append(c.all.Hits, h)
			if keys != nil {
				c.all.Keys = append(c.all.Keys, keys[i])
			}
			if c.sums {
				c.parts = append(c.parts, nil)
			}
		}
		if c.sums {
			c.parts[at] = append(c.parts[at], h)
		}
	}
	return nil
}

// result returns the documents from a rank up to another. Sums are in double precision, in the
// order of the passages in the index, so that they do not depend on how the passages were found.
func (c *collapsing) result(from, to int) *Result {
	hits := c.all.Hits
	for i, parts := range c.parts {
		slices.SortFunc(parts, func(a, b Hit) int { return cmp.Compare(a.Doc, b.Doc) })
		sum := 0.0
		for _, p := range parts {
			sum += float64(p.Score)
		}
		hits[i].Score = float32(sum)
	}
	if c.sums {
		slices.SortFunc(hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
	}
	to = max(0, min(to, len(hits)))
	from = max(0, min(from, to))
	c.all.Hits = hits[from:to]
	if c.all.Keys != nil {
		c.all.Keys = c.all.Keys[from:to]
	}
	return c.all
}
