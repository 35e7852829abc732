package engine

import "errors"

// ErrNoGPU is wrapped by the errors of jobs that were told to run on a GPU where none can
// be used. The text says why.
var ErrNoGPU = errors.New("no GPU")

// Device says which GPU a job may use, and how much of its memory. The zero value
// is the first one, and most of what is free on it.
type Device struct {
	Ordinal int   // the GPU's number, as `collocate gpu` lists them
	Memory  int64 // bytes; 0: most of what is free
}
