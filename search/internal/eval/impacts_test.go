package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Copies of lists give the results of the definition on all CPU levels: alone, within sets, above a
// score, by several cores, and in several segments.
func TestImpactsGiveTheDefinition(t *testing.T) { cputest.Levels(t, testImpacts) }

func testImpacts(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(491, 492))
	taken := 0
	for i := range trials.Cases(12) {
		p := searchtest.Weighted(rng, []int{300, 4096, 9000, 20_000}[i%4], 4+rng.IntN(14))
		s := write(t, p, searchtest.IndexDir(root, i))
		cut := rng.Uint32N(uint32(len(p.Lengths)))
		several := writeSegments(t, p, []uint32{0, cut, uint32(len(p.Lengths))},
			searchtest.IndexDir(root, i)+"s")
		for range 4 {
			r := ask.Request{Words: searchtest.SomeWeights(rng, p), K: []int{1, 10, 200, 1000, 50_000}[rng.IntN(5)]}
			if len(r.Words) < 2 {
				continue
			}
			want := p.Search(t, s.e.Index, r.Words, r.K, ask.Or, model.Impact{})
			check := func(name string, search func(ask.Request) (*ask.Result, error), r ask.Request,
				want []ask.Hit) {
				t.Helper()
				got, err := search(r)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("%s, index %d, k %d, %v: got %v, want %v", name, i, r.K,
						got.Stats.Strategy, searchtest.Head(got.Hits), searchtest.Head(want))
				}
				if got.Stats.Strategy&ask.OrImpacts != 0 {
					taken++
				}
			}
			one := func(r ask.Request) (*ask.Result, error) { return s.Search(context.Background(), r) }
			all := func(r ask.Request) (*ask.Result, error) {
				return several.Search(context.Background(), &r)
			}
			check("alone", one, r, want)
			check("segments", all, r, want)
			least := r
			least.AtLeast = want[len(want)/2].Score
			check("at least", one, least, atLeast(want, least.AtLeast))
			team := r
			team.Parallel = &ask.Parallel{Engine: engine.Multicore, Threads: 3, Size: 1000 + rng.IntN(9000)}
			check("team", one, team, want)
			check("team in segments", all, team, want)
			within := r
			set := docset.New(len(p.Lengths))
			for d := range len(p.Lengths) {
				if rng.IntN(5) == 0 {
					set.Add(uint32(d))
				}
			}
			within.Within = &ask.Within{Sets: []*docset.Set{set}}
			every := p.Search(t, s.e.Index, r.Words, len(p.Lengths), ask.Or, model.Impact{})
			check("within", one, within, admitted(every, r.K, set))
		}
	}
	if taken == 0 {
		t.Error("no query was answered by copies of lists")
	}
}

// atLeast returns the hits of at least a score.
func atLeast(hits []ask.Hit, score float32) []ask.Hit {
	n, _ := slices.BinarySearchFunc(hits, score, func(h ask.Hit, s float32) int {
		if h.Score >= s {
			return -1
		}
		return 1
	})
	return hits[:n]
}

// Weights that are no whole numbers, and sums that float32 does not have, are left to the other
// strategies, whose sums are in the order of the query.
func TestImpactsWantWholeWeights(t *testing.T) {
	p := searchtest.Weighted(rand.New(rand.NewPCG(493, 494)), 9000, 12)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	for _, c := range []struct {
		weight float64
		want   bool
	}{{100, true}, {1, true}, {2.5, false}, {0.25, false}, {maxFactor, false}, {40_000, false}} {
		var words []ask.Word
		for _, w := range p.Words {
			words = append(words, ask.Word{Text: w, Weight: c.weight})
		}
		got, err := s.Search(context.Background(), ask.Request{Words: words, K: 20})
		if err != nil {
			t.Fatal(err)
		}
		if took := got.Stats.Strategy == ask.OrImpacts; took != c.want {
			t.Errorf("weight %v: strategy %v", c.weight, got.Stats.Strategy)
		}
		if want := p.Search(t, s.e.Index, words, 20, ask.Or, model.Impact{}); !slices.Equal(got.Hits, want) {
			t.Errorf("weight %v: got %v, want %v", c.weight, got.Hits, want)
		}
	}
}

// Bounds of blocks leave most postings of a topical query out.
func TestImpactsSkip(t *testing.T) {
	rng := rand.New(rand.NewPCG(495, 496))
	p := &searchtest.Plain{Lengths: make([]uint32, 10*index.TileDocs), Analyzer: "impact"}
	for w := range 10 {
		var list, tfs []uint32
		for d := range p.Lengths {
			high := d/100%37 == 3 // where all words have high weights
			if high || rng.IntN(4) == 0 {
				tf := 1 + rng.Uint32N(60)
				if high {
					tf += 150
				}
				list, tfs = append(list, uint32(d)), append(tfs, tf)
			}
		}
		p.Words = append(p.Words, fmt.Sprint("w", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	var words []ask.Word
	for _, w := range p.Words {
		words = append(words, ask.Word{Text: w, Weight: 10})
	}
	got, err := s.Search(context.Background(), ask.Request{Words: words, K: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got.Stats.Scored*4 > got.Stats.Postings || got.Stats.Strategy != ask.OrImpacts {
		t.Errorf("%d of %d postings were scored by %v; want at most a quarter", got.Stats.Scored,
			got.Stats.Postings, got.Stats.Strategy)
	}
}
