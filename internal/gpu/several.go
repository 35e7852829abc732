package gpu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/collocate/collocate/engine"
)

// Named is one of the devices that share a job.
type Named struct {
	engine.Device
	again bool // an earlier one has the same number
}

// Several returns the devices of a job: which, and further ones that share it. A device that is
// named again counts as another one, with a context of its own: its own memory, modules and errors.
func Several(which engine.Device, also []engine.Device) []Named {
	seen := map[int]bool{}
	var all []Named
	for _, d := range append([]engine.Device{which}, also...) {
		all = append(all, Named{d, seen[d.Ordinal]})
		seen[d.Ordinal] = true
	}
	return all
}

// OpenEach opens the devices of a job in turn. If one fails, it closes those before it.
func OpenEach[T interface{ Close() error }](which engine.Device, also []engine.Device,
	open func(Named) (T, error)) (all []T, err error) {
	for _, d := range Several(which, also) {
		one, err := open(d)
		if err != nil {
			for _, opened := range all {
				err = errors.Join(err, opened.Close())
			}
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// CheckSeveral returns an error if there are further devices and the engine is not the GPU: engine
// auto uses one.
func CheckSeveral(kind engine.Kind, also []engine.Device) error {
	if len(also) > 0 && kind != engine.GPU {
		return fmt.Errorf("several devices need engine gpu, not %v", kind)
	}
	return nil
}

// Open opens the device.
func (n Named) Open() (*Device, error) {
	if n.again {
		return OpenContext(n.Ordinal)
	}
	return Open(n.Ordinal)
}

// OpenSession opens the device and makes the given number of streams. Close closes both.
func (n Named) OpenSession(streams int) (*Session, error) {
	return openSession(n.Open, streams)
}

// Log reports what one of several devices did.
func (n Named) Log(log *slog.Logger, did ...any) {
	if log != nil {
		log.Info("one of several GPUs", append([]any{"device", n.Ordinal}, did...)...)
	}
}

// Together runs a job on each of n devices at the same time. The first error ends the context of
// all jobs and is returned, not those that follow from it.
func Together(ctx context.Context, n int, job func(ctx context.Context, i int) error) error {
	if n == 1 {
		return job(ctx, 0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := job(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// Share returns the range of n items that part i of several gets: consecutive, and of equal length
// but for one item.
func Share(n, i, parts int) (lo, hi int) { return n * i / parts, n * (i + 1) / parts }
