package engine

import "errors"

// ErrNoGPU is wrapped by the errors of jobs that were asked to run on a GPU but found none that
// works. The error text says why.
var ErrNoGPU = errors.New("no GPU")

// Device selects a GPU and bounds the memory that a job may use there. The zero value is the first
// GPU and most of its free memory.
type Device struct {
	Ordinal int   // the GPU's number, as `collocate gpu` lists them
	Memory  int64 // bytes; 0 means most of what is free
}
