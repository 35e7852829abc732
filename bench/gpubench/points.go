package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/points"
)

// pointsJob compares and measures the statistics of points: curves and their null models,
// co-occurrence and neighbourhood enrichment.
var pointsJob = Job{
	Name: "statistics of points",
	Suites: []check.Suite{
		{Name: "points: curves", Run: tryPoints(30_000, 0, sameCurves)},
		{Name: "points: curves in 64 MB", Run: tryPoints(30_000, 64<<20, sameCurves)},
		{Name: "points: co-occurrence", Run: tryPoints(300_000, 0, sameCoOccurrence)},
		{Name: "points: enrichment", Run: tryPoints(100_003, 0, sameEnrichment)},
	},
	Measure: measurePoints,
}

// tryPoints compares a statistic with the CPU's on up to most points: of few and many features,
// uniform and clustered. memory bounds the device's memory.
func tryPoints(most int, memory int64,
	same func(t *check.Trial, what string, pts *points.Set, d *points.GPU) error) func(t *check.Trial) error {
	return func(t *check.Trial) (err error) {
		most, kinds := most, []int{2, 12, 120}
		if t.Dev.Info().Emulated {
			most, kinds = 100, kinds[:2]
		}
		d, err := points.OpenGPU(t.Dev.Which(memory))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		for _, n := range t.Sizes {
			if n = min(n, most); n < 2 {
				continue
			}
			side := placesbench.SideFor(n, 8, 1)
			for _, features := range kinds {
				what := fmt.Sprintf("%d points of %d features", n, features)
				for _, make := range []func(int, int, float64) *points.Set{placesbench.Even, placesbench.Clustered} {
					if err := same(t, what, make(n, features, side), d); err != nil {
						return fmt.Errorf("%s: %w", what, err)
					}
				}
			}
		}
		return nil
	}
}

// bothEngines returns the engines of the CPU and of a device.
func bothEngines(d *points.GPU) []points.Engine {
	return []points.Engine{{Kind: engine.Multicore}, {Kind: engine.GPU, GPU: d}}
}

func sameCurves(t *check.Trial, what string, pts *points.Set, d *points.GPU) error {
	for null := range points.Times { // of times, curves know nothing
		if len(pts.Features) > 12 && null > 0 {
			break
		}
		var got [2][]int64
		for k, e := range bothEngines(d) {
			curves, err := points.Curves(t.Ctx, pts, points.CurveOptions{Most: 1.2, Bins: 20, Rounds: 5, Null: null,
				Seed: 7, Engine: e})
			if err != nil {
				return err
			}
			for _, c := range curves {
				for _, v := range [][]float64{c.K, c.L, c.PCF, c.Index, c.Expected, c.Low, c.High, c.IndexExpected,
					c.IndexLow, c.IndexHigh, {c.P, c.Q, c.At, c.Z}} {
					got[k] = append(got[k], bitsOf(v)...)
				}
			}
		}
		if err := check.Same(t, fmt.Sprintf("%s, null %s", what, null), got[1], got[0]); err != nil {
			return err
		}
	}
	return nil
}

func bitsOf(values []float64) (out []int64) {
	for _, v := range values {
		out = append(out, int64(math.Float64bits(v)))
	}
	return out
}

func sameCoOccurrence(t *check.Trial, what string, pts *points.Set, d *points.GPU) error {
	for _, most := range []float64{0.7, 4} {
		var got [2][]int64
		for k, e := range bothEngines(d) {
			c, err := points.CoOccurrences(t.Ctx, pts, points.CoOccurrenceOptions{Most: most, Steps: 25, Engine: e})
			if err != nil {
				return err
			}
			got[k] = append(got[k], c.Pairs...)
			for _, row := range c.Ratio {
				for _, v := range row {
					got[k] = append(got[k], bitsOf(v)...)
				}
			}
		}
		if err := check.Same(t, what, got[1], got[0]); err != nil {
			return err
		}
	}
	return nil
}

