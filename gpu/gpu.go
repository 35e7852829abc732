// Package gpu lets the libraries use NVIDIA GPUs. A program imports it for that effect, as the
// command does:
//
//	import _ "github.com/collocate/collocate/gpu"
//
// Without it a program is 4.8 MB smaller and every job runs on CPU cores, with the same results. A
// job that names [engine.GPU] is then refused; the error wraps [engine.ErrNoGPU]. Cgo is not needed
// either way.
//
// Experimental: it may change with any version; package collocate says what may not.
package gpu

import (
	_ "github.com/collocate/collocate/engine" // documented above
	_ "github.com/collocate/collocate/internal/gpu/real"
	_ "github.com/collocate/collocate/search/gpu"
)
