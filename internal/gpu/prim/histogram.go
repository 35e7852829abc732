package prim

import (
	"github.com/collocate/collocate/internal/gpu"
)

var histogramSource = module("histogram")

// As in histogram.cu.
const (
	binThreads = 512
	binBatch   = binThreads * 16
	localBins  = 8192
)

// Histogram adds to bins[v] how often v occurs in values, and to outside[0] how
// many values are no bin's number. Both must hold zeroes, or earlier counts.
func Histogram(s *gpu.Stream, values gpu.Buffer[uint32], bins gpu.Buffer[uint32], outside gpu.Buffer[uint64]) error {
	n := values.Len()
	if n == 0 {
		return nil
	}
	name := "histogram_large"
	if bins.Len() <= localBins {
		name = "histogram_small"
	}
	k, err := s.Device().Kernel(histogramSource, name)
	if err != nil {
		return err
	}
	resident, err := k.Resident(binThreads)
	if err != nil {
		return err
	}
	// Several batches a block make it worth clearing and adding up its bins.
	blocks := min(divUp(n, 4*binBatch), resident)
	return s.Launch(k, gpu.Grid(blocks, binThreads), values.Arg(), bins.Arg(), outside.Arg(),
		gpu.U64(uint64(n)), gpu.U32(uint32(bins.Len())))
}
