package vectors

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

var gloveSource = gpuModule("glove")

// gloveOnGPU is the work per thread (cells x dimensions x epochs) from which auto uses a GPU: one
// core takes about 2 s for it, which is the time to open a device.
const gloveOnGPU = 2_000_000_000

// gloveDims is the largest number of dimensions: glove_wide has 32 chunks of 32 numbers, one of
// which is the bias.
const gloveDims = 1016

// onGPU trains on a device. A launch is a stratum; a thread block trains on one block of it: see
// kernels/glove.cu.
func (t *training) onGPU(ctx context.Context, g *card) error {
	run, err := t.prepare(ctx, g)
	if err != nil {
		return err
	}
	t.began(engine.GPU)
	run.Fail(t.epochs(ctx, func(ctx context.Context, strata []int) error {
		for _, s := range strata {
			run.Do(ctx.Err)
			run.stratum(s)
		}
		gpu.Read(run, run.losses, t.losses)
		run.Do(func() error { return run.losses.Zero(run.Stream) })
		return run.Err()
	}))
	gpu.Read(run, run.words, t.words.all)
	gpu.Read(run, run.contexts, t.contexts.all)
	return run.End()
}

// gloveRun is a training on a device.
type gloveRun struct {
	*gpu.Job
	groups, dim     int
	rate            float32
	cells           gpu.Buffer[cell]
	ends            gpu.Buffer[uint64]
	words, contexts gpu.Buffer[float32]
	losses          gpu.Buffer[float64]
}

// prepare uploads everything to the device.
func (t *training) prepare(ctx context.Context, g *card) (*gloveRun, error) {
	if t.o.Dim > gloveDims {
		return nil, fmt.Errorf("%d dimensions: want at most %d on a GPU; use vectors.GloVeOptions.Engine=multicore",
			t.o.Dim, gloveDims)
	}
	need := roomFor(len(t.cells), 16) + roomFor(len(t.ends), 8) + 2*roomFor(len(t.words.all), 4) +
		roomFor(t.groups, 8)
	j := g.begin(ctx, need, "the training")
	return &gloveRun{Job: j, groups: t.groups, dim: t.words.dim, rate: float32(t.o.Rate),
		cells: gpu.Put(j, t.cells), ends: gpu.Put(j, t.ends), words: gpu.Put(j, t.words.all),
		contexts: gpu.Put(j, t.contexts.all), losses: gpu.Zeros[float64](j, t.groups)}, j.Err()
}

// stratum starts the training on the blocks of a stratum.
func (r *gloveRun) stratum(s int) {
	kernel, warps := "glove", r.dim/32+1 // one more for the bias
	if warps > 16 {
		kernel, warps = "glove_wide", (warps+1)/2
	}
	r.Launch(gloveSource, kernel, gpu.Grid(r.groups, warps*32), r.cells.Arg(), r.ends.Arg(),
		gpu.U32(uint32(s*r.groups)), r.words.Arg(), r.contexts.Arg(), gpu.U32(uint32(r.dim)),
		gpu.F32(r.rate), r.losses.Arg())
}
