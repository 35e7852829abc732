package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// allPage is the number of hits that --all has in memory.
const allPage = 1 << 16

// checkAll refuses flags that have no meaning for all matching documents.
func (f *searchFlags) checkAll(words string) error {
	for _, name := range []string{"k", "from", "after", "count", "facet", "stats", "recall", "topics", "collapse", "rerank"} {
		if f.all && f.set(name) {
			return usagef("--%s and --all: give only one of them", name)
		}
	}
	if f.all && words == "" {
		return usagef("--all needs a query")
	}
	return nil
}

// searchAll prints all documents that match, page by page.
func (a *app) searchAll(ctx context.Context, s *search.Searcher, r search.Request, details api.Details,
	words string, f *searchFlags) error {
	if err := f.ask.Ask(api.AboutIndex(s), &r, words); err != nil {
		return asFlags(api.SearchQuestion, err)
	}
	r.K, details.Limit = allPage, allPage
	for {
		found, err := s.Search(ctx, r)
		if err != nil {
			return err
		}
		answer, err := api.Describe(ctx, s, r, found, details)
		if err != nil {
			return err
		}
		for _, note := range answer.Notes {
			a.note(note)
		}
		for i := range answer.Hits {
			if err := a.printRow(&answer.Hits[i], f); err != nil {
				return err
			}
		}
		n := len(found.Hits)
		if details.First += n; n < allPage {
			break
		}
		r.After = &search.After{Score: found.Hits[n-1].Score, Doc: int64(found.Hits[n-1].Doc)}
		if r.Sort != nil {
			r.After.Key = found.Keys[n-1]
		}
	}
	if details.First == 0 {
		a.summary("nothing found")
	}
	return nil
}

// printRow prints a hit; with --json on one line.
func (a *app) printRow(h *api.Hit, f *searchFlags) error {
	if !a.json {
		printHit(a.stdout, h, f)
		return nil
	}
	e := json.NewEncoder(a.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(h)
}

// printRows prints the hits that a server sends as lines.
func (a *app) printRows(address string, response *http.Response, f *searchFlags) error {
	a.useHighlights(f)
	in := bufio.NewReader(response.Body)
	for some := false; ; some = true {
		row, err := in.ReadString('\n')
		if strings.TrimSpace(row) == "" {
			if !some {
				a.summary("nothing found")
			}
			return nil
		}
		var hit struct {
			api.Hit
			Error string `json:"error"`
		}
		if err == nil {
			d := json.NewDecoder(strings.NewReader(row))
			d.UseNumber() // stored fields are shown as they were written
			err = d.Decode(&hit)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		if hit.Error != "" {
			return fmt.Errorf("%s: %s", address, hit.Error)
		}
		showFields(&hit.Hit, f)
		if err := a.printRow(&hit.Hit, f); err != nil {
			return err
		}
	}
}
