package coloc

import (
	"errors"
	"math"
	"time"

	"github.com/collocate/collocate/engine"
)

// Auto takes the GPU where it wins. With a device at hand it wins from a few
// thousand points on: on an H200, 3,000 points took 0.25 ms against 0.64 on the
// host. A device that must be opened first costs more than most jobs: there the
// cores' time is estimated, from points, density and prevalence.
const (
	gpuLeastPoints = 3000
	gpuOpening     = 700 * time.Millisecond
)

// errEmulated keeps auto from the interpreter, which is for tests.
var errEmulated = errors.New("the device is an interpreter")

// gpuPays tells whether the GPU is worth trying.
func gpuPays(pts *Points, opt Options, threads int) bool {
	switch {
	case opt.KNN > 0 || pts.Len() < gpuLeastPoints:
		return false
	case opt.Device != nil:
		return !opt.Device.dev.Info().Emulated
	}
	// Twice, as the estimate may be that far off.
	return coresTime(pts, opt, threads) > 2*gpuOpening
}

// coresTime is about how long the CPU cores take. A place with k neighbours costs
// a core 1.5 + k*k/20 microseconds (200,000 to 10 million even points with 5.6, 10
// and 22.5 neighbours on 16 cores took 3.1, 6 and 27), if features are so frequent
// around a point that pairs of them can be prevalent, else a third of that at most.
func coresTime(pts *Points, opt Options, threads int) time.Duration {
	c := crew{threads}
	n := float64(pts.Len())
	if len(pts.Y) != pts.Len() {
		return 0 // no points: the job will say so
	}
	_, width := extent(pts.X, c)
	_, height := extent(pts.Y, c)
	if opt.Geographic {
		degree := EarthRadius * math.Pi / 180
		width, height = width*degree, height*degree // too wide away from the equator: a low estimate
	}
	near := math.Pi * opt.Distance * opt.Distance
	k := min(n, n*near/max(width*height, near))
	each := 1.5e-6 + k*k*0.05e-6
	if reach := 1 - math.Exp(-k/float64(max(1, len(pts.Features)))); reach < opt.MinPrevalence {
		each = 0.5e-6 + k*0.1e-6
	}
	seconds := n * each / float64(threads)
	return time.Duration(min(seconds, 1e6) * float64(time.Second))
}

// onCores is the CPU engine for so many points.
func onCores(points, threads int) engine.Kind {
	if threads == 1 || points <= smallJob {
		return engine.Sequential
	}
	return engine.Multicore
}
