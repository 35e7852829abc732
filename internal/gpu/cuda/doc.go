// Package cuda drives NVIDIA GPUs through libcuda.so.1, the library that comes
// with the display driver: no CUDA toolkit, no cgo. The library is looked for
// when Devices or Open is first called; everything else works without it.
//
// What was measured on an H200 and shaped this file: a call through
// purego.SyscallN takes 0.4-0.7 us, through its reflected functions 2-4 us; a
// channel to a thread that owns the context takes 16-22 us. So symbols are
// resolved once and called directly, from whatever thread the goroutine is on:
// Bind ties the two together for the time of an operation.
//
// Built with the tag nogpu, or for another system than Linux, the package has no
// devices and does not need purego, so the program is static.
package cuda

import "errors"

// errNone is wrapped by the errors of Devices and Open when there is no device
// to be used, for whatever reason.
var errNone = errors.New("no CUDA device")

// The oldest that runs our kernels: PTX 7.8 and compute capability 7.0.
const (
	minCUDA  = 11080
	minMajor = 7
)
