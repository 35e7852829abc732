package vectors

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

var gloveSource = gpuModule("glove")

// gloveOnGPU is from how many numbers a thread (cells, dimensions and epochs multiplied) auto takes
// a GPU: one core takes about 2 s for them, which is what a device takes to be opened.
const gloveOnGPU = 2_000_000_000

// gloveKernels are by the number of times 128 dimensions that fit.
var gloveKernels = []string{"glove_1", "glove_2", "glove_3", "glove_4"}

// onGPU trains on a device. A launch is a stratum, a warp a block: see kernels/glove.cu.
func (t *training) onGPU(ctx context.Context, g *GPU) error {
	run, err := t.prepare(g)
	if err != nil {
		return err
	}
	t.began(engine.GPU)
	if err := t.epochs(ctx, run.stratum, func() error {
		if err := run.losses.Download(ctx, g.stream, t.losses); err != nil {
			return err
		}
		return run.losses.Zero(g.stream)
	}); err != nil {
		return err
	}
	if err := run.words.Download(ctx, g.stream, t.words.all); err != nil {
		return err
	}
	return run.contexts.Download(ctx, g.stream, t.contexts.all)
}

// gloveRun is a training on a device.
type gloveRun struct {
	g               *GPU
	kernel          string
	groups, quads   int
	rate            float32
	cells           gpu.Buffer[cell]
	ends            gpu.Buffer[uint64]
	words, contexts gpu.Buffer[float32]
	losses          gpu.Buffer[float64]
}

// prepare brings everything to the device.
func (t *training) prepare(g *GPU) (*gloveRun, error) {
	which := (t.words.dim - 1) / lanes
	if which >= len(gloveKernels) {
		return nil, fmt.Errorf("%d dimensions: on a GPU at most %d; use multicore", t.o.Dim,
			len(gloveKernels)*lanes)
	}
	need := roomFor(len(t.cells), 16) + roomFor(len(t.ends), 8) + 2*roomFor(len(t.words.all), 4) +
		roomFor(t.groups, 8)
	if err := g.reserve(need, "the training"); err != nil {
		return nil, err
	}
	r := &gloveRun{g: g, kernel: gloveKernels[which], groups: t.groups, quads: t.words.dim / 4,
		rate: float32(t.o.Rate)}
	var err error
	if r.cells, err = taken(g, t.cells); err != nil {
		return nil, err
	}
	if r.ends, err = taken(g, t.ends); err != nil {
		return nil, err
	}
	if r.words, err = taken(g, t.words.all); err != nil {
		return nil, err
	}
	if r.contexts, err = taken(g, t.contexts.all); err != nil {
		return nil, err
	}
	r.losses, err = taken(g, make([]float64, t.groups))
	return r, err
}

// stratum starts the training on the blocks of a stratum.
func (r *gloveRun) stratum(s int) error {
	return r.g.launch(gloveSource, r.kernel, gpu.Grid(r.groups, 32), r.cells.Arg(), r.ends.Arg(),
		gpu.U32(uint32(s*r.groups)), r.words.Arg(), r.contexts.Arg(), gpu.U32(uint32(r.quads)),
		gpu.F32(r.rate), r.losses.Arg())
}
