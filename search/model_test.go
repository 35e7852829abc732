package search

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/index"
)

// Every bound of every list, second-level entry and block is at least the score of each posting under it:
// all models on random indexes.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	root := scratch(t)
	for i := range 60 {
		p := randomPlain(rng, 3000, 6)
		s := p.write(t, indexDir(root, i))
		for _, m := range testModels {
			for _, word := range p.words {
				q, err := s.prepare(context.Background(), &Request{Words: []Word{{word, float64(1 + rng.IntN(3))}}, Model: m})
				if err != nil {
					t.Fatal(err)
				}
				l := q.lists[0]
				for b := range l.Blocks() {
					docs := l.Load(b)
					bound := l.bound(l.Bounds[b])
					super := l.bound(l.Super[b/index.SuperBlocks])
					for j, tf := range l.TFs() {
						score := l.score(tf, p.lengths[docs[j]])
						if !(score <= bound && bound <= super) || !(score >= 0) {
							t.Fatalf("%v, tf %d, length %d: score %v, bounds %v, %v", m, tf, p.lengths[docs[j]], score, bound, super)
						}
						// Those that the algorithms use, which may be lower.
						near, far := l.boundOf(b), l.boundOfRuns(b/index.SuperBlocks, b/index.SuperBlocks+1)
						if !(float64(score) <= near && near <= far && far <= l.max) {
							t.Fatalf("%v, tf %d, length %d: score %v, best of block, run, list %v, %v, %v", m, tf, p.lengths[docs[j]], score, near, far, l.max)
						}
					}
				}
				s.release(q)
			}
		}
	}
}

// The models against their formulas in plain float64.
func TestModelsAreTheirFormulas(t *testing.T) {
	c := &collection{docs: 1000, tokens: 150_000}
	term := queryTerm{weight: 2, info: index.Term{DF: 40, CF: 90}}
	other := queryTerm{weight: 1, info: index.Term{DF: 7, CF: 7}}
	rng := rand.New(rand.NewPCG(8, 9))
	for range 2000 {
		length := uint32(rng.IntN(100_000)) + 2
		tf := min(uint32(rng.ExpFloat64()*5)+1, length-1)
		f, l := float64(tf), float64(length)
		norm := math.Hypot(2*math.Log(1+1000.0/40), math.Log(1+1000.0/7))
		share := f / l
		for _, m := range []struct {
			model Model
			want  float64
		}{
			{Cosine{}, 2 * math.Log(1+1000.0/40) / norm * math.Sqrt(f/l)},
			{Dirichlet{Mu: 300}, 2 * max(0, math.Log((f+300*90/150_000.0)/(l+300))-math.Log(300*90/150_000.0/(l+300))+math.Log(300/(l+300)))},
			{DPH{}, 2 * max(0, (1-share)*(1-share)/(f+1)*(f*math.Log2(f*150/l*1000/90)+0.5*math.Log2(2*math.Pi*f*(1-share))))},
		} {
			w, err := m.model.weigher(c)
			if err != nil {
				t.Fatal(err)
			}
			got := float64(w.scorer(&term, w.queryNorm([]queryTerm{term, other})).score(tf, length))
			if math.Abs(got-m.want) > 1e-5*(1+m.want) {
				t.Fatalf("%v, tf %d, length %d: %v, want %v", m.model, tf, length, got, m.want)
			}
		}
	}
}

func TestModelNames(t *testing.T) {
	for _, name := range Models() {
		m, err := ParseModel(name)
		if err != nil || len(m.String()) < len(name) || m.String()[:len(name)] != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	if _, err := ParseModel("tfidf"); err == nil {
		t.Error("tfidf was taken")
	}
	c := &collection{}
	for _, m := range []Model{BM25{K1: -1}, BM25{K1: 1, B: 2}, Dirichlet{Mu: -1}, Dirichlet{Mu: math.NaN()}} {
		if _, err := m.weigher(c); err == nil {
			t.Errorf("%v was taken", m)
		}
	}
}
