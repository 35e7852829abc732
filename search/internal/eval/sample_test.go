package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// sampled returns an index of eight words. A document has each of them with probability share.
func sampled(t *testing.T, share func(doc int) float64) (*searchtest.Plain, *Searcher, []ask.Word) {
	rng := rand.New(rand.NewPCG(101, 102))
	p := &searchtest.Plain{}
	for range 70_000 {
		p.Lengths = append(p.Lengths, 5+uint32(rng.ExpFloat64()*20))
	}
	var words []ask.Word
	for w := range 8 {
		var list, tfs []uint32
		for d := range p.Lengths {
			if rng.Float64() < share(d) {
				list, tfs = append(list, uint32(d)), append(tfs, 1+rng.Uint32N(3))
			}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs, p.TFs = append(p.Docs, list), append(p.TFs, tfs)
		words = append(words, ask.Word{Text: p.Words[w], Weight: 1})
	}
	return p, write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0)), words
}

// Whether the sample is representative or not, the answers are those of the definition, and the
// statistics name the strategy that gave them.
func TestSample(t *testing.T) {
	inSample := func(d int) bool { return d/sampleWindow%sampleLeast == sampleLeast/2 }
	for _, c := range []struct {
		name  string
		share func(doc int) float64
		ks    []int
		right bool
	}{
		{"uniform", func(int) float64 { return 0.1 }, []int{60, 300, 1000}, true},
		{"clusters", func(d int) float64 {
			if d/100%10 == 3 {
				return 0.4
			}
			return 0.03
		}, []int{60, 300, 1000}, true},
		{"the best in the sample only", func(d int) float64 {
			if inSample(d) && d%4 == 0 {
				return 0.95
			}
			return 0.02
		}, []int{1000}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s, words := sampled(t, c.share)
			for _, k := range c.ks {
				got, err := s.Search(context.Background(), ask.Request{Words: words, K: k})
				if err != nil {
					t.Fatal(err)
				}
				want := p.Search(t, s.e.Index, words, k, ask.Or, model.BM25{})
				if !slices.Equal(got.Hits, want) {
					t.Fatalf("k %d: got %v, want %v", k, searchtest.Head(got.Hits), searchtest.Head(want))
				}
				m := got.Stats.Strategy
				if believed := m == ask.OrSample; believed != c.right {
					t.Errorf("k %d: strategy %v; want one with a sample: %v", k, m, c.right)
				}
			}
		})
	}
}
