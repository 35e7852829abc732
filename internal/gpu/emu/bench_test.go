package emu_test

import (
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/emu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// BenchmarkSort runs a radix sort, whose kernels use arithmetic, votes, shared memory with race
// detection, and look-back. One worker should run at least 20 million lane-instructions a second.
func BenchmarkSort(b *testing.B) {
	e := emu.New(emu.Options{Workers: 1})
	dev := gpu.New(e)
	s, err := dev.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 14
	x, err := gpu.Alloc[uint64](dev, n)
	if err != nil {
		b.Fatal(err)
	}
	y, err := gpu.Alloc[uint64](dev, n)
	if err != nil {
		b.Fatal(err)
	}
	tmp, err := gpu.NewArena(dev, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i) * 0x9e3779b97f4a7c15
	}
	before := e.LaneInstructions()
	for b.Loop() {
		if err := x.Upload(s, keys); err != nil {
			b.Fatal(err)
		}
		if _, err := prim.SortKeys(s, tmp, x, y, 0, 64); err != nil {
			b.Fatal(err)
		}
		if err := s.Sync(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(e.LaneInstructions()-before)/1e6/b.Elapsed().Seconds(), "Mlanes/s")
}
