package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// A filter takes documents out of the answers and changes no score. With it, words are added from
// the best documents that it leaves. This holds for one segment, for several, in batches and for
// counts, and whatever the filter is.
func TestFilterOfPlainWords(t *testing.T) {
	path := randomTexts(t, 300)
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
	if err := index.Build(t.Context(), filepath.Join(dir, "one"), c, index.BuildOptions{Analyzer: a, Positions: true}); err != nil {
		t.Fatal(err)
	}
	splitInto(t, path, filepath.Join(dir, "many"), a)
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(strings.TrimSpace(string(lines)), "\n")
	rng := rand.New(rand.NewPCG(46, 1))
	word := func() string { return fmt.Sprint("w", rng.IntN(125)) }
	for _, name := range []string{"one", "many"} {
		s := open(t, filepath.Join(dir, name))
		for range trials.Of(40) {
			parts := []string{word(), word(), word(), word(), word(), word()}[:1+rng.IntN(6)]
			filter, err := query.ParseFilter(strings.Join(parts, " OR "), query.Options{})
			if err != nil {
				t.Fatal(err)
			}
			passes := func(doc uint32) bool {
				words := strings.Fields(docs[doc])
				return slices.ContainsFunc(parts, func(w string) bool { return slices.Contains(words, w) })
			}
			r := Request{Text: word() + " " + word() + " " + word(), K: 1 + rng.IntN(30), Filter: filter}
			switch kind := rng.IntN(4); {
			case kind == 0:
				r.Expand = &Expand{Docs: 1 + rng.IntN(8)}
			case kind == 1:
				r.Expand = &Expand{Method: Bo1}
			case kind == 2 && name == "one":
				r.Proximity = &Proximity{}
			}
			said := fmt.Sprintf("%s: %q filter %v expand %v proximity %v k %d", name, r.Text, filter, r.Expand, r.Proximity, r.K)
			found, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatalf("%s: %v", said, err)
			}
			// By definition: the documents of the answers without a filter that pass it.
			without := r
			without.Filter, without.K = nil, len(docs)
			if r.Expand != nil {
				first := without
				first.Expand = nil
				best, err := s.Search(t.Context(), first)
				if err != nil {
					t.Fatal(err)
				}
				best.Hits = slices.DeleteFunc(best.Hits, func(h Hit) bool { return !passes(h.Doc) })
				best.Hits = best.Hits[:min(len(best.Hits), r.Expand.WithDefaults().Docs)]
				want := expandedBy(t, s, r, best.Hits)
				if !reflect.DeepEqual(found.Expanded, want) {
					t.Fatalf("%s: expanded to %v, want %v", said, found.Expanded, want)
				}
				without.Expand, without.Text, without.Words = nil, "", found.Expanded
			}
			all, err := s.Search(t.Context(), without)
			if err != nil {
				t.Fatal(err)
			}
			all.Hits = slices.DeleteFunc(all.Hits, func(h Hit) bool { return !passes(h.Doc) })
			if want := all.Hits[:min(r.K, len(all.Hits))]; !slices.Equal(found.Hits, want) {
				t.Fatalf("%s: %v, want %v", said, found.Hits, want)
			}
			counted := r
			counted.Count = true
			if n, err := s.Search(t.Context(), counted); err != nil || n.Total != int64(len(all.Hits)) || !slices.Equal(n.Hits, found.Hits) {
				t.Fatalf("%s: %d documents, %v; want %d", said, n.Total, err, len(all.Hits))
			}
			for got, err := range s.SearchBatch(t.Context(), slices.Values([]Request{r, {Text: "w1"}}), Batch{}) {
				if err != nil || !slices.Equal(got.Hits, found.Hits) {
					t.Fatalf("%s: in a batch %v, %v; want %v", said, got, err, found.Hits)
				}
				break
			}
			if len(found.Hits) > 0 {
				x, err := s.Explain(t.Context(), r, found.Hits[0].Doc)
				if err != nil || x.Score != found.Hits[0].Score {
					t.Fatalf("%s: explained by %v, %v; want the score %v", said, x, err, found.Hits[0].Score)
				}
			}
			if r.Expand == nil && r.Proximity == nil { // as a part of the query
				r.Query, r.Filter = query.Within(query.Words(r.Text, false), filter), nil
				if part, err := s.Search(t.Context(), r); err != nil || !slices.Equal(part.Hits, found.Hits) {
					t.Fatalf("%s: %v as a part of the query, %v; want %v", said, part.Hits, err, found.Hits)
				}
			}
		}
	}
}

// expandedBy returns the words of an expansion by given documents.
func expandedBy(t *testing.T, s *Searcher, r Request, hits []Hit) []Word {
	t.Helper()
	r.Filter, r.Within = nil, &Within{}
	for _, segment := range s.Index().Segments() {
		set := docset.New(segment.Docs())
		for _, h := range hits {
			if h.Doc >= segment.Base && int(h.Doc-segment.Base) < segment.Docs() {
				set.Add(h.Doc - segment.Base)
			}
		}
		r.Within.Sets = append(r.Within.Sets, set)
	}
	found, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return found.Expanded
}

// What a filter lacks is noted, and what is wrong with it is an error.
func TestNotesOfAFilter(t *testing.T) {
	s := buildLines(t, "unicode", "rose daisy", "rose tulip")
	r := Request{Text: "rose", Filter: query.Filter{Part: query.Term{Text: "orchid"}}, Expand: &Expand{}}
	found, err := s.Search(t.Context(), r)
	if err != nil || len(found.Hits) > 0 {
		t.Fatalf("%v, %v; want nothing", found, err)
	}
	notes, err := s.Notes(t.Context(), r, found)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], `"orchid"`) {
		t.Errorf("notes %q, %v; want one about the filter", notes, err)
	}
	r.Filter = query.Filter{Part: query.Field{Name: "none", Part: query.Term{Text: "x"}}}
	if _, err := s.Search(t.Context(), r); err == nil || !strings.HasPrefix(err.Error(), "filter: ") {
		t.Errorf("a filter with an unknown field: %v", err)
	}
}
