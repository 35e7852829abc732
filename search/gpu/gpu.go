// Package gpu lets package search answer on NVIDIA GPUs. A program imports it for that effect, with
// what other jobs need, as package github.com/collocate/collocate/gpu.
//
// Experimental: it may change with any version; package collocate says what may not.
package gpu

import (
	"github.com/collocate/collocate/search/internal/device"
	"github.com/collocate/collocate/search/internal/impactdevice"
	"github.com/collocate/collocate/search/internal/nearest/ongpu"
)

func init() {
	device.Register()
	impactdevice.Register() // before the other
	ongpu.Register()
}
