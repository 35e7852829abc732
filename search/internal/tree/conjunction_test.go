package tree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// Traversing the list of the rarest word gives the same answers as sets of documents, to the bit,
// for mandatory words and phrases with excluded and optional ones, for any model and k, with and
// without a filter.
func TestConjunction(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 28))
	const docs, words = 3000, 24
	var lines []string
	for range docs {
		var line []string
		for range 1 + rng.IntN(40) {
			f := rng.Float64()
			line = append(line, fmt.Sprint("w", int(f*f*words)))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	word := func() string { return fmt.Sprint("w", rng.IntN(words+1)) } // the last is in no document
	phrase := func() query.Node {
		p := []string{word(), word()}
		for rng.IntN(3) == 0 {
			p = append(p, p[rng.IntN(len(p))]) // repeat a word
		}
		return query.Phrase{Text: strings.Join(p, " "), Slop: rng.IntN(3) / 2}
	}
	led, found := 0, 0
	for round := range 600 / trials.Every(4) {
		q := query.Or{Parts: []query.Node{query.Must{Part: query.Term{Text: word()}}}}
		seen := map[string]bool{q.Parts[0].(query.Must).Part.String(): true}
		for range 1 + rng.IntN(3) {
			var part query.Node = query.Term{Text: word()}
			if rng.IntN(3) == 0 {
				part = phrase()
			}
			if seen[part.String()] {
				continue
			}
			seen[part.String()] = true
			switch rng.IntN(3) {
			case 0:
				part = query.Must{Part: part}
			case 1:
				part = query.Not{Part: part}
			}
			q.Parts = append(q.Parts, part)
		}
		r := ask.Request{Query: q, K: []int{1, 3, 10, 200, docs}[rng.IntN(5)], Count: rng.IntN(2) == 0,
			Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]}
		if rng.IntN(3) == 0 {
			set := docset.New(docs)
			for range docs / 3 {
				set.Add(uint32(rng.IntN(docs)))
			}
			r.Within = &ask.Within{Sets: []*docset.Set{set}}
		}
		p, err := prepare(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		if p.led(&r) {
			led++
		}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		found += len(got.Hits)
		hits, total := bySets(t, e, &r)
		if !slices.Equal(got.Hits, hits) {
			t.Fatalf("round %d: %v, %v, k %d:\n got %v\nwant %v", round, q, r.Model, r.K,
				searchtest.Head(got.Hits), searchtest.Head(hits))
		}
		if counted, err := Count(t.Context(), Of(e), &r); err != nil || counted != total {
			t.Fatalf("round %d: %v: counted %d, %v, want %d", round, q, counted, err, total)
		}
		if r.Count && got.Total != total {
			t.Fatalf("round %d: %v: %d answers, want %d", round, q, got.Total, total)
		}
	}
	if led < 400/trials.Every(4) || found < 10000/trials.Every(4) {
		t.Errorf("%d searches by conjunction, with %d answers; want %d and %d or more", led, found,
			400/trials.Every(4), 10000/trials.Every(4))
	}
}

// bySets finds the best documents and their number by the plain strategy: sets of documents, scored
// list by list.
func bySets(t *testing.T, e *eval.Engine, r *ask.Request) ([]ask.Hit, int64) {
	t.Helper()
	p, err := prepare(t.Context(), Of(e), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.scorers(r.Model); err != nil {
		t.Fatal(err)
	}
	x, live := p.parts[0], p.parts[0].live(r)
	set, err := x.match(p.roots[0], live)
	if err != nil {
		t.Fatal(err)
	}
	h := newRanking(r.K, 1)
	if err := x.rankLists(p.roots[0], live, h); err != nil {
		t.Fatal(err)
	}
	return h.result(ask.Stats{}).Hits, int64(set.Count())
}
