package main

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// game answers the commands of the search benchmark game for Collocate.
type game struct {
	s       *search.Searcher
	filters map[int]*search.Within
}

func newGame(s *search.Searcher) *game { return &game{s, map[int]*search.Within{}} }

// answer executes "COMMAND SHARE QUERY".
func (g *game) answer(ctx context.Context, line string, w *bufio.Writer) error {
	parts := strings.SplitN(line, " ", 3)
	if len(parts) < 3 {
		return fmt.Errorf("%q: want a command, a share and a query", line)
	}
	share, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	within := g.filter(share)
	start := time.Now()
	r := search.Request{Model: search.BM25{Variant: bm25.Lucene}, Within: within}
	if query.OnlyWords(parts[2]) {
		r.Text = parts[2]
	} else if r.Query, err = query.Parse(parts[2], query.Options{}); err != nil {
		return err
	}
	found := &search.Result{}
	switch command := parts[0]; command {
	case "COUNT":
		found.Total, err = g.s.Count(ctx, r)
	case "FACET":
		r.K, r.Count, r.Facets = 10, true, []search.Facet{{Field: "group"}}
		found, err = g.s.Search(ctx, r)
	default:
		k, counts := strings.CutSuffix(strings.TrimPrefix(command, "TOP_"), "_COUNT")
		if r.K, err = strconv.Atoi(k); err != nil {
			return fmt.Errorf("%q: unknown command", command)
		}
		r.Count = counts
		found, err = g.s.Search(ctx, r)
	}
	nanos := time.Since(start).Nanoseconds()
	if err != nil {
		return err
	}
	w.Write(strconv.AppendInt(w.AvailableBuffer(), nanos, 10))
	if r.Count || parts[0] == "COUNT" {
		fmt.Fprintf(w, " =%d", found.Total)
	}
	if len(r.Facets) > 0 {
		for _, v := range found.Facets[0].Values {
			fmt.Fprintf(w, " %s:%d", v.Value, v.Docs)
		}
		found.Hits = nil
	}
	return writeHits(w, found.Hits)
}

// filter returns the set of documents whose hashed number is below a share, in 100,000ths.
func (g *game) filter(share int) *search.Within {
	if share == 0 {
		return nil
	}
	if known, ok := g.filters[share]; ok {
		return known
	}
	set := docset.New(g.s.Index().Docs())
	for doc := range g.s.Index().Docs() {
		if hash := uint64(uint32(doc) * 2654435761); int(hash*100000>>32) < share {
			set.Add(uint32(doc))
		}
	}
	g.filters[share] = &search.Within{Sets: []*docset.Set{set}}
	return g.filters[share]
}
