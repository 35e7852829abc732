package coloc

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// JoinTime is how long the device takes to join points that are in its memory
// already: sorting them into cells, making places of them, counting and listing
// the neighbours of each. It is the best of so many rounds, on the device's clock.
// pairs is how many neighbouring pairs there are.
func (g *GPU) JoinTime(ctx context.Context, pts *Points, distance float64, rounds int) (best time.Duration, pairs int64, err error) {
	j, err := newJob(pts, Options{Distance: distance, Device: g, Engine: engine.GPU})
	if err != nil {
		return 0, 0, err
	}
	best = math.MaxInt64
	err = onGPU(ctx, j, func(r *gpuRun) error {
		from, err := r.dev.NewEvent()
		if err != nil {
			return err
		}
		to, err := r.dev.NewEvent()
		if err != nil {
			return errors.Join(err, from.Free())
		}
		err = func() error {
			s, in := uploadPoints(r, pts, distance*distance, distance)
			s.join(in)
			s.count()
			pairs = s.edges / 2
			points := r.arena
			r.use(profileMemory, 4*s.edges+gpuBytesBesides, "lists of neighbours")
			lists := take[uint32](r, int(s.edges))
			r.arena = points
			if r.err == nil {
				r.fail(r.arena.Release(0))
			}
			for range rounds + 1 { // the first one warms up
				s, in := uploadPoints(r, pts, distance*distance, distance)
				r.fail(r.s.Record(from))
				s.join(in)
				s.degrees(gpu.Buffer[uint64]{}, gpu.Buffer[uint64]{})
				s.lists(0, s.points, lists)
				r.fail(r.s.Record(to))
				r.fail(r.s.Sync(ctx))
				if r.err != nil {
					return r.err
				}
				took, err := to.Since(from)
				if err != nil {
					return err
				}
				best = min(best, took)
				r.fail(r.arena.Release(0))
			}
			return r.err
		}()
		return errors.Join(err, from.Free(), to.Free())
	})
	return best, pairs, err
}
