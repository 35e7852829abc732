package search

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/query"
)

// A weight after a value of a field is added to the scores of the documents that have the value:
// the answers are those without weights, raised and sorted.
func TestWeightsOfValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 1))
	for range trials.Of(12) {
		s := boostIndex(t, rng, 1+rng.IntN(200), 1+rng.IntN(3))
		parse := func(text string) query.Node {
			n, err := query.Parse(text, query.Options{Fields: s.Fields()})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		type part struct {
			text string
			by   float64
		}
		for weighed, plain := range map[string]struct {
			text string
			add  []part
		}{
			"a tag:x^2":                  {"a tag:x", []part{{"tag:x", 2}}},
			"+a year:[2010 TO *]^3":      {"+a year:[2010 TO *]", []part{{"year:[2010 TO *]", 3}}},
			"a +tag:x^.5 -b":             {"a +tag:x -b", []part{{"tag:x", .5}}},
			"(a OR b) AND tag:x^.5":      {"(a OR b) AND tag:x", []part{{"tag:x", .5}}},
			"(a tag:x^2) AND b":          {"(a tag:x) AND b", []part{{"tag:x", 2}}},
			"tag:x^2":                    {"tag:x", []part{{"tag:x", 2}}},
			"a tag:x^2 views:[1 TO 9]^4": {"a tag:x views:[1 TO 9]", []part{{"tag:x", 2}, {"views:[1 TO 9]", 4}}},
		} {
			whole, err := s.Search(t.Context(), Request{Query: parse(plain.text), K: 1000})
			if err != nil {
				t.Fatal(err)
			}
			want := whole.Hits
			scores := map[uint32]float64{}
			for _, h := range want {
				scores[h.Doc] = float64(h.Score)
			}
			for _, p := range plain.add {
				found, err := s.Search(t.Context(), Request{Query: parse(p.text), K: 1000})
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range found.Hits {
					scores[h.Doc] += p.by
				}
			}
			for i := range want {
				want[i].Score = float32(scores[want[i].Doc])
			}
			slices.SortFunc(want, func(a, b Hit) int {
				return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
			})
			k := 1 + rng.IntN(15)
			r := Request{Query: parse(weighed), K: k}
			got, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if want := want[:min(k, len(want))]; fmt.Sprint(got.Hits) != fmt.Sprint(want) {
				t.Fatalf("%s, the best %d:\n%v, want\n%v", weighed, k, got.Hits, want)
			}
			for found, err := range s.SearchBatch(t.Context(), slices.Values([]Request{r}), Batch{}) {
				if err != nil || fmt.Sprint(found.Hits) != fmt.Sprint(got.Hits) {
					t.Fatalf("%s in a batch: %v, %v", weighed, found, err)
				}
			}
			for _, h := range got.Hits {
				e, err := s.Explain(t.Context(), r, h.Doc)
				if err != nil || e.Score != h.Score || len(e.Boosts) != len(plain.add) {
					t.Fatalf("%s: explained as %+v, %v, want the score %v", weighed, e, err, h.Score)
				}
			}
			if n, err := s.Count(t.Context(), r); err != nil || n != int64(len(want)) {
				t.Fatalf("%s: %d match, %v, want %d", weighed, n, err, len(want))
			}
		}
	}
}

// Where a value would count only if other parts match, a weight is refused, and so is a Match
// beside other values.
func TestWeightsOfValuesAreRefused(t *testing.T) {
	s := boostIndex(t, rand.New(rand.NewPCG(47, 2)), 20, 1)
	for _, text := range []string{"a OR (b AND tag:x^2)", "a #tag:x^2", "a (+b tag:x^2)"} {
		n, err := query.Parse(text, query.Options{Fields: s.Fields()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Search(t.Context(), Request{Query: n})
		if !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), "at the top of a query only") {
			t.Errorf("%s: %v", text, err)
		}
	}
	tag := query.Field{Name: "tag", Part: query.Term{Text: "x"}}
	for want, b := range map[string]Boost{
		"Match stands alone": {Match: tag, Most: 2},
		"unknown field":      {Match: query.Field{Name: "none", Part: query.Term{Text: "x"}}},
	} {
		_, err := s.Search(t.Context(), Request{Text: "a", Boosts: []Boost{b}})
		if !errors.Is(err, ErrRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", b, err, want)
		}
	}
	if hasValues(&fields.Schema{}, "tag") {
		t.Error("a field that is not there has values")
	}
}
