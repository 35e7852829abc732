package coloc

import (
	"github.com/collocate/collocate/points"

	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/engine"
)

// The thesis' data: points on 1000x1000, uniform or with two clusters.
var benchPoints = sync.OnceValue(func() map[string]*Points {
	out := make(map[string]*Points)
	for name, o := range map[string]datagen.PointOptions{
		"even 3k":       {Count: 3_000, Features: 20},
		"even 200k":     {Count: 200_000, Features: 20},
		"even 200k/40":  {Count: 200_000, Features: 40},
		"two clusters":  {Count: 200_000, Features: 40, Clusters: 2, Spread: 80, Noise: 0.8},
		"dense patches": {Count: 200_000, Features: 20, Clusters: 2, Spread: 80, Noise: 0.8},
	} {
		var b bytes.Buffer
		o.Seed = 1
		if err := datagen.Points(context.Background(), &b, o); err != nil {
			panic(err)
		}
		in, err := points.Read(&b, points.ReadOptions{})
		if err != nil {
			panic(err)
		}
		out[name] = in.Set
	}
	return out
})

func BenchmarkJoin(b *testing.B) {
	pts := benchPoints()["even 200k"]
	for _, d := range []float64{3, 6} {
		b.Run(fmt.Sprint("d=", d), func(b *testing.B) {
			for b.Loop() {
				p := newPlaces(pts, nil, false, d, cores{workers: 1})
				g := joinDistance(p, d*d)
				if err := g.list(b.Context(), cores{workers: 1}, 1<<40); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(g.edges/2), "pairs")
			}
		})
	}
}

func BenchmarkMine(b *testing.B) {
	for _, c := range []struct {
		points string
		d, p   float64
		sgct   bool // SGCT finishes in reasonable time
	}{
		{"even 3k", 6, 0.1, true},
		{"even 200k", 3, 0.3, true},
		{"even 200k/40", 3, 0.2, true},
		{"even 200k/40", 6, 0.45, true},
		{"two clusters", 3, 0.2, true},
		{"dense patches", 6, 0.1, false},
	} {
		for _, algorithm := range []Algorithm{Auto, SGCT} {
			if algorithm == SGCT && !c.sgct {
				continue
			}
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/d=%v/p=%v/%s/threads=%d", c.points, c.d, c.p, algorithm,
					threads), func(b *testing.B) {
					points := benchPoints()[c.points] // generated once, and not timed
					for b.Loop() {
						res := mustMine(b, points,
							Options{Distance: c.d, MinPrevalence: c.p, Algorithm: algorithm,
								Engine: engine.Multicore, Threads: threads})
						b.ReportMetric(float64(len(res.Patterns)), "patterns")
					}
				})
			}
		}
	}
}
