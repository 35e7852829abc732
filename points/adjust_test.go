package points

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The step-down maximum is its definition: the q of a test is the largest share, over the tests
// observed at least as high, of rounds in which any test observed at most as high reaches them.
func TestStepDownIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 8))
	for trial := range trials.Cases(200) {
		tests, rounds := 1+rng.IntN(8), 1+rng.IntN(12)
		draw := func() []float64 {
			out := make([]float64, tests)
			for i := range out {
				if out[i] = float64(rng.IntN(6)); rng.IntN(8) == 0 {
					out[i] = math.NaN()
				}
			}
			return out
		}
		observed := draw()
		s := NewStepDown(observed)
		drawn, rests := make([][]float64, rounds), make([]float64, rounds)
		for r := range drawn {
			if drawn[r], rests[r] = draw(), math.Inf(-1); rng.IntN(3) == 0 {
				rests[r] = float64(rng.IntN(6))
			}
			s.Add(drawn[r], rests[r])
		}
		want := make([]float64, tests)
		for i, v := range observed {
			if want[i] = 0; math.IsNaN(v) {
				want[i] = math.NaN()
			}
			for _, u := range observed {
				if !(u >= v) {
					continue
				}
				beaten := 1
				for r, of := range drawn {
					most := rests[r]
					for j, x := range of {
						if observed[j] <= u && x > most {
							most = x
						}
					}
					if most >= u {
						beaten++
					}
				}
				want[i] = max(want[i], float64(beaten)/float64(1+rounds))
			}
		}
		if got := s.Q(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("trial %d: %v of %v in %v, want %v", trial, got, observed, drawn, want)
		}
	}
}

// With 99 rounds and 40 tests, of which 10 are far from chance, Benjamini and Hochberg's method can
// find all ten, but not one alone; the step-down maximum finds one, too. Without any it is wrong in
// 5% of the runs.
func TestStepDownNeedsFewRounds(t *testing.T) {
	const tests, rounds = 40, 99
	rng := rand.New(rand.NewPCG(5, 5))
	run := func(planted int) (step, fdr int) {
		observed, drawn := make([]float64, tests), make([][]float64, rounds)
		for i := range observed {
			if observed[i] = math.Abs(rng.NormFloat64()); i < planted {
				observed[i] += 8
			}
		}
		s := NewStepDown(observed)
		p := make([]float64, tests)
		for r := range drawn {
			drawn[r] = make([]float64, tests)
			for i := range drawn[r] {
				if drawn[r][i] = math.Abs(rng.NormFloat64()); drawn[r][i] >= observed[i] {
					p[i] += 1.0 / (rounds + 1)
				}
			}
			s.Add(drawn[r], math.Inf(-1))
		}
		for i := range p {
			p[i] += 1.0 / (rounds + 1)
		}
		q := s.Q()
		for i, v := range BenjaminiHochberg(p, tests) {
			if v <= 0.05 {
				fdr++
			}
			if q[i] <= 0.05 {
				step++
			}
		}
		return step, fdr
	}
	if step, fdr := run(1); step < 1 || fdr != 0 {
		t.Errorf("one of 40: %d found by the maximum, %d by rate", step, fdr)
	}
	if step, fdr := run(10); step < 10 || fdr < 10 {
		t.Errorf("ten of 40: %d found by the maximum, %d by rate", step, fdr)
	}
	wrong := 0
	for range 400 {
		if step, _ := run(0); step > 0 {
			wrong++
		}
	}
	if wrong < 8 || wrong > 34 { // 20 on average
		t.Errorf("wrong in %d of 400 runs, want about 5%%", wrong)
	}
}
