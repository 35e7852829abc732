package cooccur

import (
	"context"
	"errors"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// runOn runs a job on the engine that was chosen: onGPU on a GPU that it opens, or onCores with the
// kind of CPU engine.
func runOn(ctx context.Context, c gpu.Choice, d engine.Device, onGPU func(*GPU) error,
	onCores func(engine.Kind) error) error {
	return c.Run(ctx, func() (err error) {
		g, err := OpenGPU(d)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		if err := c.Accepts(g.dev); err != nil {
			return err
		}
		return onGPU(g)
	}, func() error {
		if c.Kind == engine.Sequential {
			return onCores(engine.Sequential)
		}
		return onCores(engine.Multicore)
	})
}

// watched is a sink that records whether it was used.
type watched struct {
	Sink
	given *bool
}

func (w watched) Rows(r *Rows) error {
	*w.given = true
	return w.Sink.Rows(r)
}
