package cooccur

import (
	"context"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// chosen is the engine of a job: the one that was asked for, or what auto takes.
type chosen struct {
	engine engine.Kind
	gpu    engine.Device
	// pays is asked if auto should take the GPU.
	pays func() bool
	// emulated lets auto take an emulated one: tests do.
	emulated bool
	// given says that results were given away: then a GPU that fails is an error, also for auto.
	given bool
}

// run runs a job on its engine: on a GPU, or on the cores, of which the engine is told. This is the
// one place that chooses. What auto begins on a GPU, the cores do again if it fails there and
// nothing was given away.
func (c *chosen) run(ctx context.Context, onGPU func(*GPU) error, onCores func(engine.Kind) error) error {
	switch c.engine {
	case engine.GPU:
		return withGPU(c.gpu, onGPU)
	case engine.Sequential:
		return onCores(engine.Sequential)
	case engine.Auto:
		if c.emulated || c.pays() {
			err := withGPU(c.gpu, func(g *GPU) error {
				if g.dev.Info().Emulated && !c.emulated {
					return gpu.ErrEmulated
				}
				return onGPU(g)
			})
			if err == nil || c.given || ctx.Err() != nil {
				return err
			}
		}
	}
	return onCores(engine.Multicore)
}

// watched is a sink that knows whether it was used.
type watched struct {
	Sink
	given *bool
}

func (w watched) Rows(r *Rows) error {
	*w.given = true
	return w.Sink.Rows(r)
}
