package search

import (
	"context"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/feedback"
)

// expanded returns the request with the words that its expansion adds.
func (s *Searcher) expanded(ctx context.Context, r Request) (Request, error) {
	e := r.Expand.WithDefaults()
	if err := e.Check(); err != nil {
		return r, err
	}
	if r.Proximity != nil {
		return r, ask.Refuse("expansion and proximity: give only one of them")
	}
	if r.Query != nil {
		return r, ask.Refuse("expansion needs plain words, not operators: " +
			"remove the operators, or search for the query as text")
	}
	words, err := feedback.WordsOf(&r, s.analyzer)
	if err != nil || len(words) == 0 {
		r.Expand = nil
		return r, err
	}
	first := r
	first.Expand, first.Facets, first.Sort, first.Count, first.Trace = nil, nil, nil, false, false
	first.K, first.From, first.After = e.Docs, 0, nil
	found, err := s.Search(ctx, first)
	if err != nil {
		return r, err
	}
	docs, err := feedback.Bags(ctx, s.index, s.analyzer, found.Hits)
	if err != nil {
		return r, err
	}
	return feedback.WithWords(r, words, docs, feedback.Of{Reader: s.index}, e)
}

// searchExpanded answers a request with an expansion. Documents need not contain the added words,
// so the expanded query always runs in mode Or.
func (s *Searcher) searchExpanded(ctx context.Context, r Request) (*Result, error) {
	r, err := s.expanded(ctx, r)
	if err != nil {
		return nil, ask.Fault(err)
	}
	found, err := s.Search(ctx, r)
	if err == nil {
		found.Expanded = r.Words
	}
	return found, err
}
