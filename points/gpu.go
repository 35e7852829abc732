package points

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

//go:embed kernels/pairs.ptx
var pairsPTX string

var pairKernels = gpu.NewSource("points/pairs", pairsPTX)

// GPU is an open device for statistics of points, or several that share the rounds of null models
// and the points of a co-occurrence. It keeps its memory from one job to the next. It runs one job
// at a time; others wait.
type GPU struct {
	on      gpu.Named
	session *gpu.Session
	dev     *gpu.Device // of the session
	budget  int64       // bytes of device memory
	lanes   []*gpuLane
	others  []*GPU // that share the rounds
	log     *slog.Logger
	trace   func(stage string, took time.Duration) // set only by benchmarks
}

// gpuLane is a stream with its own memory. There are two: the device computes on one while the host
// works on the results of the other.
type gpuLane struct {
	*GPU
	stream *gpu.Stream
	memory gpu.Kept
	host   [2][]int64 // where sums are copied to
}

const gpuLanes = 2

// OpenGPU opens a device, and further ones that share its jobs. Its error wraps engine.ErrNoGPU if
// there is none.
func OpenGPU(which engine.Device, also ...engine.Device) (*GPU, error) {
	all, err := gpu.OpenEach(which, also, func(d gpu.Named) (*GPU, error) {
		s, err := d.OpenSession(gpuLanes)
		if err != nil {
			return nil, err
		}
		g, err := newGPU(s, d.Memory)
		if err == nil {
			g.on = d
		}
		return g, err
	})
	if err != nil {
		return nil, err
	}
	all[0].others = all[1:]
	return all[0], nil
}

// newGPU is OpenGPU in a session, which it closes on errors.
func newGPU(s *gpu.Session, memory int64) (*GPU, error) {
	budget, err := s.Dev.Budget(memory)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	g := &GPU{session: s, dev: s.Dev, budget: budget}
	for _, stream := range s.Streams {
		lane := &gpuLane{GPU: g, stream: stream}
		s.Keep(&lane.memory)
		g.lanes = append(g.lanes, lane)
	}
	return g, nil
}

// Name returns the name of the device.
func (g *GPU) Name() string { return g.dev.Info().Name }

// Close frees the devices and their memory.
func (g *GPU) Close() error {
	err := g.session.Close()
	for _, o := range g.others {
		err = errors.Join(err, o.Close())
	}
	return err
}

// share divides rounds among the devices and calls job with each and its rounds, all at the same
// time. Rounds are independent, so the result does not depend on who computes them.
func (g *GPU) share(ctx context.Context, rounds int, job func(ctx context.Context, g *GPU, lo, hi int) error) error {
	all := append([]*GPU{g}, g.others...)
	return gpu.Together(ctx, len(all), func(ctx context.Context, i int) error {
		lo, hi := gpu.Share(rounds, i, len(all))
		if len(all) > 1 {
			all[i].on.Log(g.log, "rounds", hi-lo)
		}
		if lo == hi {
			return nil
		}
		return all[i].session.Hold(ctx, func() error { return job(ctx, all[i], lo, hi) })
	})
}

// batches divides the rounds [first, end) into batches of at most atOnce and calls do for each, on
// the lanes.
func (g *GPU) batches(ctx context.Context, first, end, atOnce int,
	do func(lane *gpuLane, lo, hi int) error) error {
	rounds := end - first
	lanes := min(len(g.lanes), (rounds+atOnce-1)/atOnce)
	failed := make([]error, lanes)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := each(ctx, lanes, (rounds+atOnce-1)/atOnce, func(w, batch int) {
		failed[w] = do(g.lanes[w], first+batch*atOnce, first+min(rounds, (batch+1)*atOnce))
		if failed[w] != nil {
			cancel()
		}
	})
	if all := errors.Join(failed...); all != nil {
		return all
	}
	return err
}

// steps is a job on a lane.
type steps struct {
	*gpu.Job
	lane *gpuLane
}

func (l *gpuLane) begin(ctx context.Context) *steps {
	return &steps{l.session.Begin(ctx, l.stream, l.memory.Arena, l.trace), l}
}

// reserve frees what was taken of the lane's memory and makes room for the given number of bytes.
func (s *steps) reserve(bytes int64) {
	memory := &s.lane.memory
	s.Do(memory.Clear)
	s.Do(func() error { return memory.Reserve(s.lane.dev, bytes, 0) })
	s.Arena = memory.Arena
}

