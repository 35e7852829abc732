package points

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
)

// Engine selects where statistics are computed. All engines give the same bits.
type Engine struct {
	Kind    engine.Kind   // Auto uses a GPU where it is faster, and otherwise CPU cores
	Threads int           // number of threads; 0 means all cores
	Device  engine.Device // the device to open; the zero value is the first GPU
	// Also are further GPUs, which share the rounds of null models and the points of a
	// co-occurrence; with engine.GPU only.
	Also []engine.Device
	GPU  *GPU         // open devices to use instead; nil means none
	Log  *slog.Logger // says if Auto cannot open a device, and what each of several did; nil means none
}

// memoryOr returns a bound on memory in bytes, where 0 means 2 GB as in all packages.
func memoryOr(bound int64) int64 {
	if bound <= 0 {
		return 2_000_000_000
	}
	return bound
}

// sums computes sums over pairs of points, on CPU cores or on a device.
type sums struct {
	threads int
	gpu     *GPU // nil means CPU cores
}

// The choice of engine.Auto between CPU cores and a device, by the estimated time of the cores.
const (
	// gpuLeast is the least time for which an open device is used: below it, copying the points and
	// launching kernels could take as long.
	gpuLeast = 10 * time.Millisecond
	// pointTime and pairTime are the times of one core of 2.6 GHz in nanoseconds.
	pointTime, pairTime = 150, 8
)

// open chooses the engine of a job that takes one core about as long as cores says. done closes the
// device if open has opened it.
func (e Engine) open(ctx context.Context, cores time.Duration) (s sums, done func() error,
	err error) {
	s.threads = e.cores()
	done = func() error { return nil }
	if err := gpu.CheckSeveral(e.Kind, e.Also); err != nil {
		return s, done, err
	}
	least := 2 * gpu.Opening // twice, as the estimate may be that far off
	if e.GPU != nil {
		least = gpuLeast
	}
	c := gpu.Choice{Kind: e.Kind, Log: e.Log,
		Pays: func() bool { return cores/time.Duration(s.threads) > least }}
	err = c.Run(ctx, func() (err error) {
		g, end := e.GPU, done
		if g == nil {
			if g, err = OpenGPU(e.Device, e.Also...); err != nil {
				return err
			}
			g.log, end = e.Log, g.Close
		}
		if err := c.Accepts(g.dev); err != nil {
			return errors.Join(err, end())
		}
		s.gpu, done = g, end
		return nil
	}, func() error { return nil })
	return s, done, err
}

// cores returns the number of CPU cores to use.
func (e Engine) cores() int {
	switch {
	case e.Kind == engine.Sequential:
		return 1
	case e.Threads <= 0:
		return runtime.GOMAXPROCS(0)
	}
	return e.Threads
}

// pairsTime estimates how long one core takes for all pairs up to a distance in the given number of
// rounds.
func pairsTime(l *plane, most float64, rounds int) time.Duration {
	n := float64(len(l.x))
	disc := math.Pi * most * most
	pairs := n * min(n, n*disc/max(l.area(), disc)) / 2
	return time.Duration(min(1e18, float64(rounds)*(pointTime*n+pairTime*pairs)))
}

// of computes the sums of one plane, for all pairs of features or, on CPU cores, for some.
func (s sums) of(ctx context.Context, l *plane, bins int, most float64,
	edges bool, some *somePairs) (*pairSums, error) {
	if s.gpu != nil {
		return s.gpu.sumPairs(ctx, l, bins, most, edges)
	}
	return l.sumPairs(ctx, s.threads, bins, most, edges, some)
}

