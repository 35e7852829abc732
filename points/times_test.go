package points

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
)

// timedPoints draws points of two features with times of some weeks.
func timedPoints(rng *rand.Rand, n int, within *Window) *Set {
	p := &Set{Features: []string{"A", "B"}, CRS: Plane, Window: within}
	for len(p.X) < n {
		x, y := 100*rng.Float64(), 100*rng.Float64()
		if within != nil && !within.Contains(x, y) {
			continue
		}
		p.X, p.Y = append(p.X, x), append(p.Y, y)
		p.Feature, p.Time = append(p.Feature, int32(len(p.X)%2)), append(p.Time, rng.Int64N(30)*86400)
	}
	return p
}

// Space-time K is its definition: the sum over pairs near in time of the area divided by the
// overlap, divided by the number of pairs near in time wherever they are.
func TestSpaceTimeKIsItsDefinition(t *testing.T) {
	const within = 3 * 86400
	rng := rand.New(rand.NewPCG(8, 3))
	window, err := ParseWindow([]byte("POLYGON ((0 0, 100 0, 100 50, 50 50, 50 100, 0 100))"), Plane)
	if err != nil {
		t.Fatal(err)
	}
	square, err := ParseWindow([]byte("POLYGON ((0 0, 100 0, 100 100, 0 100))"), Plane)
	if err != nil {
		t.Fatal(err)
	}
	for trial := range trials.Cases(12) {
		w := []*Window{square, window}[trial%2]
		p := timedPoints(rng, 60, w)
		pair := [][2]int32{{0, 1}, {0, 0}, {1, 0}}[trial%3]
		curves, err := Curves(t.Context(), p, CurveOptions{Most: 20, Bins: 5, Within: within, Pairs: [][2]int32{pair}})
		if err != nil {
			t.Fatal(err)
		}
		l, err := newFramed(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		c := curves[0]
		for b, r := range c.R {
			sum, near, with := 0.0, 0.0, 0
			for i := range p.X {
				some := false
				for j := range p.X {
					d := p.Time[i] - p.Time[j]
					if i == j || p.Feature[i] != pair[0] || p.Feature[j] != pair[1] || max(d, -d) > within {
						continue
					}
					near++
					dx, dy := p.X[j]-p.X[i], p.Y[j]-p.Y[i]
					if math.Sqrt(dx*dx+dy*dy) <= r {
						sum += l.area() / overlapOf(l, dx, dy)
						some = true
					}
				}
				if some {
					with++
				}
			}
			if want := l.area() * sum / near; math.Abs(c.K[b]-want) > 1e-9*want {
				t.Errorf("trial %d: K(%v) = %v, want %v", trial, r, c.K[b], want)
			}
			if c.Near[0][b] != int64(with) {
				t.Errorf("trial %d: %d points of the first feature have one near, want %d", trial, c.Near[0][b], with)
			}
		}
		some, err := Curves(t.Context(), p, CurveOptions{Most: 20, Bins: 5, Within: 100 * 86400, Pairs: [][2]int32{pair}})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Curves(t.Context(), p, CurveOptions{Most: 20, Bins: 5, Pairs: [][2]int32{pair}})
		if err != nil {
			t.Fatal(err)
		}
		for b, k := range all[0].K {
			if math.Abs(some[0].K[b]-k) > 1e-9*k || math.Abs(some[0].PCF[b]-all[0].PCF[b]) > 1e-9 {
				t.Errorf("trial %d: with all times near, K is %v, and %v without times", trial, some[0].K[b], k)
			}
		}
	}
}

func overlapOf(l *plane, dx, dy float64) float64 {
	if l.o.rect {
		return (l.width - math.Abs(dx)) * (l.depth - math.Abs(dy))
	}
	return l.o.overlap(dx, dy)
}

// Along routes that were surveyed for both features, at times of their own, positions attract and
// times do not; where one follows the other within days, both do.
func TestRoutesAreNoAttractionInTime(t *testing.T) {
	draw := func(seed uint64, follows bool) *Set {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := &Set{Features: []string{"A", "B"}, CRS: Plane}
		for i := range 160 {
			x, y, at := 1000*rng.Float64(), 500+10*rng.NormFloat64(), rng.Int64N(365)*86400
			if i%2 == 1 && follows && rng.IntN(3) == 0 {
				x, y, at = p.X[i-1]+5, p.Y[i-1], p.Time[i-1]+86400
			}
			p.X, p.Y, p.Feature, p.Time = append(p.X, x), append(p.Y, y), append(p.Feature, int32(i%2)), append(p.Time, at)
		}
		p.X, p.Y = append(p.X, 0, 1000), append(p.Y, 0, 1000) // the area is the square
		p.Feature, p.Time = append(p.Feature, 0, 1), append(p.Time, 0, 0)
		p.Window, _ = ParseWindow([]byte("POLYGON ((-100 -100, 1100 -100, 1100 1100, -100 1100))"), Plane)
		return p
	}
	low := func(follows bool, runs int, o CurveOptions) (n int) {
		o.Most, o.Bins, o.Rounds, o.Pairs, o.Engine = 60, 6, 39, [][2]int32{{0, 1}}, Engine{Kind: engine.Sequential}
		for run := range runs {
			o.Seed = uint64(run)
			c, err := Curves(t.Context(), draw(uint64(run), follows), o)
			if err != nil {
				t.Fatal(err)
			}
			if c[0].P <= 0.05 {
				n++
			}
		}
		return n
	}
	runs := trials.Cases(60)
	if n := low(false, runs, CurveOptions{Null: Times, Within: 7 * 86400}); n > runs/8 {
		t.Errorf("routes attract in time in %d of %d runs", n, runs)
	}
	if n := low(false, 10, CurveOptions{Null: Shift}); n < 9 {
		t.Errorf("routes attract in space in %d of 10 runs", n)
	}
	if n := low(true, 10, CurveOptions{Null: Times, Within: 7 * 86400}); n < 9 {
		t.Errorf("what follows within days is found in %d of 10 runs", n)
	}
}

func TestSpaceTimeKRefuses(t *testing.T) {
	p := timedPoints(rand.New(rand.NewPCG(1, 1)), 40, nil)
	bare := *p
	bare.Time = nil
	for _, c := range []struct {
		p    *Set
		o    CurveOptions
		want string
	}{
		{&bare, CurveOptions{Within: 5}, "have no times"},
		{p, CurveOptions{Within: -1}, "0 or more seconds"},
		{p, CurveOptions{Within: 5, Intensity: Shared}, "inhomogeneous K has no times"},
		{p, CurveOptions{Within: 5, Null: Cluster, Rounds: 9}, "positions without times"},
		{p, CurveOptions{Null: Times, Rounds: 9}, "only with points.CurveOptions.Within"},
	} {
		if _, err := Curves(t.Context(), c.p, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	told := ""
	o := CurveOptions{Within: 5 * 86400, Rounds: 19, Null: Relabel, Engine: Engine{Kind: engine.GPU},
		Tell: func(note string) { told += note }}
	if _, err := Curves(t.Context(), p, o); err != nil || !strings.Contains(told, "knows no times") {
		t.Errorf("on a GPU: %v, %q", err, told)
	}
	// Pairs of which none is near in time say nothing.
	for i := range p.Time {
		p.Time[i] = int64(i) * 1e6
	}
	c, err := Curves(t.Context(), p, CurveOptions{Within: 1, Rounds: 19, Null: Times})
	if err != nil || c[0].P != 1 || !math.IsNaN(c[0].K[0]) {
		t.Errorf("no pair is near in time: %v, p %v, K %v", err, c[0].P, c[0].K)
	}
}
