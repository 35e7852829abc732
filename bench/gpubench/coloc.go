package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
)

// placesJob compares and measures co-location.
var placesJob = Job{
	Name: "places",
	Suites: []check.Suite{
		{Name: "places: ours", Run: tryPlaces(coloc.Auto, 300_000, 0)},
		{Name: "places: ours in 64 MB", Run: tryPlaces(coloc.Auto, 100_003, 64<<20)},
		{Name: "places: sgct", Run: tryPlaces(coloc.SGCT, 20_000, 0)},
		{Name: "places: sgct-rows", Run: tryPlaces(coloc.SGCTRows, 20_000, 0)},
	},
	Measure: measurePlaces,
}

// tryPlaces compares the patterns of an algorithm on the device with those of the CPU, for up to
// most points: uniform and clustered, all patterns and maximal ones, in the plane and on the
// sphere. memory bounds the device's memory.
func tryPlaces(algorithm coloc.Algorithm, most int, memory int64) func(t *check.Trial) error {
	return func(t *check.Trial) (err error) {
		most := most
		if t.Dev.Info().Emulated { // which is slow, most of all for SGCT's trees of candidates
			most = 400
			if algorithm != coloc.Auto {
				most = 100
			}
		}
		d, err := coloc.OpenGPU(t.Dev.Which(memory))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		for _, n := range t.Sizes {
			n = min(n, most)
			side := placesbench.SideFor(max(n, 1), 8, 1)
			for i, o := range []coloc.Options{
				{Distance: 1, MinPrevalence: 0.1},
				{Distance: 1.5, MinPrevalence: 0.25, All: true},
				{Distance: 111_000, MinPrevalence: 0.2, Geographic: true},
			} {
				make := placesbench.Even
				if i == 1 {
					make = placesbench.Clustered
				}
				pts := make(n, 12, side)
				if o.Geographic {
					o.Distance *= onSphere(pts, side)
				}
				o.Algorithm, o.Engine, o.GPU = algorithm, engine.GPU, d
				if err := samePatterns(t, fmt.Sprintf("%d points, options %d", n, i), pts, o); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// onSphere changes the coordinates of a square to degrees around the antimeridian. A unit becomes
// scale degrees: 1, or less if the square would be larger than 60 degrees.
func onSphere(pts *coloc.Points, side float64) (scale float64) {
	scale = min(1, 60/side)
	for i := range pts.X {
		pts.X[i] = 180 + (pts.X[i]-side/2)*scale
		pts.Y[i] = (pts.Y[i] - side/2) * scale
	}
	return scale
}

func samePatterns(t *check.Trial, what string, pts *coloc.Points, o coloc.Options) error {
	got, err := coloc.Mine(t.Ctx, pts, o)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	o.Engine, o.GPU, o.Algorithm = engine.Multicore, nil, coloc.Auto
	want, err := coloc.Mine(t.Ctx, pts, o)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return check.Same(t, what, patternNumbers(got), patternNumbers(want))
}

// patternNumbers returns the patterns as one list of numbers, for comparison.
func patternNumbers(r *coloc.Result) (out []int64) {
	for _, p := range r.Patterns {
		out = append(out, int64(len(p.Features)), int64(math.Float64bits(p.Index)))
		for i, f := range p.Features {
			out = append(out, int64(f), p.Counts[i])
		}
	}
	return out
}

// measurePlaces measures the figures of co-location.
func measurePlaces(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	d, err := coloc.OpenGPU(dev.Which(0))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	rounds := 5
	size := func(n int) int { return n }
	if quick {
		rounds = 1
		size = func(n int) int { return max(60, n/20_000) }
	}
	n := size(1_000_000)
	join, pairs, err := d.JoinTime(ctx, placesbench.Even(n, 50, placesbench.SideFor(n, 10, 1)), 1, rounds)
	if err != nil {
		return out, err
	}
	out = append(out, wanted(fmt.Sprintf("places: join, %d pairs", pairs), n, join.Seconds(), 0,
		0.5e-3, "at most 0.5 ms on the device"))

	n = size(10_000_000)
	took, err := timeMine(ctx, placesbench.Even(n, 50, placesbench.SideFor(n, 10, 1)),
		coloc.Options{Distance: 1, MinPrevalence: 0.1, Engine: engine.GPU, GPU: d}, rounds)
	if err != nil {
		return out, err
	}
	out = append(out, wanted(fmt.Sprintf("places: %d points, 50 features", n), n, took, 0, 1, "at most 1 s"))

	for _, c := range []struct {
		points     *coloc.Points
		distance   float64
		prevalence float64
		dense      bool
	}{
		{placesbench.Even(size(3000), 20, 1000), 3, 0.2, false},
		{placesbench.Even(size(30_000), 20, 1000), 5, 0.5, false},
		{placesbench.Even(size(65_000), 20, 1000), 5, 0.2, false},
		{placesbench.Even(size(200_000), 20, 1000), 3, 0.2, false},
		{placesbench.Clustered(size(200_000), 20, 1000), 6, 0.1, true},
	} {
		name := fmt.Sprintf("%d points, distance %v, prevalence %v", c.points.Len(), c.distance, c.prevalence)
		o := coloc.Options{Distance: c.distance, MinPrevalence: c.prevalence, Engine: engine.GPU, GPU: d}
		device, err := timeMine(ctx, c.points, o, rounds)
		if err != nil {
			return out, err
		}
		o.Engine = engine.Auto
		auto, err := timeMine(ctx, c.points, o, rounds)
		if err != nil {
			return out, err
		}
		o.GPU = nil
		cores := math.Inf(1)
		for _, e := range []engine.Kind{engine.Sequential, engine.Multicore} {
			if e == engine.Sequential && c.points.Len() > 30_000 {
				continue
			}
			o.Engine = e
			took, err := timeMine(ctx, c.points, o, min(rounds, 3))
			if err != nil {
				return out, err
			}
			cores = min(cores, took)
		}
		bench := check.Bench{Name: fmt.Sprintf("places: %s: %.1fx", name, cores/device),
			Items: c.points.Len(), Seconds: device}
		if c.dense {
			bench = atLeast("places: "+name, device, cores, 10)
		}
		out = append(out, bench, wanted("places: auto, "+name, c.points.Len(), auto, 0, 1.1*cores,
			fmt.Sprintf("at most 1.1 of the cores' %.3g ms", cores*1e3)))
	}
	return out, nil
}

// timeMine returns the best time of a whole job, from points to patterns in the host's memory.
func timeMine(ctx context.Context, pts *coloc.Points, o coloc.Options, rounds int) (float64, error) {
	best := math.Inf(1)
	for range rounds + 1 { // the first round is warm-up
		start := time.Now()
		if _, err := coloc.Mine(ctx, pts, o); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start).Seconds())
	}
	return best, nil
}
