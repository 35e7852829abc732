package prim

import (
	"github.com/collocate/collocate/internal/gpu"
)

var histogramSource = module("histogram")

// The same values as in histogram.cu.
const (
	binThreads = 512
	binBatch   = binThreads * 16
	localBins  = 8192
)

// Histogram adds to bins[v] how often v occurs in values, and to outside[0] the number of values
// that are not below the number of bins. Both must be cleared before, or hold earlier counts.
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
	// Clearing and adding up its bins pays for a block that counts several batches.
	blocks := min(divUp(n, 4*binBatch), resident)
	return s.Launch(k, gpu.Grid(blocks, binThreads), values.Arg(), bins.Arg(), outside.Arg(),
		gpu.U64(uint64(n)), gpu.U32(uint32(bins.Len())))
}