// rounds computes the sums of each round of a null model and passes them to use, from several
// goroutines.
func (s sums) rounds(ctx context.Context, m *NullModel, seed uint64, rounds, bins int, most float64,
	some *somePairs, use func(round int, sums *pairSums)) error {
	if s.gpu != nil {
		if err := m.plane.fits(most, true); err != nil {
			return err
		}
		return s.gpu.sumRounds(ctx, s.threads, m, seed, rounds, bins, most, use)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := each(ctx, s.threads, rounds, func(_, round int) {
		one, err := m.draw(ctx, seed, round, some).sumPairs(ctx, 1, bins, most, true, some)
		if err != nil {
			cancel(err)
			return
		}
		use(round, one)
	})
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}

// sumRounds is sums.rounds on the devices.
func (g *GPU) sumRounds(ctx context.Context, threads int, m *NullModel, seed uint64,
	rounds, bins int, most float64, use func(round int, sums *pairSums)) error {
	return g.share(ctx, rounds, func(ctx context.Context, g *GPU, first, end int) error {
		l := m.plane
		over := gridOver(l, most)
		if m.torus() { // shifted points are spread over the whole rectangle
			over = newGrid(l.minX, l.minY, l.width, l.depth, most, len(l.x))
		}
		p, err := g.planPairs(l, over, bins, most, true)
		if err != nil {
			return err
		}
		atOnce, err := p.batchRounds(end-first, !m.torus())
		if err != nil {
			return err
		}
		return g.batches(ctx, first, end, atOnce, func(lane *gpuLane, lo, hi int) error {
			d, err := m.drawMany(ctx, threads, seed, lo, hi)
			if err != nil {
				return err
			}
			s := lane.begin(ctx)
			sums := p.sum(s, d)
			if s.Err() == nil {
				s.Fail(each(ctx, threads, len(sums), func(_, i int) { use(lo+i, sums[i]) }))
			}
			s.Stage("use")
			return s.End()
		})
	})
}

// CountNear calls use for each round of a null model, with a function near that is valid during the
// call. near(a, b) returns how many points of feature a have a point of feature b within the
// distance. Hundreds of rounds are counted at once, and use is called from several goroutines.
// Positions must be in a plane, not longitudes and latitudes.
func (g *GPU) CountNear(ctx context.Context, m *NullModel, seed uint64, rounds, threads int,
	distance float64, use func(round int, near func(a, b int32) int64)) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	switch {
	case m.set.CRS.Geographic():
		return errors.New("counting rounds on a GPU needs positions in a plane, " +
			"not longitudes and latitudes")
	case !(distance > 0):
		return fmt.Errorf("distance %v: want more than 0", distance)
	}
	threads = Engine{Threads: threads}.cores()
	return g.sumRounds(ctx, threads, m, seed, rounds, 1, distance, func(round int, sums *pairSums) {
		use(round, func(a, b int32) int64 { return sums.nearest[sums.at(a, b, 0)] })
	})
}

// drawMany draws the rounds [lo, hi). Of shifts it draws only the vectors; the device moves the
// points.
func (m *NullModel) drawMany(ctx context.Context, threads int, seed uint64,
	lo, hi int) (drawnRounds, error) {
	l := m.plane
	n := len(l.x)
	d := drawnRounds{rounds: hi - lo, x: l.x, y: l.y, feature: l.feature}
	switch {
	case m.torus():
		for round := lo; round < hi; round++ {
			rng := rand.New(rand.NewPCG(seed, uint64(round)))
			for range m.members {
				dx, dy := m.shift(rng)
				d.moves = append(d.moves, dx, dy)
			}
		}
		return d, nil
	case m.null == Relabel:
		d.feature = make([]int32, n*d.rounds)
	default:
		d.x, d.y = make([]float64, n*d.rounds), make([]float64, n*d.rounds)
	}
	err := each(ctx, threads, d.rounds, func(_, i int) {
		drawn := m.draw(ctx, seed, lo+i, nil)
		if m.null == Relabel {
			copy(d.feature[i*n:], drawn.feature)
			return
		}
		copy(d.x[i*n:], drawn.x)
		copy(d.y[i*n:], drawn.y)
	})
	return d, err
}
