package gpu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/collocate/collocate/engine"
)

// Opening is about how long opening a device takes, with some kernels: 0.15 to 0.4 s on an H200,
// and 2 s more the first time, when the driver compiles them.
const Opening = 700 * time.Millisecond

// Choice says on which engine a job runs: the one that was asked for, or with engine.Auto a GPU if
// that is faster, and otherwise CPU cores.
type Choice struct {
	Kind engine.Kind
	Pays func() bool // whether engine.Auto should try a GPU
	// Final reports whether an error of the GPU that engine.Auto chose is that of the job: because
	// results were passed on already, or because the cores would fail likewise. nil means never.
	Final    func(error) bool
	Emulated bool         // engine.Auto accepts the interpreter, for tests
	Log      *slog.Logger // gets a message if a GPU that engine.Auto chose fails; nil means none
}

// Run runs a job by one of the functions. If engine.Auto chose a GPU and that fails, the cores
// repeat the job, unless the context was cancelled or the error is final.
func (c Choice) Run(ctx context.Context, onGPU, onCores func() error) error {
	auto := c.Kind == engine.Auto && c.Pays()
	if c.Kind != engine.GPU && !auto {
		return onCores()
	}
	err := ctx.Err()
	if err == nil {
		err = onGPU()
	}
	if !auto && errors.Is(err, ErrUnavailable) {
		return fmt.Errorf("%w; use auto, multicore or sequential", err)
	}
	if err == nil || !auto || ctx.Err() != nil || c.Final != nil && c.Final(err) {
		return err
	}
	if c.Log != nil {
		c.Log.Info("not on a GPU", "error", err)
	}
	return onCores()
}

// Accepts returns ErrEmulated if engine.Auto must not use the device, which has just been opened.
func (c Choice) Accepts(dev *Device) error {
	if c.Kind == engine.Auto && !c.Emulated && dev.Info().Emulated {
		return ErrEmulated
	}
	return nil
}
