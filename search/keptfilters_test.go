package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// However often a filter is asked, and through whichever part of a request, the answers are those
// without a filter that it admits: in one segment and in several, with deleted documents, for words
// and for values of fields.
func TestFiltersThatAreAskedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 2))
	lines := fieldedDocs(rng, 400)
	gone := []string{"corpus.txt:3", "corpus.txt:17", "corpus.txt:200", "corpus.txt:399"}
	for _, at := range [][]int{{0, 400}, {0, 150, 160, 400}} {
		s := living(t, lines, at, gone)
		defer s.Close()
		o := query.Options{Fields: s.Fields()}
		var filters []query.Node
		for _, text := range []string{"year:>=2015", "lang:en", "year:[2003 TO 2009] lang:(de OR en)",
			"title:a", "b OR lang:eo", "-lang:en year:*", `body:"a b"`, "ab*", "year:1900"} {
			f, err := query.ParseFilter(text, o)
			if err != nil {
				t.Fatal(err)
			}
			filters = append(filters, f)
		}
		for range trials.Of(300) {
			f := filters[int(rng.Float64()*rng.Float64()*float64(len(filters)))]
			q := searchtest.RandomTree(rng, 2, nil)
			switch rng.IntN(4) {
			case 0, 1:
				q = query.Words("a b abc", rng.IntN(2) == 0)
			case 2: // the same filter as of the text means another in a field
				word := query.Filter{Part: query.Term{Text: "b"}}
				q = query.Field{Name: []string{"title", "body"}[rng.IntN(2)],
					Part: query.And{Parts: []query.Node{query.Term{Text: "a"}, word}}}
				f = word
			}
			admitted, err := s.Match(t.Context(), search.Request{Query: f.(query.Filter).Part})
			if err != nil {
				t.Fatal(err)
			}
			r := search.Request{Query: q, K: 400}
			all, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			base, bases := 0, []int{}
			for _, set := range admitted.Sets {
				bases, base = append(bases, base), base+set.Len()
			}
			want := slices.DeleteFunc(all.Hits, func(h search.Hit) bool {
				i := len(bases) - 1
				for bases[i] > int(h.Doc) {
					i--
				}
				return !admitted.Sets[i].Has(h.Doc - uint32(bases[i]))
			})
			r.K, r.From, r.Count = 1+rng.IntN(20), rng.IntN(3), true
			total := int64(len(want))
			want = want[min(r.From, len(want)):]
			want = want[:min(r.K, len(want))]
			whole := r
			whole.Query = query.Within(q, f)
			r.Filter = f
			for _, r := range []search.Request{r, whole} {
				found, err := s.Search(t.Context(), r)
				if err != nil || !slices.Equal(found.Hits, want) || found.Total != total {
					t.Fatalf("%d segments, %v within %v, %s: %v of %d, want %v of %d; %v", len(at)-1, q, f,
						fmt.Sprint(found.Stats.How()), found.Hits, found.Total, want, total, err)
				}
				if n, err := s.Count(t.Context(), r); err != nil || n != total {
					t.Fatalf("%d segments, %v within %v: %d documents, want %d; %v", len(at)-1, q, f, n, total, err)
				}
			}
		}
	}
}
