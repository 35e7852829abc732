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

// Counts are those of the definition, for mandatory, optional and excluded words, frequent and
// rare, in all documents or within some.
func TestCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 28))
	const docs, words = 9000, 40
	lines, has := make([]string, docs), make([]map[string]bool, docs)
	for d := range lines {
		var line []string
		has[d] = map[string]bool{}
		for w := range words {
			if rng.Float64() < 1/float64(1+w*w) { // the first are in dense blocks
				line = append(line, fmt.Sprint("w", w))
				has[d][line[len(line)-1]] = true
			}
		}
		lines[d] = strings.Join(append(line, "x"), " ")
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	for range 400 / trials.Every(4) {
		q, roles := query.Or{}, rng.IntN(4)
		var must, may, not []string
		for _, w := range rng.Perm(words + 1)[:1+rng.IntN(4)] { // the last is in no document
			word := fmt.Sprint("w", w)
			part := query.Node(query.Term{Text: word})
			switch role := rng.IntN(4); {
			case role == 0 && roles > 0 || roles == 3:
				must, part = append(must, word), query.Must{Part: part}
			case role == 1 && roles == 2:
				not, part = append(not, word), query.Not{Part: part}
			default:
				may = append(may, word)
			}
			q.Parts = append(q.Parts, part)
		}
		r := ask.Request{Query: q}
		var set *docset.Set
		if rng.IntN(2) == 0 {
			set = docset.New(docs)
			for range rng.IntN(docs) >> rng.IntN(8) {
				set.Add(uint32(rng.IntN(docs)))
			}
			r.Within = &ask.Within{Sets: []*docset.Set{set}}
		}
		want := int64(0)
		for d := range docs {
			in := func(word string) bool { return has[d][word] }
			all := !slices.ContainsFunc(must, func(word string) bool { return !in(word) })
			any := len(must) > 0 || len(may) == 0 || slices.ContainsFunc(may, in)
			if (set == nil || set.Has(uint32(d))) && all && any && !slices.ContainsFunc(not, in) {
				want++
			}
		}
		if got, err := Count(t.Context(), Of(e), &r); got != want || err != nil {
			t.Fatalf("%v: %d documents, want %d, %v", q, got, want, err)
		}
		r.Count = true
		if got, err := Search(t.Context(), Of(e), &r); err != nil || got.Total != want {
			t.Fatalf("%v: %d documents found, want %d, %v", q, got.Total, want, err)
		}
	}
}