// downloaded copies a buffer to host memory, which the next copy with the same number overwrites:
// allocating fresh memory would cost more than the copy.
func downloaded(s *steps, number int, b gpu.Buffer[int64]) []int64 {
	host := &s.lane.host[number]
	if cap(*host) < b.Len() {
		*host = make([]int64, b.Len())
	}
	out := (*host)[:b.Len()]
	gpu.Read(s, b, out)
	return out
}

// launch starts a kernel with the given number of blocks for each round.
func (s *steps) launch(name string, blocks, rounds, threads, shared int, args ...gpu.Arg) {
	dim := gpu.GridShared(blocks, threads, shared)
	dim.Blocks[1] = rounds
	s.Launch(pairKernels, name, dim, args...)
}

// pairPlan says how a device computes sums over pairs, for planes with the same number of points
// and features in the same grid.
type pairPlan struct {
	g              *GPU
	n, k, bins     int
	most           float64
	edges          bool
	grid           grid
	l              *plane // only its rectangle is used
	kernel         string
	wideKernel     string // used instead if the sums do not fit in shared memory
	wide           bool   // the sums do not fit
	nearestShared  bool   // sums of nearest points are in shared memory, too
	threads        int    // per block
	shared         int    // bytes of shared memory per block
	slots          int    // number of blocks that run at a time
	bytesPerRound  int64  // device memory for each round
	bytesForDrawn  int64  // and more for a round with its own positions or features
	unordered, all int    // number of sums per round: of unordered pairs, and of nearest points
}

// gpuMostPoints is the number of points that the kernels' queues can address: kPointBits in
// pairs.cu.
const gpuMostPoints = 1 << 27

// planPairs chooses the kernel and the memory.
func (g *GPU) planPairs(l *plane, grid grid, bins int, most float64,
	edges bool) (*pairPlan, error) {
	p := &pairPlan{g: g, n: len(l.x), k: l.features, bins: bins, most: most, edges: edges,
		grid: grid, l: l, unordered: unorderedPairs(l.features) * bins}
	if edges {
		p.all = p.k * p.k * bins
	}
	if p.n >= gpuMostPoints || p.k*p.k*bins > math.MaxInt32 {
		return nil, fmt.Errorf("%d points of %d features at %d distances are too many for the "+
			"GPU: use points.Engine.Kind=multicore", p.n, p.k, bins)
	}
	p.kernel, p.wideKernel = "pair_counts", "pair_counts_wide"
	if edges {
		p.kernel, p.wideKernel = "pair_curves", "pair_curves_wide"
	}
	if err := p.shape(); err != nil {
		return nil, err
	}
	p.bytesPerRound = int64(p.n)*24 + int64(grid.cols*grid.rows)*8 + int64(p.unordered+p.all)*8
	p.bytesForDrawn = int64(p.n) * 20
	return p, nil
}

// shape chooses the largest blocks for which shared memory has room beside all sums. If there are
// none, it moves the sums of nearest points to global memory, and if need be all sums.
func (p *pairPlan) shape() error {
	info := p.g.dev.Info()
	most := max(info.SharedOptIn, info.SharedPerBlock)
	sizes := []int{1024, 512, 256}
	if info.Emulated {
		sizes = []int{64}
	}
	fit := func(nearest bool, threads int) bool {
		words := p.unordered + threads/32*64
		if p.edges {
			words += p.k * threads
		}
		if nearest {
			words += p.all
		}
		p.nearestShared, p.threads, p.shared = nearest && p.edges, threads, 4*words
		return p.shared <= most
	}
	found := false
	for _, nearest := range []bool{true, false} {
		for _, threads := range sizes {
			if !found {
				found = fit(nearest, threads)
			}
		}
	}
	if !found {
		p.wide, p.kernel, p.nearestShared = true, p.wideKernel, false
		p.threads = min(256, sizes[0])
		p.shared = 4 * p.threads / 32 * 64
	}
	k, err := p.g.dev.Kernel(pairKernels, p.kernel)
	if err == nil {
		err = k.AllowShared(p.shared)
	}
	if err != nil {
		return err
	}
	n, err := k.Occupancy(p.threads, p.shared)
	p.slots = max(1, n) * info.Multiprocessors
	return err
}

// blocks returns the number of blocks per round in a batch of rounds: several if the rounds alone
// do not keep the device busy.
func (p *pairPlan) blocks(rounds int) int {
	most := (p.n + p.threads - 1) / p.threads
	want := (4*p.slots + rounds - 1) / rounds
	if p.wide { // each block has memory of its own
		want = max(1, p.slots/rounds)
	}
	return max(1, min(most, want))
}

