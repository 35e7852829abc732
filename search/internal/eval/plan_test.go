package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Every strategy of every plan answers some query, is named in the statistics, and gives the
// results of the definition.
func TestEveryStrategyIsTaken(t *testing.T) {
	seen := map[ask.Strategy]int{}
	var within *docset.Set
	try := func(s *Searcher, p *searchtest.Plain, mode ask.Mode, k int, words ...string) {
		t.Helper()
		var all []ask.Word
		for _, w := range words {
			all = append(all, ask.Word{Text: w, Weight: 1})
		}
		r := ask.Request{Words: all, K: k, Mode: mode}
		if within != nil {
			r.Within = &ask.Within{Sets: []*docset.Set{within}}
		}
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		most := k
		if within != nil {
			most = len(p.Lengths)
		}
		want := admitted(p.Search(t, s.e.Index, all, most, mode, nil), k, within)
		if !slices.Equal(found.Hits, want) {
			t.Errorf("%v, %v, k %d, %v: %v, want %v", words, mode, k, found.Stats.Strategy, found.Hits, want)
		}
		if s := found.Stats; s.Skipped < 0 || s.Skipped > s.Blocks {
			t.Errorf("%v, %v, k %d, %v: %d of %d blocks were skipped", words, mode, k, s.Strategy, s.Skipped, s.Blocks)
		}
		seen[found.Stats.Strategy]++
	}
	p, s := leveled(t)
	for i, a := range p.Words {
		try(s, p, ask.Or, 10, a)
		for _, b := range p.Words[i+1:] {
			try(s, p, ask.And, 10, a, b)
			try(s, p, ask.Or, 10, a, b)
		}
	}
	try(s, p, ask.Or, 120, p.Words...) // one answer for between sampleDocs and wholeDocs documents
	within = randomSet(rand.New(rand.NewPCG(1, 2)), len(p.Lengths))
	for _, w := range p.Words { // also with a k that exceeds the number of answers
		try(s, p, ask.Or, 10, w)
		try(s, p, ask.Or, 10_000, w)
	}
	within = docset.New(len(p.Lengths))
	for d := 0; d < len(p.Lengths); d += 10 {
		within.Add(uint32(d))
	}
	try(s, p, ask.Or, 10, p.Words[9], p.Words[0])
	within = nil
	p, s = promising(t)
	for _, w := range p.Words {
		if w != "map" {
			try(s, p, ask.And, 3, w, "map")
		}
	}
	p, s = independent(t, 20_000)
	for i, a := range p.Words {
		for _, b := range p.Words[i+1:] {
			try(s, p, ask.Or, 10, a, b)
			try(s, p, ask.Or, 10_000, a, b)
		}
	}
	many, large := independent(t, 60_000) // a sample of fewer documents would have no window
	try(large, many, ask.Or, 500, many.Words...)
	alwaysMark(t)
	try(large, many, ask.Or, 60, many.Words...)
	for i, a := range p.Words {
		for _, b := range p.Words[i+1:] {
			try(s, p, ask.Or, 10, a, b)
			try(s, p, ask.Or, 300, a, b)
		}
	}
	postings, plain := guessPostings, guessPlain
	guessPostings = 1e18
	defer func() { guessPostings, guessPlain = postings, plain }()
	for i, a := range p.Words {
		for _, b := range p.Words[i+1:] {
			try(s, p, ask.Or, 10, a, b)
		}
	}
	p = searchtest.Weighted(rand.New(rand.NewPCG(497, 498)), 9000, 12)
	weights := ask.Request{Words: searchtest.SomeWeights(rand.New(rand.NewPCG(1, 1)), p), K: 10}
	found, err := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 1)).Search(context.Background(), weights)
	if err != nil {
		t.Fatal(err)
	}
	seen[found.Stats.Strategy]++ // its results: TestImpactsGiveTheDefinition
	for m := ask.OneFromTop; m < ask.TreePhrase; m <<= 1 {
		if seen[m] == 0 {
			t.Errorf("no query was answered by %v; strategies taken: %v", m, seen)
		}
	}
	for _, plan := range [][]strategy{orPlan, andPlan, onePlan} {
		for _, s := range plan {
			if s.why == "" || s.name == ask.NoStrategy {
				t.Errorf("strategy %q: it has no reason, or no name", s.name)
			}
		}
	}
}

// The statistics name what answered, whoever shared the work: one core, the workers of a team, or
// several segments. Names are joined if segments took different strategies.
func TestStrategyIsNamedWhoeverAnswers(t *testing.T) {
	defer func(before float64) { plainWorth = before }(plainWorth)
	plainWorth = 0 // no marks
	p, s := leveled(t)
	half := uint32(len(p.Lengths) / 2)
	two := writeSegments(t, p, []uint32{0, half, uint32(len(p.Lengths))}, searchtest.Scratch(t)+"/two")
	for _, c := range []struct {
		mode                  ask.Mode
		k                     int
		words                 []int
		sequential, team, two string
	}{
		{ask.Or, 10, []int{7, 8}, "or-guess", "or-guess", "or-guess"},
		{ask.Or, 10, []int{0, 9}, "or-windows", "or-windows", "or-windows"},
		// The second segment has only one of the words.
		{ask.Or, 60_000, []int{1, 4}, "or-guess", "or-guess", "one-levels+or-windows"},
		{ask.And, 10, []int{1, 2}, "and-guess", "and-blocks", "and-guess"},
		{ask.And, 10, []int{5, 6}, "and-blocks", "and-blocks", "and-blocks"},
		{ask.Or, 10, []int{0}, "one-levels", "one-levels", "one-levels"},
	} {
		r := ask.Request{K: c.k, Mode: c.mode}
		for _, w := range c.words {
			r.Words = append(r.Words, ask.Word{Text: p.Words[w], Weight: 1})
		}
		check := func(where, want string, found *ask.Result, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if got := found.Stats.Strategy.String(); got != want {
				t.Errorf("%v %v, %s: %q, want %q", c.mode, c.words, where, got, want)
			}
		}
		found, err := s.e.Search(context.Background(), &r)
		check("one core", c.sequential, found, err)
		found, err = two.Search(context.Background(), &r)
		check("two segments", c.two, found, err)
		r.Parallel = &ask.Parallel{Threads: 2, Engine: engine.Multicore}
		found, err = s.e.Search(context.Background(), &r)
		check("a team", c.team, found, err)
	}
}
