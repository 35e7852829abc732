package search

import (
	"reflect"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/query"
)

// Whatever can be asked of the cores can be asked of a GPU, alone and in a batch, and the answers
// are the same. Where the device does not know a request, statistics say why.
func TestQueryFormsOnGPU(t *testing.T) {
	s := fieldsIndexWith(t, true)
	fields := s.Fields()
	parse := func(q string) query.Node {
		t.Helper()
		n, err := query.Parse(q, query.Options{Fields: fields})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	filter, err := query.ParseFilter("year:[1995 TO 2010]", query.Options{Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	const (
		onCores = iota
		onDevice
		onDeviceAlone // and in a batch on the cores
	)
	forms := []struct {
		name  string
		r     Request
		where int
	}{
		{"words", Request{Text: "word3 filler"}, onDevice},
		{"words as a tree", Request{Query: parse("word3 filler")}, onDevice},
		{"all of the words as a tree", Request{Query: query.Words("word3 filler", true)}, onDevice},
		{"a term of two words", Request{Query: query.Term{Text: "word3 filler"}}, onDevice},
		{"a term of two words beside another", Request{Query: parse("word3-filler word7")}, onDevice},
		{"within a filter", Request{Text: "word3 filler", Filter: filter}, onDevice},
		{"a tree within a filter", Request{Query: query.Within(parse("word3 filler"), filter)}, onDevice},
		{"a phrase", Request{Query: parse(`"body filler"`)}, onCores},
		{"near", Request{Query: parse("body NEAR/9 word3")}, onCores},
		{"excluded", Request{Query: parse("+filler -word3")}, onCores},
		{"weighted", Request{Query: parse("word3^2 filler")}, onCores},
		{"a pattern", Request{Query: parse("word*")}, onCores},
		{"a field and a range", Request{Query: parse("title:word3 year:[1995 TO 2000]")}, onCores},
		{"a count", Request{Text: "filler", Count: true}, onCores},
		{"a count alone", Request{Text: "filler", K: NoHits}, onCores},
		{"a page", Request{Text: "filler word3", From: 5}, onCores},
		{"facets", Request{Text: "filler", Facets: []Facet{{Field: "year"}}}, onCores},
		{"sorted", Request{Text: "filler", Sort: &Sort{Field: "year", Descending: true}}, onCores},
		{"over fields", Request{Text: "word3 filler", Model: BM25F{}}, onCores},
		{"expanded", Request{Text: "word3", Expand: &Expand{}}, onDeviceAlone},
		{"pairs", Request{Text: "body filler", Proximity: SDM()}, onCores},
		{"boosted", Request{Text: "filler", Boosts: []Boost{{Name: "old", Match: filter}}}, onCores},
		{"another algorithm", Request{Text: "word3 filler", Algorithm: VBMW}, onCores},
	}
	var want []*Result
	for _, f := range forms {
		found, err := s.Search(t.Context(), f.r)
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if len(found.Hits) == 0 && found.Total == 0 {
			t.Errorf("%s: nothing is found", f.name)
		}
		want = append(want, found)
	}
	dev, _ := gputest.Named(t)
	if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	check := func(how string, i int, found *Result, err error) {
		t.Helper()
		f := &forms[i]
		if err != nil {
			t.Fatalf("%s, %s: %v", f.name, how, err)
		}
		if !slices.Equal(found.Hits, want[i].Hits) || found.Total != want[i].Total ||
			!reflect.DeepEqual(found.Facets, want[i].Facets) || !reflect.DeepEqual(found.Keys, want[i].Keys) {
			t.Errorf("%s, %s: got %+v, want %+v", f.name, how, *found, *want[i])
		}
		device := f.where == onDevice || f.where == onDeviceAlone && how == "alone"
		if g := found.Stats.GPU; g == nil || (g.Fallback == "") != device {
			t.Errorf("%s, %s: %+v, want an answer of the device: %v", f.name, how, g, device)
		}
	}
	var requests []Request
	for i := range forms {
		r := forms[i].r
		requests = append(requests, r)
		r.Parallel = &Parallel{Engine: engine.GPU}
		found, err := s.Search(t.Context(), r)
		check("alone", i, found, err)
	}
	i := 0
	for found, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU}) {
		check("in a batch", i, found, err)
		i++
	}
	if i != len(forms) {
		t.Errorf("%d answers, want %d", i, len(forms))
	}
}
