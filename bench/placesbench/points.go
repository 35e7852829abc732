package placesbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/par"
)

// shard is how many points are drawn from one seed, so that the points do not
// depend on the number of cores.
const shard = 1 << 16

// Even are points that lie evenly over a square of the given side, all features
// equally frequent.
func Even(n, features int, side float64) *coloc.Points {
	p := &coloc.Points{X: make([]float64, n), Y: make([]float64, n), Feature: make([]int32, n)}
	for f := range features {
		p.Features = append(p.Features, fmt.Sprintf("f%03d", f))
	}
	par.For(runtime.GOMAXPROCS(0), n, shard, func(_, lo, hi int) {
		rng := rand.New(rand.NewPCG(uint64(n), uint64(lo)))
		for i := lo; i < hi; i++ {
			p.X[i], p.Y[i], p.Feature[i] = rng.Float64()*side, rng.Float64()*side, int32(rng.IntN(features))
		}
	})
	return p
}

// Clustered are even points of which a fifth lies in two clusters, normal with a
// deviation of 0.08 sides.
func Clustered(n, features int, side float64) *coloc.Points {
	p := Even(n, features, side)
	rng := rand.New(rand.NewPCG(uint64(n), 1<<63))
	for i := range n / 5 {
		centre := (0.3 + 0.4*float64(i%2)) * side
		p.X[i], p.Y[i] = centre+0.08*side*rng.NormFloat64(), centre+0.08*side*rng.NormFloat64()
	}
	return p
}

// SideFor is the side of a square on which n even points have so many neighbours
// within the distance, on average.
func SideFor(n int, neighbours, distance float64) float64 {
	return math.Sqrt(float64(n) * math.Pi * distance * distance / neighbours)
}
