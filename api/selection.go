package api

import (
	"context"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// Selection limits a question about text to some documents of an index.
type Selection struct {
	Filter string `ask:"filter" help:"only the documents of an index that match this query; all of its parts must match, unless it says OR"`
}

// of returns the documents, one set per segment of the index; nil means all.
func (s *Selection) of(ctx context.Context, e *Env) ([]*docset.Set, error) {
	if s.Filter == "" {
		return nil, nil
	}
	if e.Searcher == nil {
		return nil, wrongf("filter", "it needs an index, with stored text: only its documents can be searched")
	}
	filter, err := query.ParseFilter(s.Filter, query.Options{Fields: e.Searcher.Fields()})
	if err != nil {
		return nil, wrong("filter", err)
	}
	found, err := e.Searcher.Match(ctx, search.Request{Query: filter})
	if err != nil {
		return nil, wrong("filter", err)
	}
	return found.Sets, nil
}
