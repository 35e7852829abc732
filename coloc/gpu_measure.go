package coloc

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
)

// JoinTime measures how long the device takes to join points that are already in its memory:
// sorting them into cells, merging them into places, and counting and listing the neighbours of
// each. It returns the best of the given number of rounds, by the device's clock, and the number of
// neighbouring pairs.
func (g *GPU) JoinTime(ctx context.Context, pts *Points, distance float64,
	rounds int) (best time.Duration, pairs int64, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, 0, err
	}
	j, err := newJob(pts, Options{Distance: distance, GPU: g, Engine: engine.GPU})
	if err != nil {
		return 0, 0, err
	}
	best = math.MaxInt64
	err = onGPU(ctx, j, func(r *gpuRun) error {
		s, in := uploadPoints(r, pts, distance*distance, distance)
		s.join(in)
		s.count()
		pairs = s.edges / 2
		points := r.Arena
		r.use(profileMemory, 4*s.edges+gpuBytesBesides, "lists of neighbours")
		lists := gpu.Make[uint32](r, int(s.edges))
		r.Arena = points
		r.Do(func() error { return r.Arena.Release(0) })
		for range rounds + 1 { // the first one is a warm-up
			s, in := uploadPoints(r, pts, distance*distance, distance)
			if r.Err() != nil {
				return r.Err()
			}
			took, err := r.session.Timed(ctx, r.Stream, func() error {
				s.join(in)
				s.degrees(gpu.Buffer[uint64]{}, gpu.Buffer[uint64]{})
				s.lists(0, s.points, lists)
				return r.Err()
			})
			if err != nil {
				return err
			}
			best = min(best, took)
			r.Fail(r.Arena.Release(0))
		}
		return r.Err()
	})
	return best, pairs, err
}

// JoinStats holds the times for finding neighbours: Prepare for copying the points to a GPU, Find
// for the rest.
type JoinStats struct {
	Pairs         int64         // pairs of places; with SGCT, of points of different features
	Prepare, Find time.Duration // wall-clock times; Prepare is 0 on CPU cores
}

// Join finds and lists the neighbours of all points, as Mine does first (with SGCT by its plane
// sweep). It exists for measurements and repeats the work each time.
func (s *Survey) Join(ctx context.Context) (stats JoinStats, err error) {
	if err := given.Context(ctx); err != nil {
		return JoinStats{}, err
	}
	j, start := s.job, time.Now()
	switch {
	case j.engine == engine.GPU:
		err = onGPU(ctx, j, func(r *gpuRun) (err error) {
			start = time.Now()
			stats.Pairs, err = s.joinOnGPU(r, func() { stats.Prepare = time.Since(start) })
			return err
		})
	case j.Algorithm == SGCT || j.Algorithm == SGCTRows:
		var pairs atomic.Int64
		err = j.sweepPairs(ctx, s.pts, func(int, int32, int32) error {
			pairs.Add(1)
			return nil
		})
		stats.Pairs = pairs.Load()
	default:
		var g *neighbours
		if g, err = j.join(ctx, s.pts); err == nil {
			err = g.list(ctx, j.cores, math.MaxInt64)
			stats.Pairs = g.edges / 2
		}
	}
	stats.Find = time.Since(start) - stats.Prepare
	return stats, err
}

// joinOnGPU joins the points and returns the number of pairs. It calls prepared when the points are
// on the device.
func (s *Survey) joinOnGPU(r *gpuRun, prepared func()) (pairs int64, err error) {
	uploaded := func() {
		r.Sync()
		prepared()
	}
	if a := r.job.Algorithm; a == SGCT || a == SGCTRows {
		g := &gpuSGCT{r: r, pts: s.pts, uploaded: uploaded}
		n, err := g.findPairs()
		if err == nil {
			err = r.Stream.Sync(r.Ctx)
		}
		return int64(n), err
	}
	limit, side := r.job.reach()
	scene, in := uploadPoints(r, s.pts, limit, side)
	uploaded()
	scene.join(in)
	scene.degrees(gpu.Buffer[uint64]{}, gpu.Buffer[uint64]{})
	if r.Err() != nil {
		return 0, r.Err()
	}
	scene.edges = int64(gpu.Get(r, scene.offsets.Slice(scene.points, scene.points+1), 1)[0])
	r.use(profileMemory, 4*scene.edges+gpuBytesBesides, "lists of neighbours")
	scene.lists(0, scene.points, gpu.Make[uint32](r, int(scene.edges)))
	r.Sync()
	return scene.edges / 2, r.Err()
}
