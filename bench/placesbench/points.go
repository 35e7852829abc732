package placesbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/par"
)

// shard is the number of points that are drawn from one seed, so that the points do not depend on
// the number of cores.
const shard = 1 << 16

// Even returns n points, uniformly distributed over a square of the given side, with equally
// frequent features.
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

// Clustered returns points as Even does, except for a fifth of them in two clusters: normal
// distributions with a standard deviation of 0.08 sides.
func Clustered(n, features int, side float64) *coloc.Points {
	p := Even(n, features, side)
	rng := rand.New(rand.NewPCG(uint64(n), 1<<63))
	for i := range n / 5 {
		centre := (0.3 + 0.4*float64(i%2)) * side
		p.X[i], p.Y[i] = centre+0.08*side*rng.NormFloat64(), centre+0.08*side*rng.NormFloat64()
	}
	return p
}

// plantedPatterns are sets of features that are planted as patterns, and the share of each
// feature's points in their instances. Every setting of the thesis' figures has some patterns.
var plantedPatterns = []struct {
	features []int32
	share    float64
}{
	{[]int32{0, 1, 2}, 0.62}, {[]int32{3, 4, 5, 6}, 0.52}, {[]int32{7, 8, 9, 10, 11}, 0.42},
	{[]int32{12, 13, 14}, 0.32}, {[]int32{15, 16}, 0.22},
}

// plantedWidth is the diameter of an instance, the smallest distance of the figures.
const plantedWidth = 2

// planted returns points of 20 features, uniform or with a fifth in two clusters. As in the thesis'
// generator, patterns of two to five features are planted: their prevalence is at least a known
// value, above that of random noise.
func planted(n int, side float64, clustered bool) *coloc.Points {
	p := Even(n, features, side)
	if clustered {
		p = Clustered(n, features, side)
	}
	of := make([][]int32, features)
	for i, f := range p.Feature {
		of[f] = append(of[f], int32(i))
	}
	rng := rand.New(rand.NewPCG(uint64(n), 1<<62))
	for _, pattern := range plantedPatterns {
		instances := 0
		for _, f := range pattern.features {
			instances = max(instances, int(math.Ceil(pattern.share*float64(len(of[f])))))
		}
		for _, f := range pattern.features {
			instances = min(instances, len(of[f]))
		}
		for k := range instances {
			// The other points of an instance move to its first one.
			first := of[pattern.features[0]][k]
			x, y := p.X[first], p.Y[first]
			for _, f := range pattern.features[1:] {
				radius, angle := plantedWidth/2.02*math.Sqrt(rng.Float64()), 2*math.Pi*rng.Float64()
				i := of[f][k]
				p.X[i], p.Y[i] = x+radius*math.Cos(angle), y+radius*math.Sin(angle)
			}
		}
	}
	return p
}

// SideFor returns the side of a square on which n uniform points have the given mean number of
// neighbours within the distance.
func SideFor(n int, neighbours, distance float64) float64 {
	return math.Sqrt(float64(n) * math.Pi * distance * distance / neighbours)
}