// scratch returns the global memory that the blocks of wide kernels need, in 32-bit words.
func (p *pairPlan) scratch(rounds int) int {
	if !p.wide || !p.edges {
		return 0
	}
	return rounds * p.blocks(rounds) * p.k * p.threads
}

// bytes returns the device memory that a batch needs. drawn means that rounds have their own
// positions or features.
func (p *pairPlan) bytes(rounds int, drawn bool) int64 {
	each := p.bytesPerRound
	if drawn {
		each += p.bytesForDrawn
	}
	return int64(rounds)*each + p.bytesForDrawn + 4*int64(p.scratch(rounds)) +
		int64(rounds*p.k)*16 + int64(rounds*p.grid.cols*p.grid.rows)/64 + 1<<20
}

// batchRounds returns the number of rounds in a batch: twice the number of blocks that run at a
// time. It is less if memory, or 32-bit indices of points and cells, do not suffice.
func (p *pairPlan) batchRounds(rounds int, drawn bool) (int, error) {
	lanes := min(gpuLanes, rounds)
	n := min(rounds, 2*p.slots, math.MaxInt32/max(1, p.n), math.MaxInt32/(p.grid.cols*p.grid.rows))
	for n > 1 && p.bytes(n, drawn)*int64(lanes) > p.g.budget {
		n--
	}
	if need := p.bytes(max(n, 1), drawn) * int64(lanes); n < 1 || need > p.g.budget {
		return 0, fmt.Errorf("sums over pairs of points need %v of device memory, and %v are "+
			"available: raise engine.Device.Memory or use points.Engine.Kind=multicore",
			bytesize.Size(need), bytesize.Size(p.g.budget))
	}
	return n, nil
}

// drawnRounds has the points of a batch of rounds: those of one plane, which the device may shift
// by feature, or the ones that the host has drawn.
type drawnRounds struct {
	rounds  int
	x, y    []float64 // of one plane, or of all rounds one after the other
	feature []int32   // likewise
	moves   []float64 // shifts by round and feature, along x and y; nil means none
}

// sum computes the sums of a batch. They are valid until the lane's next batch.
func (p *pairPlan) sum(s *steps, d drawnRounds) []*pairSums {
	n, cellsOf := p.n, p.grid.cols*p.grid.rows
	s.reserve(p.bytes(d.rounds, len(d.x) > n || len(d.feature) > n))
	stride := func(values int) gpu.Arg {
		if values > n {
			return gpu.U64(uint64(n))
		}
		return gpu.U64(0)
	}
	x, y, feature := gpu.Put(s, d.x), gpu.Put(s, d.y), gpu.Put(s, d.feature)
	var moves gpu.Buffer[float64]
	if d.moves != nil {
		moves = gpu.Put(s, d.moves)
	}
	s.Stage("upload")
	draw := []gpu.Arg{x.Arg(), y.Arg(), feature.Arg(), moves.ArgOrNull(), gpu.U64(uint64(n)),
		stride(len(d.x)), stride(len(d.feature)), gpu.U32(uint32(p.k)), gpu.F64(p.l.minX),
		gpu.F64(p.l.minY), gpu.F64(p.l.width), gpu.F64(p.l.depth)}
	layout := []gpu.Arg{gpu.F64(p.grid.minX), gpu.F64(p.grid.minY), gpu.F64(1 / p.grid.side),
		gpu.U32(uint32(p.grid.cols)), gpu.U32(uint32(p.grid.rows))}
	args := func(lists ...[]gpu.Arg) (all []gpu.Arg) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	start := gpu.Zeros[uint32](s, d.rounds*cellsOf+1)
	place := gpu.Make[uint32](s, d.rounds*n)
	toX, toY, toFeature := gpu.Make[float64](s, d.rounds*n), gpu.Make[float64](s, d.rounds*n),
		gpu.Make[int32](s, d.rounds*n)
	tiles := (n + gpu.Threads - 1) / gpu.Threads
	s.launch("cell_count", tiles, d.rounds, gpu.Threads, 0,
		args(draw, layout, []gpu.Arg{start.Arg(), place.Arg()})...)
	s.Do(func() error { return prim.ExclusiveScan(s.Stream, s.Arena, start, start) })
	s.launch("cell_fill", tiles, d.rounds, gpu.Threads, 0, args(draw, layout,
		[]gpu.Arg{start.Arg(), place.Arg(), toX.Arg(), toY.Arg(), toFeature.Arg()})...)
	unordered, all := gpu.Zeros[int64](s, d.rounds*p.unordered), gpu.Zeros[int64](s, d.rounds*p.all)
	scratch := gpu.Make[uint32](s, p.scratch(d.rounds))
	shared := uint32(0)
	if p.nearestShared {
		shared = 1
	}
	sums := pairSums{features: p.k, bins: p.bins, step: p.most / float64(p.bins), edges: p.edges}
	s.Stage("cells")
	s.launch(p.kernel, p.blocks(d.rounds), d.rounds, p.threads, p.shared, args(
		[]gpu.Arg{toX.Arg(), toY.Arg(), toFeature.Arg(), start.Arg(), gpu.U64(uint64(n)),
			gpu.U32(uint32(p.k)), gpu.U32(uint32(p.bins)), gpu.F64(p.most * p.most),
			gpu.F64(1 / sums.step), gpu.F64(p.l.width), gpu.F64(p.l.depth),
			gpu.F64(p.l.area() * weightUnit)},
		layout, []gpu.Arg{gpu.U32(shared), scratch.ArgOrNull(), unordered.Arg(),
			all.ArgOrNull()})...)
	s.Stage("pairs")
	pairs, nearest := downloaded(s, 0, unordered), downloaded(s, 1, all)
	s.Stage("download")
	out := make([]*pairSums, d.rounds)
	for r := range out {
		one := sums
		if p.edges {
			one.weighted, one.nearest = pairs[r*p.unordered:][:p.unordered],
				nearest[r*p.all:][:p.all]
		} else {
			one.count = pairs[r*p.unordered:][:p.unordered]
		}
		out[r] = &one
	}
	return out
}

