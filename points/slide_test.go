package points

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/engine"
)

// Sums of features that slid are compared with their definition, with a shared density and without.
func TestSlidesFollowFromTheDefinition(t *testing.T) {
	p := drawnIn(windowOf(t, holed), 4, 60, 3)
	l, err := newFramed(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	const most, bins = 1.5, 5
	for _, bandwidth := range []float64{0, 2} {
		m, err := l.model(t.Context(), p, NullOptions{Bandwidth: bandwidth}, true)
		if err != nil {
			t.Fatal(err)
		}
		if m.slides == nil || (m.slides.weight != nil) != (bandwidth > 0) {
			t.Fatalf("bandwidth %v: slides %+v, want weights if there is a density", bandwidth, m.slides)
		}
		by := m.slides.draw(rand.New(rand.NewPCG(1, 2)), 3)
		some := newSomePairs([][2]int32{{0, 1}}, 3)
		moved := l.slid(m.slides, by)
		for _, of := range []*somePairs{nil, some} {
			sums, err := moved.sumPairs(t.Context(), 2, bins, most, true, of)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, bins)
			for i := range p.X {
				for j := range p.X {
					if p.Feature[i] != 0 || p.Feature[j] != 1 {
						continue
					}
					// The points before they moved, and after.
					hx, hy := l.x[j]-l.x[i], l.y[j]-l.y[i]
					d := math.Hypot(hx+by[1][0]-by[0][0], hy+by[1][1]-by[0][1])
					if d > most {
						continue
					}
					w := l.area() / max(l.area()/16, m.slides.all.of(hx, hy))
					if m.slides.weight != nil {
						w *= m.slides.weight[i] * m.slides.weight[j]
					}
					want[max(0, int(math.Ceil(d/most*bins))-1)] += w
				}
			}
			for b, w := range want {
				if got := float64(sums.weighted[sums.unordered(0, 1)+b]) / weightUnit; math.Abs(got-w) > 1e-5*(1+w) {
					t.Errorf("bandwidth %v, some %t: ring %d has %v, want %v", bandwidth, of != nil, b, got, w)
				}
			}
		}
	}
}

// A shift leaves clusters as they are, so clustered features are rarely found to be dependent where
// the study area is narrow, and attraction that was planted is found.
func TestSlidesAreCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a while")
	}
	w := windowOf(t, "POLYGON ((0 0, 200 0, 1000 800, 1000 1000, 800 1000, 0 200))")
	low := func(planted int) (hits int) {
		for sim := range 40 {
			p := drawnIn(w, uint64(sim), 80, 2)
			rng := rand.New(rand.NewPCG(uint64(sim), 4))
			for f := range 2 { // clusters of ten
				for i := f * 80; i < f*80+80; i++ {
					centre := i / 10 * 10
					for i > centre {
						p.X[i], p.Y[i] = p.X[centre]+25*rng.NormFloat64(), p.Y[centre]+25*rng.NormFloat64()
						if w.Contains(p.X[i], p.Y[i]) {
							break
						}
					}
				}
			}
			for i := range planted {
				if x, y := p.X[i*3]+5, p.Y[i*3]-5; w.Contains(x, y) {
					p.X[80+i], p.Y[80+i] = x, y
				}
			}
			c, err := Curves(t.Context(), p, CurveOptions{Most: 80, Bins: 6, Rounds: 39, Seed: uint64(sim),
				Engine: Engine{Kind: engine.Sequential}})
			if err != nil {
				t.Fatal(err)
			}
			if c[0].P <= 0.05 {
				hits++
			}
		}
		return hits
	}
	independent, dependent := low(0), low(26)
	t.Logf("%d of 40 independent pairs with p of at most 0.05, %d of 40 dependent ones", independent, dependent)
	// With a share of 5%, more than seven of 40 come up once in 300 times; the seeds are fixed.
	if independent > 7 || dependent < 20 {
		t.Errorf("%d of 40 independent pairs with p of at most 0.05, %d of 40 dependent ones: want at most 7, at least 20",
			independent, dependent)
	}
}
