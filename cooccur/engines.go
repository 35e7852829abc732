package cooccur

import (
	"context"
	"log/slog"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// chosen chooses the engine of a job: the requested one, or the one that engine.Auto prefers.
type chosen struct {
	engine engine.Kind
	gpu    engine.Device
	// pays reports whether engine.Auto should use the GPU.
	pays func() bool
	log  *slog.Logger // that of the corpus; may be nil
	// emulated lets engine.Auto use an emulated GPU, for tests.
	emulated bool
	// given is set once results were passed on. From then on a failing GPU is an error, also with
	// engine.Auto.
	given bool
}

// run runs a job: onGPU on a GPU, or onCores with the kind of CPU engine. The engine is chosen only
// here. If engine.Auto fails on a GPU before any result was passed on, the error is logged and the
// job is repeated on the cores.
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
			if c.log != nil {
				c.log.Info("not on a GPU", "error", err)
			}
		}
	}
	return onCores(engine.Multicore)
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