// sumPairs is plane.sumPairs on the devices. Counts are shared; with edges, one device computes the
// sums.
func (g *GPU) sumPairs(ctx context.Context, l *plane, bins int, most float64,
	edges bool) (*pairSums, error) {
	if err := l.fits(most, edges); err != nil {
		return nil, err
	}
	if !edges && len(g.others) > 0 && len(l.x) > 1 {
		return g.countPairs(ctx, l, bins, most)
	}
	return g.sumPlane(ctx, l, bins, most, edges)
}

// countPairs counts pairs on several devices. Each gets a strip of the plane and, beyond its end,
// the points that are near enough: the pairs of all these, less those of the latter alone, are the
// pairs that have a point of the strip and none of an earlier one.
func (g *GPU) countPairs(ctx context.Context, l *plane, bins int, most float64) (*pairSums, error) {
	order := make([]int, len(l.y))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(l.y[a], l.y[b]), a-b) })
	some := func(order []int) *plane {
		x, y, feature := make([]float64, len(order)), make([]float64, len(order)), make([]int32, len(order))
		for k, i := range order {
			x[k], y[k], feature[k] = l.x[i], l.y[i], l.feature[i]
		}
		return l.moved(x, y, feature)
	}
	all := append([]*GPU{g}, g.others...)
	parts := make([][2]*pairSums, len(all)) // of the strip with what is beyond, and of that alone
	err := gpu.Together(ctx, len(all), func(ctx context.Context, i int) (err error) {
		lo, hi := gpu.Share(len(order), i, len(all))
		all[i].on.Log(g.log, "points", hi-lo)
		if lo == hi {
			return nil
		}
		last, end := l.y[order[hi-1]], hi
		for end < len(order) && l.y[order[end]]-last <= most*(1+1e-9) { // more than rounding loses
			end++
		}
		if parts[i][0], err = all[i].sumPlane(ctx, some(order[lo:end]), bins, most, false); err == nil && end > hi {
			parts[i][1], err = all[i].sumPlane(ctx, some(order[hi:end]), bins, most, false)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var out *pairSums
	for _, p := range parts {
		switch {
		case p[0] == nil:
			continue
		case out == nil:
			out = p[0]
		default:
			for k, n := range p[0].count {
				out.count[k] += n
			}
		}
		if p[1] != nil {
			for k, n := range p[1].count {
				out.count[k] -= n
			}
		}
	}
	return out, nil
}

// sumPlane computes the sums of one plane on the first device.
func (g *GPU) sumPlane(ctx context.Context, l *plane, bins int, most float64,
	edges bool) (out *pairSums, err error) {
	err = g.session.Hold(ctx, func() error {
		p, err := g.planPairs(l, gridOver(l, most), bins, most, edges)
		if err != nil {
			return err
		}
		if _, err := p.batchRounds(1, false); err != nil {
			return err
		}
		s := g.lanes[0].begin(ctx)
		sums := p.sum(s, drawnRounds{rounds: 1, x: l.x, y: l.y, feature: l.feature})
		out = sums[0]
		for _, list := range []*[]int64{&out.count, &out.weighted, &out.nearest} {
			*list = slices.Clone(*list)
		}
		return s.End()
	})
	return out, err
}
