package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// Every strategy for trees answers the queries that it is made for, is named in the statistics, and
// finds the same as the plain strategy.
func TestEveryTreeStrategyIsTaken(t *testing.T) {
	var lines []string // w2 in every second document, w3 in every third, ...
	for doc := range 2000 {
		line := []string{"all"}
		for i := 2; i <= 200; i++ {
			if doc%i == 0 {
				line = append(line, fmt.Sprint("w", i))
			}
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[ask.Strategy]bool{}
	for text, want := range map[string]ask.Strategy{
		"+w50 w2 -w3":                ask.TreeConjunction, // a rare mandatory word
		`+"all w2" w3`:               ask.TreeConjunction, // a mandatory phrase
		"w2 AND w3 AND #w60":         ask.TreeConjunction, // few documents are left
		"w2 w3 #w150 #w4":            ask.TreeSparse,
		`"all w2" #w3`:               ask.TreePhrase,
		"(w2 AND w3) OR (w5 AND w7)": ask.TreeLists,
		"w2 w3 #w5":                  ask.NoStrategy, // only words score: package eval has its own
		"(w2 w3) AND #w5":            ask.NoStrategy, // the same, as query.Within makes it
		"((w2 w3) AND #w5) AND -w7":  ask.NoStrategy,
		"(w2 w3) AND #w150 AND #w4":  ask.TreeSparse,
		"(w2 AND w3) AND #w60":       ask.TreeConjunction,
	} {
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := ask.Request{Query: q, K: 20}
		got, err := Search(t.Context(), Of(e), &r)
		if err != nil {
			t.Fatal(err)
		}
		own := want == ask.NoStrategy && got.Stats.Strategy < ask.TreePhrase
		if got.Stats.Strategy != want && !own {
			t.Errorf("%s: answered by %v, want %v", text, got.Stats.Strategy, want)
		}
		if hits, _ := bySets(t, e, &r); len(hits) == 0 || !slices.Equal(got.Hits, hits) {
			t.Errorf("%s, %v: %v, want %v", text, want, got.Hits, hits)
		}
		seen[want] = true
	}
	for _, s := range treePlan {
		if s.why == "" {
			t.Errorf("strategy %q has no reason", s.name)
		}
		beside := s.name == ask.TreeBeside // needs a field of weighted tokens: see package search
		if s.name != ask.NoStrategy && !beside && !seen[s.name] {
			t.Errorf("no query was answered by %v", s.name)
		}
	}
}

// A word counts once, in however many parts it is, and its list once: as in a query of plain words.
// Words that the index does not have, and parts that do not score, do not count.
func TestStatsOfDistinctWords(t *testing.T) {
	many := ""
	for i := range 30 {
		many += fmt.Sprintf("x%d ", i)
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace",
		"a b c", "a b", "a c b a", "ab c", "b", "c b a b", many))
	if err != nil {
		t.Fatal(err)
	}
	// Documents with each word.
	const a, b, c, ab = 4, 5, 4, 1
	for text, want := range map[string]struct {
		words    int
		postings int64
	}{
		`"a b"`:                         {2, a + b},
		`"a b" "b a" a b`:               {2, a + b},
		`"a b a"`:                       {2, a + b},
		`(a AND b) OR (a AND c)`:        {3, a + b + c},
		`+a +b "a b"^2 c`:               {3, a + b + c},
		`(a AND b) OR (a AND unknown)`:  {2, a + b},
		`(a AND b) OR (b AND a) -c #ab`: {2, a + b},
		`(a* AND b) OR (a AND b)`:       {3, a + b + ab},
		`(x* AND b) OR (x* AND x20)`:    {31, 30 + b},
	} {
		q, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Search(t.Context(), Of(e), &ask.Request{Query: q, K: 20})
		if err != nil {
			t.Fatal(err)
		}
		if s := got.Stats; s.Words != want.words || s.Postings != want.postings {
			t.Errorf("%s, by %s: %d words with %d postings, want %d with %d", text, s.How(), s.Words, s.Postings,
				want.words, want.postings)
		}
	}
}
