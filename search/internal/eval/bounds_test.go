package eval

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// The bounds of lists, of second-level entries and of blocks are at least the scores of their
// postings, for all models on random indexes.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	root := searchtest.Scratch(t)
	for i := range 60 / trials.Every(6) {
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
						// The bounds that the algorithms use may be lower.
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

// The bound of a window covers all its postings, wherever in a block the window ends. In this list,
// each block has a higher bound than the one before. The exact bound comes from the blocks of the
// window alone; the coarse one may cover more.
func TestBoundsOfWindowsHold(t *testing.T) {
	const blocks = 40
	p := &searchtest.Plain{Words: []string{"w"}, Docs: [][]uint32{nil}, TFs: [][]uint32{nil}}
	for d := range uint32(blocks * index.BlockSize) {
		p.Lengths = append(p.Lengths, 1000)
		p.Docs[0], p.TFs[0] = append(p.Docs[0], d), append(p.TFs[0], 1+d/index.BlockSize)
	}
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	for _, m := range searchtest.TestModels {
		q, err := s.e.Prepare(t.Context(),
			&ask.Request{Words: []ask.Word{{Text: "w", Weight: 1}}, Model: m})
		if err != nil {
			t.Fatal(err)
		}
		l := q.Lists[0]
		for from := range l.Blocks() {
			l.look(p.Docs[0][from*index.BlockSize])
			for last := from; last < l.Blocks(); last++ {
				for _, to := range []uint32{l.Last[last] - index.BlockSize + 2, l.Last[last], l.Last[last] + 1} {
					want := 0.0
					for b := from; b <= last; b++ {
						want = max(want, l.boundOf(b))
					}
					exact, coarse := l.boundUntil(to, -1), l.boundUntil(to, math.MaxFloat64)
					q.cut = 0 // the same for a list beside the leading one in mode And
					beside, _ := q.boundOthers([]*list{nil, l}, l.Last[from], to-1)
					if exact != want || coarse < want || beside != want {
						t.Fatalf("%v, blocks %d to %d, before document %d: bounds %v, %v and %v, want %v", m,
							from, last, to, exact, coarse, beside, want)
					}
				}
			}
		}
		s.e.Release(q)
	}
}
