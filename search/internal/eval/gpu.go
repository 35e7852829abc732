package eval

import (
	"context"
	"fmt"
	"iter"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// Device is what answers on GPUs: package device, if the program imports search/gpu. It is looked
// up here, so that a program without a GPU has neither its code nor its kernels.
type Device interface {
	// Open loads the index of an engine onto the devices that the options name, unless its postings
	// are already there; kept may be nil.
	Open(ctx context.Context, e *Engine, kept Kept, o ask.GPUOptions) (OnDevice, error)
	// OpenSegments loads the segments of one index, each as an index of its own.
	OpenSegments(ctx context.Context, segments []*Engine, kept []Kept,
		o ask.GPUOptions) ([]OnDevice, error)
	// Real reports whether the device of this number exists and is not emulated.
	Real(ordinal int) bool
}

// OnDevice is an index on one device or several.
type OnDevice interface {
	Answer(ctx context.Context, r ask.Request) (*ask.Result, error)
	// Batch answers requests as search.MapBatch does.
	Batch(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch, reuse bool,
		do func(int, *ask.Result) (any, error), yield func(any, error) bool)
	Profile(ctx context.Context, requests []ask.Request, runs int,
		guess bool) ([]ask.GPUStage, error)
	Memory() (free, total int64, err error)
	// HandOver says who answers the requests of a batch that a device does not know.
	HandOver(to func(context.Context, ask.Request) (*ask.Result, error))
	// Opening returns the steps of bringing the index there.
	Opening() []ask.GPUStage
	// Kept returns a reference to the postings on the devices, or nil if they cannot be shared.
	Kept() Kept
	Close() error
}

// Kept is a reference to the postings of an index on devices, held for another generation with the
// same segment. Its owner must release it.
type Kept interface {
	Of() *index.Reader
	Another() Kept // adds a reference
	Release() error
}

var device Device

// RegisterDevice is called by package search/gpu.
func RegisterDevice(d Device) { device = d }

// TheDevice returns what answers on GPUs.
func TheDevice() (Device, error) {
	if device == nil {
		return nil, fmt.Errorf("search: %w: to search on a GPU, import github.com/collocate/collocate/gpu",
			engine.ErrNoGPU)
	}
	return device, nil
}
