package points

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/engine"
)

// Independent features are rarely found to be dependent, also where the study area is no rectangle
// or where all features are common in the same parts of it. bench/calibration has more, and the
// shares that many simulations give.
func TestNullsAreCalibrated(t *testing.T) {
	const sims, bound = 40, 0.14
	const l = "POLYGON ((0 0, 1000 0, 1000 500, 500 500, 500 1000, 0 1000))"
	const strip = "POLYGON ((0 0, 200 0, 1000 800, 1000 1000, 800 1000, 0 200))"
	for i, c := range []struct {
		name, area string
		shared     bool
		given      bool // the study area, or else it is estimated
	}{
		{"L", l, false, true},
		{"an estimated strip", strip, false, false},
		{"a density in an L", l, true, true},
	} {
		if testing.Short() && i > 0 {
			break // the others take as long again, each
		}
		w := windowOf(t, c.area)
		low := func(null Null, window *Window, estimate bool) float64 {
			hits, all := 0, 0
			for sim := range sims {
				p := drawnIn(w, uint64(sim), 80, 3)
				if c.shared {
					crowdInto(p, w, uint64(sim))
				}
				if p.Window = window; estimate {
					p.Window = nil
				}
				curves, err := Curves(t.Context(), p, CurveOptions{Most: 80, Bins: 6, Rounds: 19, Null: null,
					Seed: uint64(sim), Engine: Engine{Kind: engine.Sequential}})
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range curves {
					if all++; c.P <= 0.05 {
						hits++
					}
				}
			}
			return float64(hits) / float64(all)
		}
		box := windowOf(t, "POLYGON ((0 0, 1000 0, 1000 1000, 0 1000))")
		now, before := low(Inhomogeneous, w, !c.given), low(Shift, box, false)
		t.Logf("%s: %.0f%% of pairs with p of at most 0.05; shifted in the rectangle %.0f%%", c.name, 100*now, 100*before)
		// Pairs of one simulation share features, so shares vary: with 5% of all pairs, three
		// standard deviations are about 0.09.
		if now > bound {
			t.Errorf("%s: %.0f%% of pairs with p of at most 0.05", c.name, 100*now)
		}
		if before <= bound { // what was the default until it was found to be wrong
			t.Errorf("%s: shifts in the rectangle found %.0f%% of pairs: the test shows nothing", c.name, 100*before)
		}
	}
}

// crowdInto draws four of five points again from a density around two centres.
func crowdInto(p *Set, w *Window, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	centres := [][2]float64{{250, 300}, {700, 200}}
	for i := range p.X {
		for k := rng.IntN(5); k > 0; {
			c := centres[k%2]
			x, y := c[0]+120*rng.NormFloat64(), c[1]+120*rng.NormFloat64()
			if w.Contains(x, y) {
				p.X[i], p.Y[i] = x, y
				break
			}
		}
	}
}