func sameEnrichment(t *check.Trial, what string, pts *points.Set, d *points.GPU) error {
	for _, o := range []points.EnrichmentOptions{{Distance: 1}, {KNN: 6}} {
		o.Rounds = 9
		var got [2][]int64
		for k, e := range bothEngines(d) {
			o.Engine = e
			c, err := points.Enrich(t.Ctx, pts, o)
			if err != nil {
				return err
			}
			for a := range c.Count {
				got[k] = append(append(append(got[k], c.Count[a]...), bitsOf(c.Mean[a])...), bitsOf(c.Z[a])...)
			}
		}
		if err := check.Same(t, what, got[1], got[0]); err != nil {
			return err
		}
	}
	return nil
}

// measurePoints measures the figures of the statistics of points.
func measurePoints(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	d, err := points.OpenGPU(dev.Which(0))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	device, cores := points.Engine{Kind: engine.GPU, GPU: d}, points.Engine{Kind: engine.Multicore}
	n, cells, shifts, times := 200_000, 1_000_000, 999, 3
	if quick {
		n, cells, shifts, times = 100, 200, 5, 1
	}
	curves := func(pts *points.Set, rounds int, e points.Engine) func() error {
		return func() error {
			_, err := points.Curves(ctx, pts, points.CurveOptions{Most: 6, Bins: 50, Rounds: rounds, Seed: 1, Engine: e})
			return err
		}
	}
	for _, c := range []struct {
		name string
		pts  *points.Set
	}{{"even", placesbench.Even(n, 20, 1000)}, {"clustered", placesbench.Clustered(n, 20, 1000)}} {
		name := fmt.Sprintf("points: curves of %d %s points, 20 features", n, c.name)
		one, err := best(times, curves(c.pts, 0, device))
		if err != nil {
			return out, err
		}
		onCores, err := best(times, curves(c.pts, 0, cores))
		if err != nil {
			return out, err
		}
		out = append(out, check.Bench{Name: fmt.Sprintf("%s: %.1fx", name, onCores/one), Items: n, Seconds: one})
		all, err := best(times, curves(c.pts, shifts, device))
		if err != nil {
			return out, err
		}
		// On cores only some rounds are measured, and scaled: each takes the same time.
		some := min(shifts, 4*runtime.GOMAXPROCS(0))
		coresSome, err := best(1, curves(c.pts, some, cores))
		if err != nil {
			return out, err
		}
		coresAll := (coresSome-onCores)/float64(some)*float64(shifts) + onCores
		name = fmt.Sprintf("points: %d shifts of %d %s points, 20 features", shifts, n, c.name)
		out = append(out, wanted(name, n*shifts, all, 0, 2, "at most 2 s"), atLeast(name, all, coresAll, 50))
	}

	pts := placesbench.Even(cells, 30, placesbench.SideFor(cells, 1000, 200))
	var took [2]float64
	for i, e := range []points.Engine{device, cores} {
		took[i], err = best(times, func() error {
			_, err := points.CoOccurrences(ctx, pts, points.CoOccurrenceOptions{Most: 200, Steps: 50, Engine: e})
			return err
		})
		if err != nil {
			return out, err
		}
	}
	out = append(out, check.Bench{Items: cells, Seconds: took[0], Name: fmt.Sprintf(
		"points: co-occurrence of %d cells, 30 types, 50 distances: %.1fx", cells, took[1]/took[0])})
	for i, e := range []points.Engine{device, cores} {
		took[i], err = best(1, func() error {
			_, err := points.Enrich(ctx, pts, points.EnrichmentOptions{KNN: 6, Rounds: 99, Engine: e})
			return err
		})
		if err != nil {
			return out, err
		}
	}
	return append(out, check.Bench{Items: cells, Seconds: took[0], Name: fmt.Sprintf(
		"points: enrichment of %d cells, 30 types, 99 rounds: %.1fx", cells, took[1]/took[0])}), nil
}

// best returns the shortest of several times, after a warm-up.
func best(times int, do func() error) (float64, error) {
	shortest := math.Inf(1)
	for i := range times + 1 {
		if i == 0 && times == 1 {
			continue
		}
		start := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		shortest = min(shortest, time.Since(start).Seconds())
	}
	return shortest, nil
}
