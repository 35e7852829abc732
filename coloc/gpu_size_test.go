package coloc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/collocate/collocate/engine"
)

// evenPoints lie evenly over a square.
func evenPoints(n, features int, side float64, seed uint64) *Points {
	p := &Points{X: make([]float64, n), Y: make([]float64, n), Feature: make([]int32, n)}
	for f := range features {
		p.Features = append(p.Features, fmt.Sprintf("f%02d", f))
	}
	crew{16}.sweep(n, func(_, lo, hi int) {
		rng := rand.New(rand.NewPCG(seed, uint64(lo)))
		for i := lo; i < hi; i++ {
			p.X[i], p.Y[i], p.Feature[i] = rng.Float64()*side, rng.Float64()*side, int32(rng.IntN(features))
		}
	})
	return p
}

// patchPoints have a fifth of them in two clusters.
func patchPoints(n, features int, seed uint64) *Points {
	p := evenPoints(n, features, 1000, seed)
	rng := rand.New(rand.NewPCG(seed, 77))
	for i := range n / 5 {
		c := float64(300 + 400*(i%2))
		p.X[i], p.Y[i] = c+80*rng.NormFloat64(), c+80*rng.NormFloat64()
	}
	return p
}

// TestGPUSizes compares real sizes and shows where the time goes. It is for a
// real device.
func TestGPUSizes(t *testing.T) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		t.Skip("COLLOCATE_TEST_GPU names no device")
	}
	d := testGPU(t, 0)
	for _, c := range []struct {
		name string
		make func() *Points
		d, p float64
		cpu  bool
	}{
		{"3k even", func() *Points { return evenPoints(3000, 20, 1000, 1) }, 6, 0.1, true},
		{"200k even, 20 features", func() *Points { return evenPoints(200_000, 20, 1000, 1) }, 6, 0.1, true},
		{"200k patches, 20 features", func() *Points { return patchPoints(200_000, 20, 1) }, 6, 0.1, true},
		{"200k patches, 40 features", func() *Points { return patchPoints(200_000, 40, 1) }, 6, 0.2, true},
		{"200k even, d 3", func() *Points { return evenPoints(200_000, 20, 1000, 1) }, 3, 0.2, true},
		{"1M, 5M pairs, 50 features", func() *Points { return evenPoints(1_000_000, 50, 1000, 1) }, 1.785, 0.1, true},
		{"10M, 50M pairs, 50 features", func() *Points { return evenPoints(10_000_000, 50, 3162, 1) }, 1.785, 0.1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			pts := c.make()
			opt := Options{Distance: c.d, MinPrevalence: c.p, Device: d, Engine: engine.GPU}
			var res *Result
			for i := range 5 {
				o := opt
				if i == 3 {
					o.Trace = func(stage string, took time.Duration) { t.Logf("    %-16s %8.3f ms", stage, took.Seconds()*1e3) }
				}
				start := time.Now()
				res = mustMine(t, pts, o)
				t.Logf("GPU %.2f ms, %d places, %d pairs, %d patterns", time.Since(start).Seconds()*1e3, res.Places, res.Pairs, len(res.Patterns))
			}
			if !c.cpu {
				return
			}
			best := time.Duration(1 << 62)
			for range 2 {
				start := time.Now()
				want := mustMine(t, pts, Options{Distance: c.d, MinPrevalence: c.p, Engine: engine.Multicore, Memory: 40e9})
				best = min(best, time.Since(start))
				if show(pts, res.Patterns) != show(pts, want.Patterns) || res.Places != want.Places || res.Pairs != want.Pairs {
					t.Fatal("the GPU and the CPU differ")
				}
			}
			t.Logf("CPU %.2f ms", best.Seconds()*1e3)
		})
	}
}
