package tree

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// record is a document of the tests of facets and sorting.
type record struct {
	ID   string   `json:"id"`
	Body string   `json:"body"`
	Tags []string `json:"tags,omitempty"`
	Size *float64 `json:"size,omitempty"`
	Seen string   `json:"seen,omitempty"`
}

func randomRecords(r *rand.Rand, n int) []record {
	list := make([]record, n)
	for i := range list {
		d := record{ID: fmt.Sprint("d", i)}
		for range 1 + r.IntN(6) {
			d.Body += fmt.Sprintf("w%d ", r.IntN(5))
		}
		for range r.IntN(4) {
			if tag := fmt.Sprint("t ", r.IntN(6)); !slices.Contains(d.Tags, tag) {
				d.Tags = append(d.Tags, tag)
			}
		}
		if r.IntN(5) > 0 {
			size := math.Round(200*(r.Float64()-0.5)) / 10
			d.Size = &size
		}
		if r.IntN(5) > 0 {
			d.Seen = fmt.Sprintf("%d-%02d-%02d", 1998+r.IntN(4), 1+r.IntN(3), 1+r.IntN(2))
		}
		list[i] = d
	}
	return list
}

func buildRecords(t *testing.T, list []record) *eval.Engine {
	t.Helper()
	var b strings.Builder
	for i := range list {
		line, err := json.Marshal(&list[i])
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "docs.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"body:text", "tags:keyword", "size:number", "seen:date"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	o := index.BuildOptions{Analyzer: a, Positions: true}
	if err := index.Build(context.Background(), filepath.Join(dir, "ix"), &c, o); err != nil {
		t.Fatal(err)
	}
	r, err := index.Open(filepath.Join(dir, "ix"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// valuesOf returns the values of a document that a facet counts.
func valuesOf(d *record, f ask.Facet) (list []string) {
	switch f.Field {
	case "tags":
		return d.Tags
	case "size":
		switch {
		case d.Size == nil:
		case f.Step == "":
			list = append(list, number(*d.Size))
		default:
			low := math.Floor(*d.Size/5) * 5
			list = append(list, fmt.Sprintf("[%v TO %v}", low, low+5))
		}
	case "seen":
		if d.Seen != "" {
			list = append(list, d.Seen[:map[string]int{"": 4, "year": 4, "month": 7, "day": 10}[f.Step]])
		}
	}
	return list
}

// facetOf is the oracle of facets.
func facetOf(docs []record, f ask.Facet) ask.FacetCounts {
	counts := map[string]int{}
	for i := range docs {
		for _, v := range valuesOf(&docs[i], f) {
			counts[v]++
		}
	}
	found := ask.FacetCounts{Field: f.Field, Values: []ask.FacetValue{}, Distinct: len(counts)}
	for v, n := range counts {
		found.Values = append(found.Values, ask.FacetValue{Value: v, Docs: n})
	}
	start := func(v string) (n float64) {
		fmt.Sscanf(strings.Trim(v, "["), "%g", &n)
		return n
	}
	slices.SortFunc(found.Values, func(a, b ask.FacetValue) int {
		by := cmp.Compare(a.Value, b.Value)
		if f.Field == "size" {
			by = cmp.Compare(start(a.Value), start(b.Value))
		}
		return cmp.Or(cmp.Compare(b.Docs, a.Docs), by)
	})
	found.Values = found.Values[:min(cmp.Or(f.N, 10), len(found.Values))]
	return found
}

// inOrder is the oracle of sorting.
func inOrder(docs []record, s *ask.Sort) (ids []string) {
	one := func(a, b record, s ask.Sort) int {
		var has [2]bool
		by := 0
		switch s.Field {
		case "tags":
			if has = [2]bool{len(a.Tags) > 0, len(b.Tags) > 0}; has[0] && has[1] {
				if by = cmp.Compare(slices.Min(a.Tags), slices.Min(b.Tags)); s.Descending {
					by = cmp.Compare(slices.Max(b.Tags), slices.Max(a.Tags))
				}
			}
		case "size":
			if has = [2]bool{a.Size != nil, b.Size != nil}; has[0] && has[1] {
				if by = cmp.Compare(*a.Size, *b.Size); s.Descending {
					by = -by
				}
			}
		case "seen":
			if has = [2]bool{a.Seen != "", b.Seen != ""}; has[0] && has[1] {
				if by = cmp.Compare(a.Seen, b.Seen); s.Descending {
					by = -by
				}
			}
		}
		switch {
		case has[0] && !has[1]:
			return -1
		case has[1] && !has[0]:
			return 1
		}
		return by
	}
	compare := func(a, b record) int {
		by := one(a, b, *s)
		for _, then := range s.Then {
			by = cmp.Or(by, one(a, b, then))
		}
		return by
	}
	docs = slices.Clone(docs)
	slices.SortStableFunc(docs, compare) // which keeps the order of the documents
	for i := range docs {
		ids = append(ids, docs[i].ID)
	}
	return ids
}

var (
	testFacets = []ask.Facet{{Field: "tags"}, {Field: "tags", N: 2}, {Field: "size"},
		{Field: "size", Step: "5", N: 3},
		{Field: "seen"}, {Field: "seen", Step: "month"}, {Field: "seen", Step: "day", N: 5}}
	testOrders = []*ask.Sort{nil, {Field: "tags"}, {Field: "tags", Descending: true}, {Field: "size"},
		{Field: "size", Descending: true}, {Field: "seen"}, {Field: "seen", Descending: true},
		{Field: "tags", Then: []ask.Sort{{Field: "size", Descending: true}}},
		{Field: "tags", Descending: true, Then: []ask.Sort{{Field: "seen"}, {Field: "size"}}},
		{Field: "size", Then: []ask.Sort{{Field: "tags", Descending: true}}},
		{Field: "size", Descending: true, Then: []ask.Sort{{Field: "tags"}, {Field: "seen", Descending: true}}},
		{Field: "seen", Then: []ask.Sort{{Field: "tags"}}}}
)

// Facets and orders are those of the oracles, for words, trees, filters and deleted documents.
// Scores are those of the request without sorting.
func TestGather(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	docs := randomRecords(r, 400)
	e := buildRecords(t, docs)
	e.Live = docset.Full(len(docs))
	for range 30 {
		e.Live.Remove(uint32(r.IntN(len(docs))))
	}
	for _, q := range []string{"w1", "w1 w2", "+w1 -w2", `"w1 w2"`, `w3 AND tags:"t 1"`,
		"w0 #size:[-3 TO 4]", "w1 (w2 OR w3)", "nothing", "tags:*"} {
		parsed, err := query.Parse(q, query.Options{AnyField: true})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Search(t.Context(), Of(e), &ask.Request{Query: parsed, K: len(docs), Count: true})
		if err != nil {
			t.Fatal(err)
		}
		scores := map[string]float32{}
		var answers []record
		for _, h := range all.Hits {
			scores[docs[h.Doc].ID] = h.Score
		}
		for i := range docs {
			if _, ok := scores[docs[i].ID]; ok {
				answers = append(answers, docs[i])
			}
		}
		for _, order := range testOrders {
			for _, k := range []int{1, 7, len(docs)} {
				req := ask.Request{Query: parsed, K: k, From: r.IntN(5), Count: true,
					Sort: order, Facets: testFacets}
				found, err := Search(t.Context(), Of(e), &req)
				if err != nil {
					t.Fatal(q, err)
				}
				if found.Total != all.Total {
					t.Errorf("%s: %d documents, want %d", q, found.Total, all.Total)
				}
				checkFacets(t, e, q, answers, found.Facets)
				var want []string
				if order == nil {
					for _, h := range all.Hits {
						want = append(want, docs[h.Doc].ID)
					}
				} else {
					want = inOrder(answers, order)
				}
				want = want[min(req.From, len(want)):]
				want = want[:min(k, len(want))]
				var got []string
				for _, h := range found.Hits {
					id := docs[h.Doc].ID
					got = append(got, id)
					if h.Score != scores[id] {
						t.Errorf("%s by %v: %s has the score %v, want %v", q, order, id, h.Score, scores[id])
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s by %v, k %d from %d:\n%v, want\n%v", q, order, k, req.From, got, want)
				}
			}
		}
	}
}

// checkFacets compares facets with the oracle, and counts with the query of each value.
func checkFacets(t *testing.T, e *eval.Engine, q string, answers []record,
	found []ask.FacetCounts) {
	t.Helper()
	for i, f := range testFacets {
		want := facetOf(answers, f)
		for j := range found[i].Values {
			v := &found[i].Values[j]
			if q == "w1" { // the others would take long
				text := fmt.Sprintf("+(%s) +%s", q, v.Query)
				parsed, err := query.Parse(text, query.Options{AnyField: true})
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				some, err := Search(t.Context(), Of(e), &ask.Request{Query: parsed, Count: true, K: 1})
				if err != nil || some.Total != int64(v.Docs) {
					t.Errorf("%s: %d documents, want %d, %v", text, some.Total, v.Docs, err)
				}
			}
			v.Query = ""
		}
		if !reflect.DeepEqual(found[i], want) {
			t.Fatalf("%s: facet %v: %v, want %v", q, f, found[i], want)
		}
	}
}

// Several segments, gathered one after the other, give the facets and the order of all documents.
func TestGatherSegments(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	docs := randomRecords(r, 240)
	cuts := []int{0, 20, 130, 240}
	var engines []*eval.Engine
	for i := range cuts[1:] {
		engines = append(engines, buildRecords(t, docs[cuts[i]:cuts[i+1]]))
	}
	for _, order := range testOrders[1:] {
		request := &ask.Request{Facets: testFacets, Sort: order}
		g, err := newGathering(engines[0].Index.Schema(), request, 150)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range engines {
			if err := g.add(&steps{ctx: t.Context()}, e.Index, docset.Full(e.Index.Docs()), uint32(cuts[i])); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		list, keys := g.ordered()
		for i, doc := range list {
			got = append(got, docs[doc].ID)
			if i > 0 && order.Compare(keys[i-1], keys[i]) > 0 {
				t.Fatalf("by %v: key %v comes before %v", order, keys[i-1], keys[i])
			}
		}
		if want := inOrder(docs, order)[:150]; !slices.Equal(got, want) {
			t.Fatalf("by %v: %v, want %v", order, got, want)
		}
		found, err := g.facets()
		if err != nil {
			t.Fatal(err)
		}
		checkFacets(t, nil, "segments", docs, found)
	}
}

// BM25F also scores sorted answers. Requests for impossible facets and orders are errors that say
// why.
func TestGatherEdges(t *testing.T) {
	e := buildRecords(t, randomRecords(rand.New(rand.NewPCG(1, 1)), 100))
	r := ask.Request{Text: "w1", Model: model.BM25F{}, Count: true, K: 100}
	best, err := Search(t.Context(), Of(e), &r)
	if err != nil {
		t.Fatal(err)
	}
	r.K, r.Sort = 1, &ask.Sort{Field: "size"}
	sorted, err := Search(t.Context(), Of(e), &r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(best.Hits, sorted.Hits[0]) {
		t.Errorf("the first hit by size, %v, is not one of the hits by score, %v", sorted.Hits[0],
			best.Hits)
	}
	none, err := Search(t.Context(), Of(e), &ask.Request{Text: " ", Facets: testFacets[:1]})
	if err != nil || len(none.Facets) != 1 || len(none.Facets[0].Values) != 0 {
		t.Errorf("facets of an empty query: %v, %v; want one without values", none, err)
	}
	for want, r := range map[string]ask.Request{
		"it is a text field":                  {Facets: []ask.Facet{{Field: "body"}}},
		"there is none of that name":          {Sort: &ask.Sort{Field: "length"}},
		"want a positive number":              {Facets: []ask.Facet{{Field: "size", Step: "-1"}}},
		"want year, month or day":             {Facets: []ask.Facet{{Field: "seen", Step: "week"}}},
		"keywords have no ranges":             {Facets: []ask.Facet{{Field: "tags", Step: "1"}}},
		"-1 values: want 1 to 1048576":        {Facets: []ask.Facet{{Field: "tags", N: -1}}},
		"keywords, numbers or dates: tags, s": {Sort: &ask.Sort{Field: "body"}},
		"want the further fields in one list": {Sort: &ask.Sort{Field: "size",
			Then: []ask.Sort{{Field: "tags", Then: []ask.Sort{{Field: "seen"}}}}}},
		"match this query without any": {Model: model.BM25F{},
			Query: query.Field{Name: "size", Part: query.Range{From: "1"}}},
	} {
		if r.Query == nil {
			r.Text = "w1"
		}
		if _, err := Search(t.Context(), Of(e), &r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// An index whose documents have no fields has neither facets nor an order by a field.
func TestGatherWithoutFields(t *testing.T) {
	e, err := eval.NewEngine(searchtest.OpenLines(t, "whitespace", "a b", "a c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []ask.Request{{Facets: []ask.Facet{{Field: "size"}}}, {Sort: &ask.Sort{Field: "size"}}} {
		r.Text = "a"
		_, err := Search(t.Context(), Of(e), &r)
		if err == nil || !strings.Contains(err.Error(), "the documents of the index have no fields") {
			t.Errorf("%+v: error %v, want that there are no fields", r, err)
		}
	}
}

// A search for facets or an order that is given up returns the context's error. Contexts are asked
// once for each facet and segment.
func TestGatheringGivenUp(t *testing.T) {
	e := buildRecords(t, randomRecords(rand.New(rand.NewPCG(1, 1)), 100))
	r := ask.Request{Text: "w1", Facets: testFacets}
	whole := &impatient{t.Context(), 1 << 30}
	if _, err := Search(whole, Of(e), &r); err != nil {
		t.Fatal(err)
	}
	looks := 1<<30 - whole.left
	if looks < len(testFacets) {
		t.Errorf("the context of %d facets was asked %d times", len(testFacets), looks)
	}
	for left := range looks {
		if _, err := Search(&impatient{t.Context(), left}, Of(e), &r); !errors.Is(err, context.Canceled) {
			t.Errorf("given up at the look %d of %d: error %v, want that of the context", left, looks, err)
		}
	}
}

// Searches in a field that was not searched before may run at once, and share its engine.
func TestFieldsAtOnce(t *testing.T) {
	e := buildRecords(t, randomRecords(rand.New(rand.NewPCG(1, 1)), 10))
	found := make([]*eval.Engine, 8)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() {
			var err error
			if found[i], err = e.Field("body"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, f := range found {
		if f == nil || f != found[0] {
			t.Errorf("engines %v, want one", found)
		}
	}
}

// Ranges of a step far below a number cannot be told apart. They end, and are the number itself.
func TestRangesOfHugeNumbers(t *testing.T) {
	for _, v := range []float64{0, 1, -7.5, 1e15, 1e17 + 16, -1e17, 1e300, -1e300, math.MaxFloat64} {
		for _, step := range []float64{1e-300, 1e-10, 0.1, 3, 1e9, 1e300} {
			begin := rangeOf(v, step)
			if begin > v || !fine(v, step) && begin+step < v {
				t.Errorf("%v by %v: the range begins at %v", v, step, begin)
			}
			if fine(v, step) && begin != v {
				t.Errorf("%v by %v: the range begins at %v, want the number", v, step, begin)
			}
		}
	}
}

// A number that a facet names is read back as it was, also where floats are farther apart than 1.
func TestNumbersOfFacets(t *testing.T) {
	for _, v := range []float64{0, -3, 2000.5, 1e-7, 1 << 53, 1<<60 + 1<<10, -(1 << 62), 1e20, 1e21, 123456789e15, 1e23, -1e300,
		math.MaxFloat64, math.SmallestNonzeroFloat64} {
		got, err := fields.ParseNumber([]byte(number(v)))
		if err != nil || got != v {
			t.Errorf("%v is written as %s, and read as %v, %v", v, number(v), got, err)
		}
	}
}
