// Package cuda drives NVIDIA GPUs through libcuda.so.1, the library of the display driver: no CUDA
// toolkit, no cgo. The library is loaded when Devices or Open is first called; everything else
// works without it.
//
// Measured on an H200, a call through purego.SyscallN takes 0.4-0.7 us, through its reflected
// functions 2-4 us; a channel to a thread that owns the context takes 16-22 us. So symbols are
// resolved once and called directly, from the thread that the goroutine is on: Bind locks the
// goroutine to its thread for the time of an operation.
//
// Built with the tag nogpu, or for another system than Linux, the package has no devices and does
// not need purego, so the program is static.
package cuda

import "errors"

// errNone is wrapped by the errors of Devices and Open when no device can be used.
var errNone = errors.New("no CUDA device")

// The oldest versions that run our kernels: PTX 7.8 and compute capability 7.0.
const (
	minCUDA  = 11080
	minMajor = 7
)
