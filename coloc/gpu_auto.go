package coloc

import (
	"math"
	"time"

	"github.com/collocate/collocate/engine"
)

// Auto takes the GPU where it wins. With a device at hand it wins from a few
// thousand points on: on an H200, 3,000 points took 0.25 ms against 0.64 on the
// host. A device that must be opened first costs more than most jobs, 0.15 to 0.4 s
// with loading the kernels (and 2 s more the first time ever, when the driver
// compiles them): there the cores' time is estimated, from points, density and
// prevalence.
const (
	gpuLeastPoints = 3000
	gpuOpening     = 700 * time.Millisecond
)

// gpuPays reports whether the GPU is worth trying.
func gpuPays(pts *Points, opt Options, threads int) bool {
	switch {
	case opt.KNN > 0 || opt.Within > 0 || pts.Len() < gpuLeastPoints:
		return false
	case opt.GPU != nil:
		return !opt.GPU.dev.Info().Emulated
	}
	if len(pts.Y) != pts.Len() {
		return false // the job will say so
	}
	_, width := extent(pts.X, cores{workers: threads})
	_, height := extent(pts.Y, cores{workers: threads})
	if opt.Geographic {
		degree := earthRadius * math.Pi / 180
		width, height = width*degree, height*degree // too wide away from the equator: a low estimate
	}
	// Twice, as the estimate may be that far off.
	return coresTime(pts.Len(), len(pts.Features), width, height, opt, threads) > 2*gpuOpening
}

// coresTime is about how long the given number of points over a rectangle take the CPU cores.
// What counts is r, the neighbours that a point has of each feature. Measured on
// 16 cores, prevalence 0.1, in microseconds a point and core: r = 0.2 (50 features,
// up to 10 million points) 1.2, 0.28 1.3, 0.5 9.4, 0.8 23, 1.1 58. Points in
// clusters take longer than that; with a high prevalence less is to be searched,
// and where too few points have a feature near them nothing.
func coresTime(points, features int, width, height float64, opt Options, threads int) time.Duration {
	n := float64(points)
	near := math.Pi * opt.Distance * opt.Distance
	r := min(n, n*near/max(width*height, near)) / float64(max(1, features))
	each := 1.2e-6
	if over := max(0, r-0.25); 1-math.Exp(-r) >= opt.MinPrevalence {
		each += 75e-6 * over * over * min(1, 0.15/opt.MinPrevalence)
	}
	return time.Duration(min(n*each/float64(threads), 1e6) * float64(time.Second))
}

// onCores is the CPU engine for the given number of points.
func onCores(points, threads int) engine.Kind {
	if threads == 1 || points <= smallJob {
		return engine.Sequential
	}
	return engine.Multicore
}
