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
	*gpu.Job
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
	d := &deviceMatrix{n: s.n, width: s.width, pieces: (s.n + gramRows - 1) / gramRows}
	cells, square := len(s.rows.other), s.width*s.width
	need := 2*(roomFor(s.n, 8)+2*roomFor(cells, 4)) + 2*roomFor(s.n*s.width, 8) +
		roomFor(square, 8) + roomFor(square*d.pieces, 8)
	d.Job = g.begin(ctx, need, "the decomposition")
	for i, c := range []*compressed{&s.rows, &s.cols} {
		d.by[i] = deviceCells{gpu.Put(d, c.ends), gpu.Put(d, c.other), gpu.Put(d, c.value)}
	}
	d.x, d.y = gpu.Put(d, s.draw()), gpu.Make[float64](d, s.n*s.width)
	d.small, d.parts = gpu.Make[float64](d, square), gpu.Make[float64](d, square*d.pieces)
	d.Do(func() error { return s.decompose(ctx, d) })
	return d.End()
}

func (d *deviceMatrix) product(transposed bool) {
	c := &d.by[0]
	if transposed {
		c = &d.by[1]
	}
	threads := min((d.width+31)&^31, 1024)
	d.Launch(svdSource, "svd_times", gpu.Grid(d.n, threads), c.ends.Arg(), c.other.Arg(),
		c.value.Arg(), d.x.Arg(), d.y.Arg(), gpu.U32(uint32(d.width)))
}

func (d *deviceMatrix) times(transposed bool) error {
	d.product(transposed)
	d.x, d.y = d.y, d.x
	return d.Err()
}

func (d *deviceMatrix) gramOfTimes() ([]float64, error) {
	d.product(true)
	return d.gramOf(d.y)
}

func (d *deviceMatrix) gram() ([]float64, error) { return d.gramOf(d.x) }

func (d *deviceMatrix) gramOf(x gpu.Buffer[float64]) ([]float64, error) {
	tiles := (d.width + svdTile - 1) / svdTile
	grid := gpu.Dim{Blocks: [3]int{tiles * tiles, d.pieces, 1}, Threads: [3]int{256, 1, 1}}
	d.Launch(svdSource, "svd_gram", grid, x.Arg(), gpu.U64(uint64(d.n)), gpu.U32(uint32(d.width)),
		gpu.U32(gramRows), d.parts.Arg())
	square := d.width * d.width
	d.Each(svdSource, "svd_gram_sum", square, d.parts.Arg(), gpu.U32(uint32(d.pieces)),
		gpu.U32(uint32(d.width)), d.small.Arg())
	return gpu.Get(d, d.small, square), d.Err()
}

func (d *deviceMatrix) turn(t []float64) error {
	d.Do(func() error { return d.small.Upload(d.Stream, t) })
	tiles := (d.width + svdTile - 1) / svdTile
	grid := gpu.Dim{Blocks: [3]int{(d.n + svdTile - 1) / svdTile, tiles, 1},
		Threads: [3]int{256, 1, 1}}
	d.Launch(svdSource, "svd_turn", grid, d.x.Arg(), gpu.U64(uint64(d.n)), gpu.U32(uint32(d.width)),
		d.small.Arg(), d.y.Arg())
	d.x, d.y = d.y, d.x
	return d.Err()
}

func (d *deviceMatrix) rows() ([]float64, error) {
	return gpu.Get(d, d.x, d.n*d.width), d.Err()
}
