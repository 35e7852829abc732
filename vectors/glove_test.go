package vectors

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/cooccur"
)

// Training takes the steps of Stanford's glove.c. The test repeats them in double precision, with
// the same order of cells.
func TestStepsAreStanfords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	var text []byte
	for range 4000 {
		text = append(text, byte('a'+min(rng.IntN(12), rng.IntN(12))), ' ')
	}
	m := matrixWith(t, string(text), cooccur.VocabularyOptions{}, cooccur.Options{Window: 4})
	const rate, epochs = 0.05, 4
	o := GloVeOptions{Dim: 8, Epochs: epochs, XMax: 100, Rate: rate, Seed: 3, Threads: 1}
	if err := o.settle(m); err != nil {
		t.Fatal(err)
	}
	s, err := newSchedule(t.Context(), m, &o)
	if err != nil {
		t.Fatal(err)
	}
	ours := &training{schedule: s, o: &o, losses: make([]float64, s.groups),
		words: newParameters(m.Len(), &o, 0), contexts: newParameters(m.Len(), &o, 1)}
	// Vectors with their biases last, and the sums of their squared gradients.
	type side struct{ w, squares [][]float64 }
	copied := func(p *parameters) (c side) {
		for i := range m.Len() {
			row, _ := p.of(uint32(i))
			w, squares := make([]float64, o.Dim+1), make([]float64, o.Dim+1)
			for k := range o.Dim {
				w[k], squares[k] = float64(row[k]), 1
			}
			w[o.Dim], squares[o.Dim] = float64(row[p.dim]), 1
			c.w, c.squares = append(c.w, w), append(c.squares, squares)
		}
		return c
	}
	words, contexts := copied(ours.words), copied(ours.contexts)
	step := func(c cell) {
		w, v, ws, vs := words.w[c.row], contexts.w[c.col], words.squares[c.row], contexts.squares[c.col]
		diff := w[o.Dim] + v[o.Dim] - float64(c.log)
		for k := range o.Dim {
			diff += w[k] * v[k]
		}
		fdiff := float64(c.weight) * diff
		for k := range o.Dim {
			a, b := fdiff*v[k]*rate, fdiff*w[k]*rate
			w[k] -= a / math.Sqrt(ws[k])
			v[k] -= b / math.Sqrt(vs[k])
			ws[k] += a * a
			vs[k] += b * b
		}
		w[o.Dim] -= fdiff / math.Sqrt(ws[o.Dim])
		v[o.Dim] -= fdiff / math.Sqrt(vs[o.Dim])
		ws[o.Dim] += fdiff * fdiff
		vs[o.Dim] += fdiff * fdiff
	}
	for range epochs {
		strata := rng.Perm(s.groups)
		for _, stratum := range strata {
			for g := range s.groups {
				block := stratum*s.groups + g
				for _, c := range s.cells[s.begin(block):s.ends[block]] {
					step(c)
				}
			}
		}
		if err := ours.epoch(t.Context(), strata); err != nil {
			t.Fatal(err)
		}
	}
	for i := range m.Len() {
		row, _ := ours.words.of(uint32(i))
		for k, want := range words.w[i] {
			got := row[k%o.Dim]
			if k == o.Dim {
				got = row[ours.words.dim]
			}
			if math.Abs(float64(got)-want) > 1e-4 {
				t.Fatalf("word %d, number %d: %v, Stanford's %v", i, k, got, want)
			}
		}
	}
}
