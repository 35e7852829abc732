package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// fieldedDocs returns n documents with fields, as lines of JSON.
func fieldedDocs(rng *rand.Rand, n int) (lines []string) {
	words := func(most int) string {
		var list []string
		for range rng.IntN(most) {
			f := rng.Float64()
			list = append(list, searchtest.TreeWords[int(f*f*float64(len(searchtest.TreeWords)))])
		}
		return strings.Join(list, " ")
	}
	for i := range n {
		doc := map[string]any{"id": fmt.Sprint("corpus.txt:", i), "title": words(4), "body": words(14)}
		if i == 0 || rng.IntN(4) > 0 {
			doc["lang"] = []string{"en", "de", "eo"}[rng.IntN(3)]
		}
		if i == 0 || rng.IntN(4) > 0 {
			doc["year"] = 2000 + rng.IntN(30)
		}
		line, _ := json.Marshal(doc)
		lines = append(lines, string(line))
	}
	return lines
}

// living returns a searcher for documents that were added segment by segment, some of which were
// deleted.
func living(t *testing.T, lines []string, at []int, gone []string) *search.Searcher {
	t.Helper()
	dir := searchtest.Scratch(t)
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text:weight=2.5", "body:text", "lang:keyword", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	o := segments.Options{Analyzer: a, StoreText: true, Positions: true}
	w, err := segments.NewWriter(filepath.Join(dir, "ix"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	path := filepath.Join(dir, "corpus.jsonl")
	for i := range at[1:] {
		part := strings.Join(lines[at[i]:at[i+1]], "\n") + "\n"
		if err := os.WriteFile(path, []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
		c := text.Corpus{Paths: []string{path}}
		if i == 0 {
			c.Options.Schema = schema
		}
		if _, _, err := w.AddCorpus(context.Background(), &c, index.BuildOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range gone {
		if n, err := w.Delete(id); n != 1 || err != nil {
			t.Fatal(id, n, err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Several segments answer structured queries and BM25F as one segment does: with the same hits to
// the bit, counts, explanations and snippets.
func TestTreesOverSegments(t *testing.T) {
	rounds, trees := 8, 120
	if testing.Short() {
		rounds, trees = 3, 60
	}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 27))
		lines := fieldedDocs(rng, 2+rng.IntN(300))
		at := []int{0, 1, len(lines)}
		for range rng.IntN(9) {
			at = append(at, rng.IntN(len(lines)))
		}
		slices.Sort(at)
		at = slices.Compact(at)
		var gone []string
		for i := range lines {
			// A segment without remaining documents would be dropped, with its statistics.
			if seed%3 > 0 && rng.IntN(5) == 0 && !slices.Contains(at, i) {
				gone = append(gone, fmt.Sprint("corpus.txt:", i))
			}
		}
		one, many := living(t, lines, []int{0, len(lines)}, gone), living(t, lines, at, gone)
		if n := len(many.Index().Segments()); n != len(at)-1 {
			t.Fatalf("%d segments, want %d", n, len(at)-1)
		}
		for i := range trees {
			r := search.Request{K: 1 + rng.IntN(12), From: rng.IntN(3) * rng.IntN(5)}
			if rng.IntN(5) == 0 {
				r.K = 1000
			}
			switch plain := fmt.Sprint("ab ", searchtest.TreeWords[rng.IntN(10)]); {
			case i%8 == 0:
				r.Text, r.Mode = plain, search.Mode(rng.IntN(2))
				r.Model = search.BM25F{Weights: []string{"", "title=3,body=1", "body=2"}[rng.IntN(3)]}
			case i%8 == 1:
				r.Text, r.Proximity = plain, &search.Proximity{Words: 0.85, Ordered: 0.1, Unordered: 0.05, Window: 8}
			case i%8 == 2:
				r.Text, r.Expand = plain, &search.Expand{}
			default:
				r.Query = searchtest.RandomTree(rng, 3, func() query.Node { return inField(rng) })
				r.Model = searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
				r.Count = rng.IntN(2) == 0
				if rng.IntN(4) == 0 {
					r.Facets = []search.Facet{{Field: "lang", N: 2}, {Field: "year", Step: "10"}}
				}
				if rng.IntN(4) == 0 {
					r.Sort = &search.Sort{Field: []string{"lang", "year"}[rng.IntN(2)], Descending: rng.IntN(2) == 0}
				}
			}
			compareSearchers(t, one, many, r)
		}
	}
}

// inField returns a random query of a field.
func inField(rng *rand.Rand) query.Node {
	switch rng.IntN(4) {
	case 0:
		part := searchtest.RandomTree(rng, 0, nil)
		for isDocuments(part) {
			part = searchtest.RandomTree(rng, 0, nil)
		}
		return query.Field{Name: "title", Part: part}
	case 1:
		return query.Field{Name: "body", Part: query.Term{Text: searchtest.TreeWords[rng.IntN(5)]}}
	case 2:
		lang := []string{"en", "eo", "fr"}[rng.IntN(3)]
		return query.Field{Name: "lang", Part: query.Term{Text: lang}}
	}
	from := 2000 + rng.IntN(30)
	to := from + rng.IntN(9)
	return query.Field{Name: "year", Part: query.Range{From: fmt.Sprint(from), To: fmt.Sprint(to)}}
}

func isDocuments(n query.Node) bool {
	switch n.(type) {
	case query.All, query.IDs:
		return true
	}
	return false
}

func compareSearchers(t *testing.T, one, many *search.Searcher, r search.Request) {
	t.Helper()
	ctx := context.Background()
	want, err := one.Search(ctx, r)
	if err != nil {
		t.Fatalf("%v: %v", r.Query, err)
	}
	got, err := many.Search(ctx, r)
	if err != nil {
		t.Fatalf("%v: %v", r.Query, err)
	}
	if !slices.Equal(got.Hits, want.Hits) || got.Total != want.Total || !reflect.DeepEqual(got.Facets, want.Facets) {
		t.Fatalf("%v %q, %v, k %d from %d, by %v, %d segments:\n got %v of %d, %v\nwant %v of %d, %v",
			r.Query, r.Text, r.Model, r.K, r.From, r.Sort, len(many.Index().Segments()),
			searchtest.Head(got.Hits), got.Total, got.Facets, searchtest.Head(want.Hits), want.Total, want.Facets)
	}
	if r.Count {
		all, err := many.Match(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for _, set := range all.Sets {
			n += int64(set.Count())
		}
		if n != want.Total {
			t.Fatalf("%v: %d documents match, want %d", r.Query, n, want.Total)
		}
		if n, err := many.Count(ctx, r); n != want.Total || err != nil {
			t.Fatalf("%v: %d documents counted, want %d, %v", r.Query, n, want.Total, err)
		}
	}
	var docs []uint32
	for _, h := range got.Hits[:min(5, len(got.Hits))] {
		docs = append(docs, h.Doc)
	}
	wanted, err1 := one.Explanations(ctx, r, docs)
	found, err2 := many.Explanations(ctx, r, docs)
	if err := cmp.Or(err1, err2); err != nil || !reflect.DeepEqual(found, wanted) {
		t.Fatalf("%v %q: explanations\n%v, want\n%v: %v", r.Query, r.Text, asJSON(found), asJSON(wanted), err)
	}
	for i, e := range found {
		if e.Score != got.Hits[i].Score {
			t.Fatalf("%v %q: explained score %v, want %v", r.Query, r.Text, e.Score, got.Hits[i].Score)
		}
	}
	wantedText, err1 := one.Snippets(ctx, r, docs, 20)
	foundText, err2 := many.Snippets(ctx, r, docs, 20)
	if err := cmp.Or(err1, err2); err != nil || !reflect.DeepEqual(foundText, wantedText) {
		t.Fatalf("%v %q: snippets\n%v, want\n%v: %v", r.Query, r.Text, asJSON(foundText), asJSON(wantedText), err)
	}
}

func asJSON(v any) string {
	b, _ := json.MarshalIndent(v, "", "  ")
	return string(b)
}
