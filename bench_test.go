package collocate

import (
	"fmt"
	"testing"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// rivers is an index of 2,000 short documents. Assertions, which allocate, are off until the end.
func rivers(t testing.TB) *Index {
	t.Helper()
	on := assert.On
	assert.On = false
	t.Cleanup(func() { assert.On = on })
	x, err := Memory(Options{Analyzer: "english"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	for i := range 2000 {
		words := fmt.Sprintf("river stone%d winter%d harbour", i%7, i%50)
		if err := x.Add(text.Document{ID: fmt.Sprint(i), Text: []byte(words)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return x
}

var warm = map[string]string{"word": "winter3", "words": "winter3 stone2", "phrase": `"stone2 winter9"`}

// BenchmarkSearch answers requests on a warm index; with -benchmem it shows what is allocated.
func BenchmarkSearch(b *testing.B) {
	x := rivers(b)
	for name, q := range warm {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Search(b.Context(), Request{Query: q}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A search for words on a warm index allocates its answer and nothing else: the Result, its hits,
// their IDs, and in package search that result and its hits. One for a phrase also allocates the
// parsed query, a stem that differs from its word, the request, the plan and its node.
func TestOnlyTheAnswerIsAllocated(t *testing.T) {
	x := rivers(t)
	g := x.current.get()
	defer g.release()
	for _, c := range []struct {
		what string
		most float64
		call func() error
	}{
		{"package collocate", 5, func() error {
			_, err := x.Search(t.Context(), Request{Query: warm["words"]})
			return err
		}},
		{"a phrase", 10, func() error {
			_, err := x.Search(t.Context(), Request{Query: warm["phrase"]})
			return err
		}},
		{"package search", 2, func() error {
			_, err := g.searcher.Search(t.Context(), search.Request{Text: warm["words"]})
			return err
		}},
	} {
		n := 0.0
		for range 20 { // the garbage collector may empty lists of what is used again
			if n = testing.AllocsPerRun(50, func() { must(t, c.call()) }); n <= c.most {
				break
			}
		}
		if n > c.most {
			t.Errorf("%s: %v allocations, want %v", c.what, n, c.most)
		}
	}
}
