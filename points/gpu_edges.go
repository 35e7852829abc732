package points

import (
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
)

// edgeRounds is sums.edgeRounds on the devices. The edges are copied once, the labels in batches.
func (g *GPU) edgeRounds(ctx context.Context, threads int, e *edges, label []int32, k int,
	o EnrichmentOptions, progress func(), out [][]int64) error {
	return g.share(ctx, o.Rounds, func(ctx context.Context, g *GPU, first, end int) error {
		n, info := len(label), g.dev.Info()
		lanes := int64(min(gpuLanes, end-first))
		fixed := int64(len(e.start))*8 + int64(len(e.to))*4 + 1<<20
		each1 := int64(n)*4 + int64(k*k)*8
		atOnce := int(min(int64(end-first), 4*int64(info.Multiprocessors),
			(g.budget/lanes-fixed)/each1))
		if atOnce < 1 {
			return fmt.Errorf("edges between points need %v of device memory, and %v are "+
				"available: raise engine.Device.Memory or use points.Engine.Kind=multicore",
				bytesize.Size(lanes*(fixed+each1)), bytesize.Size(g.budget))
		}
		shared, inShared := 4*k*k, uint32(1)
		if shared > info.SharedPerBlock {
			shared, inShared = 0, 0
		}
		type held struct {
			start gpu.Buffer[int64]
			to    gpu.Buffer[int32]
			mark  gpu.Mark
		}
		loaded := map[*gpuLane]*held{}
		for _, lane := range g.lanes[:lanes] {
			s := lane.begin(ctx)
			s.reserve(fixed + int64(atOnce)*(each1+512))
			loaded[lane] = &held{start: gpu.Put(s, e.start), to: gpu.Put(s, e.to)}
			if err := s.End(); err != nil {
				return err
			}
			loaded[lane].mark = lane.memory.Mark()
		}
		return g.batches(ctx, first, end, atOnce, func(lane *gpuLane, lo, hi int) error {
			labels := make([]int32, n*(hi-lo))
			err := each(ctx, threads, hi-lo, func(_, i int) {
				progress()
				relabelled(label, o.Seed, lo+i, labels[i*n:i*n:(i+1)*n])
			})
			if err != nil {
				return err
			}
			s, h := lane.begin(ctx), loaded[lane]
			s.Do(func() error { return lane.memory.Release(h.mark) })
			onDevice, counts := gpu.Put(s, labels), gpu.Zeros[int64](s, k*k*(hi-lo))
			blocks := max(1, min((n+gpu.Threads-1)/gpu.Threads, 32*info.Multiprocessors/(hi-lo)))
			s.launch("edge_counts", blocks, hi-lo, gpu.Threads, shared, h.start.Arg(),
				h.to.ArgOrNull(), onDevice.Arg(), gpu.U64(uint64(n)), gpu.U32(uint32(k)),
				gpu.U32(inShared), counts.Arg())
			all := downloaded(s, 0, counts)
			for i := range hi - lo {
				out[lo+i] = slices.Clone(all[i*k*k:][:k*k])
			}
			return s.End()
		})
	})
}
