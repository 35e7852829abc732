package eval

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Every bound of every list, second-level entry and block is at least the score of each posting
// under it: all models on random indexes.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	root := searchtest.Scratch(t)
	for i := range 60 {
		p := searchtest.RandomPlain(rng, 3000, 6)
		s := write(t, p, searchtest.IndexDir(root, i))
		for _, m := range searchtest.TestModels {
			for _, word := range p.Words {
				q, err := s.e.Prepare(context.Background(),
					&ask.Request{Words: []ask.Word{{Text: word, Weight: float64(1 + rng.IntN(3))}},
						Model: m})
				if err != nil {
					t.Fatal(err)
				}
				l := q.Lists[0]
				for b := range l.Blocks() {
					docs := l.Load(b)
					bound := l.bound(l.Bounds[b])
					super := l.bound(l.Super[b/index.SuperBlocks])
					for j, tf := range l.TFs() {
						score := l.Score(tf, p.Lengths[docs[j]])
						if !(score <= bound && bound <= super) || !(score >= 0) {
							t.Fatalf("%v, tf %d, length %d: score %v, bounds %v, %v", m, tf,
								p.Lengths[docs[j]], score, bound, super)
						}
						// Those that the algorithms use, which may be lower.
						near, far := l.boundOf(b), l.boundOfRuns(b/index.SuperBlocks, b/index.SuperBlocks+1)
						if !(float64(score) <= near && near <= far && far <= l.max) {
							t.Fatalf("%v, tf %d, length %d: score %v, best of block, run, list %v, %v, %v", m, tf, p.Lengths[docs[j]], score, near, far, l.max)
						}
					}
				}
				s.e.Release(q)
			}
		}
	}
}
