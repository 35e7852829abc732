package coloc

import (
	"math"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// Auto chooses the GPU if it is faster. An open device is faster from a few thousand points on: on
// an H200, 3,000 points took 0.25 ms, and 0.64 ms on the host. Opening a device takes longer than
// most jobs; see gpu.Opening. Then auto estimates the time of the CPU cores from the number of
// points, their density and the threshold.
const gpuLeastPoints = 3000 // auto mines fewer points on CPU cores

// gpuPays reports whether the GPU is worth trying.
func gpuPays(pts *Points, opt Options, threads int) bool {
	switch {
	case opt.KNN > 0 || opt.Within > 0 || pts.Len() < gpuLeastPoints:
		return false
	case opt.GPU != nil:
		return !opt.GPU.dev.Info().Emulated
	}
	if len(pts.Y) != pts.Len() {
		return false // checkPoints will return an error
	}
	_, width := extent(pts.X, cores{workers: threads})
	_, height := extent(pts.Y, cores{workers: threads})
	if opt.Geographic {
		degree := earthRadius * math.Pi / 180
		width, height = width*degree, height*degree // too wide off the equator: a low estimate
	}
	// The estimate may be off by a factor of two.
	return coresTime(pts.Len(), len(pts.Features), width, height, opt, threads) > 2*gpu.Opening
}

// coresTime estimates how long CPU cores take to mine points that are spread over a rectangle. It
// depends on r, the mean number of neighbours that a point has of each feature. Microseconds per
// point and core, measured on 16 cores at a threshold of 0.1:
//
//	r     0.2  0.28  0.5  0.8  1.1
//	time  1.2  1.3   9.4  23   58
//
// The first is of 50 features and up to 10 million points. Clustered points take longer. A high
// threshold leaves less to search, and nothing if too few points have a feature near them.
func coresTime(points, features int, width, height float64, opt Options,
	threads int) time.Duration {
	n := float64(points)
	near := math.Pi * opt.Distance * opt.Distance
	r := min(n, n*near/max(width*height, near)) / float64(max(1, features))
	each := 1.2e-6
	if over := max(0, r-0.25); 1-math.Exp(-r) >= opt.MinPrevalence {
		each += 75e-6 * over * over * min(1, 0.15/opt.MinPrevalence)
	}
	return time.Duration(min(n*each/float64(threads), 1e6) * float64(time.Second))
}

// onCores returns the CPU engine for the given number of points.
func onCores(points, threads int) engine.Kind {
	if threads == 1 || points <= smallJob {
		return engine.Sequential
	}
	return engine.Multicore
}
