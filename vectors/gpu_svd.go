package vectors

import (
	"context"

	"github.com/collocate/collocate/internal/gpu"
)

var svdSource = gpuModule("svd")

// svdOnGPU is the number of products per thread from which auto uses a GPU: one core takes some
// seconds for six times as many.
const svdOnGPU = 1_000_000_000

// As in kernels/svd.cu.
const svdTile = 64

// deviceMatrix is a tall matrix on a device.
type deviceMatrix struct {
	ctx    context.Context
	g      *card
	n      int
	width  int
	by     [2]deviceCells // rows, columns
	x, y   gpu.Buffer[float64]
	small  gpu.Buffer[float64]
	parts  gpu.Buffer[float64]
	pieces int
}

type deviceCells struct {
	ends  gpu.Buffer[uint64]
	other gpu.Buffer[uint32]
	value gpu.Buffer[float32]
}

// onGPU decomposes on a device.
func (s *svd) onGPU(ctx context.Context, g *card) error {
	d := &deviceMatrix{ctx: ctx, g: g, n: s.n, width: s.width, pieces: (s.n + gramRows - 1) / gramRows}
	cells, square := len(s.rows.other), s.width*s.width
	need := 2*(roomFor(s.n, 8)+2*roomFor(cells, 4)) + 2*roomFor(s.n*s.width, 8) +
		roomFor(square, 8) + roomFor(square*d.pieces, 8)
	if err := g.reserve(need, "the decomposition"); err != nil {
		return err
	}
	var err error
	for i, c := range []*compressed{&s.rows, &s.cols} {
		to := &d.by[i]
		if to.ends, err = taken(g, c.ends); err != nil {
			return err
		}
		if to.other, err = taken(g, c.other); err != nil {
			return err
		}
		if to.value, err = taken(g, c.value); err != nil {
			return err
		}
	}
	if d.x, err = taken(g, s.draw()); err != nil {
		return err
	}
	if d.y, err = gpu.Take[float64](g.arena.Arena, s.n*s.width); err != nil {
		return err
	}
	if d.small, err = gpu.Take[float64](g.arena.Arena, square); err != nil {
		return err
	}
	if d.parts, err = gpu.Take[float64](g.arena.Arena, square*d.pieces); err != nil {
		return err
	}
	return s.decompose(ctx, d)
}

func (d *deviceMatrix) product(transposed bool) error {
	c := &d.by[0]
	if transposed {
		c = &d.by[1]
	}
	threads := min((d.width+31)&^31, 1024)
	return d.g.launch(svdSource, "svd_times", gpu.Grid(d.n, threads), c.ends.Arg(), c.other.Arg(),
		c.value.Arg(), d.x.Arg(), d.y.Arg(), gpu.U32(uint32(d.width)))
}

func (d *deviceMatrix) times(transposed bool) error {
	err := d.product(transposed)
	d.x, d.y = d.y, d.x
	return err
}

func (d *deviceMatrix) gramOfTimes() ([]float64, error) {
	if err := d.product(true); err != nil {
		return nil, err
	}
	return d.gramOf(d.y)
}

func (d *deviceMatrix) gram() ([]float64, error) { return d.gramOf(d.x) }

func (d *deviceMatrix) gramOf(x gpu.Buffer[float64]) ([]float64, error) {
	tiles := (d.width + svdTile - 1) / svdTile
	grid := gpu.Dim{Blocks: [3]int{tiles * tiles, d.pieces, 1}, Threads: [3]int{256, 1, 1}}
	if err := d.g.launch(svdSource, "svd_gram", grid, x.Arg(), gpu.U64(uint64(d.n)),
		gpu.U32(uint32(d.width)), gpu.U32(gramRows), d.parts.Arg()); err != nil {
		return nil, err
	}
	out := make([]float64, d.width*d.width)
	if err := d.g.launch(svdSource, "svd_gram_sum", gpu.Grid((len(out)+255)/256, 256), d.parts.Arg(),
		gpu.U32(uint32(d.pieces)), gpu.U32(uint32(d.width)), d.small.Arg()); err != nil {
		return nil, err
	}
	return out, d.small.Download(d.ctx, d.g.stream, out)
}

func (d *deviceMatrix) turn(t []float64) error {
	if err := d.small.Upload(d.g.stream, t); err != nil {
		return err
	}
	tiles := (d.width + svdTile - 1) / svdTile
	grid := gpu.Dim{Blocks: [3]int{(d.n + svdTile - 1) / svdTile, tiles, 1}, Threads: [3]int{256, 1, 1}}
	err := d.g.launch(svdSource, "svd_turn", grid, d.x.Arg(), gpu.U64(uint64(d.n)),
		gpu.U32(uint32(d.width)), d.small.Arg(), d.y.Arg())
	d.x, d.y = d.y, d.x
	return err
}

func (d *deviceMatrix) rows() ([]float64, error) {
	x := make([]float64, d.n*d.width)
	return x, d.x.Download(d.ctx, d.g.stream, x)
}
