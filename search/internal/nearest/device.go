package nearest

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/search/internal/ask"
)

// Device finds documents on a GPU: it is package ongpu, if the program imports search/gpu. It is
// looked up here, so that a program without a GPU has neither its code nor its kernels.
type Device interface {
	Open(o ask.GPUOptions) (OnDevice, error)
}

// OnDevice holds vectors on a GPU. Columns are brought there when they are first searched.
type OnDevice interface {
	// Search is the function Search with the same lists, and says how each was made. What the
	// device cannot answer has a reason in its report and no list.
	Search(ctx context.Context, parts []Part, queries []*Query, wants []Want) ([]List, []Report, error)
	// Another returns another reference, which holds those of the given columns that are on the
	// device. The last reference to a column that is closed frees it.
	Another(columns []*dense.Column) OnDevice
	Close() error
}

// Report says how a device found the documents of a query.
type Report struct {
	Candidates int    // documents that passed the test
	Summed     int    // of these, those whose similarity was wanted for certain after all bounds
	Why        string // the cores must answer instead, if it is not empty
}

// Numbers are what a device needs of a query. The names are those of the package comment.
type Numbers struct {
	Metric            fields.Metric
	Vector            []float32 // followed by zeros up to a multiple of 16
	Codes             []int8    // followed by zeros up to a multiple of 64
	Scale, Rest, Norm float64   // t, p and Q
	Coded             float64   // D
	Rounding          float64   // g
}

// Numbers returns what a device needs of a query.
func (q *Query) Numbers() Numbers {
	return Numbers{q.metric, q.vector, q.codes, q.scale, q.rest, q.norm, q.coded, q.rounding}
}

var device Device

// RegisterDevice is called by package search/gpu.
func RegisterDevice(d Device) { device = d }

// TheDevice returns what finds documents on GPUs.
func TheDevice() (Device, error) {
	if device == nil {
		return nil, fmt.Errorf("search: %w: to search on a GPU, import github.com/collocate/collocate/gpu",
			engine.ErrNoGPU)
	}
	return device, nil
}
