package coloc

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuScene has the places on the device, as places and neighbours have them on the CPU. Points are
// in the order of their cells.
type gpuScene struct {
	r        *gpuRun
	points   int
	places   int
	features int
	limit    float64
	edges    int64 // directed

	x, y, z  gpu.Buffer[float64] // of places; z is empty in the plane
	reach    gpu.Buffer[float64] // of places; empty if one limit holds for all
	feature  gpu.Buffer[uint32]  // of points
	placeOf  gpu.Buffer[uint32]  // of points
	weight   gpu.Buffer[uint32]  // of the first point of a feature at a place: their number; else 0
	offsets  gpu.Buffer[uint64]  // start of each place's list of neighbours; one more at the end
	grid     gpuGrid
	cell     gpu.Buffer[uint32]    // of places
	spans    gpu.Buffer[[2]uint32] // by cell: the ranges of places around it
	counts   gpu.Buffer[uint32]    // number of cells, number of places
	hosted   gpu.Buffer[uint32]    // lists made by the host; empty if the device makes them
	boundary []uint64              // offsets on the host; nil until they are needed
}

// gpuGrid is the layout of the cells.
type gpuGrid struct {
	lowX, lowY, lowZ float64
	scale            float64
	colBits, rowBits uint32
	bits             int    // number of bits of a key
	rows             uint32 // number of ranges of places around a cell
}

// newGPUGrid lays cells of the given side over the positions. A side of 0 means cells of about one
// point each.
func newGPUGrid(x, y, z []float64, side float64, c cores) gpuGrid {
	g := gpuGrid{rows: 3}
	var width, height, depth float64
	g.lowX, width = extent(x, c)
	g.lowY, height = extent(y, c)
	cells := float64(1 << 30)
	if z != nil {
		g.lowZ, depth = extent(z, c)
		cells, g.rows = 1<<20, 9
	}
	widest := max(width, height, depth)
	if side == 0 {
		side = widest / math.Sqrt(float64(len(x)))
	}
	side = max(side*slack, widest/cells)
	if side > 0 && !math.IsInf(1/side, 0) {
		g.scale = 1 / side
	}
	field := func(width float64) int { return bits.Len64(uint64(width*g.scale) + 2) }
	g.colBits, g.rowBits = uint32(field(width)), uint32(field(height))
	g.bits = int(g.colBits + g.rowBits)
	if z != nil {
		g.bits += field(depth)
	}
	return g
}

// Device memory of the join, in bytes.
const (
	gpuBytesPerPoint  = 224     // for each point
	gpuBytesPerSphere = 72      // and more on the sphere
	gpuBytesBesides   = 1 << 20 // for small buffers, here and in other steps
)

// gpuInput has the points in the order of the input.
type gpuInput struct {
	x, y, z gpu.Buffer[float64]
	feature gpu.Buffer[uint32]
}

// uploadPoints copies the points to the device. limit is the squared distance of neighbours.
func uploadPoints(r *gpuRun, pts *Points, limit, side float64) (*gpuScene, gpuInput) {
	n := pts.Len()
	x, y, z := positions(pts, r.job.Geographic, r.job.cores)
	s := &gpuScene{r: r, points: n, features: len(pts.Features), limit: limit,
		grid: newGPUGrid(x, y, z, side, r.job.cores)}
	need := int64(gpuBytesPerPoint * n)
	if z != nil {
		need += int64(gpuBytesPerSphere * n)
	}
	r.use(pointMemory, need+gpuBytesBesides, "joining points")
	in := gpuInput{x: gpu.Put(r, x), y: gpu.Put(r, y), feature: gpu.Put(r, unsigned(pts.Feature))}
	if z != nil {
		in.z = gpu.Put(r, z)
	}
	r.Stage("upload")
	return s, in
}

// join makes places of the points and finds the cells around each. crowded becomes 1 if a cell has
// so many points that the host should merge them into places.
func (s *gpuScene) join(in gpuInput) (crowded gpu.Buffer[uint32]) {
	r, g, n := s.r, &s.grid, s.points
	count := gpu.U64(uint64(n))
	keys, order := gpu.Make[uint64](r, n), gpu.Make[uint32](r, n)
	keys2, order2 := gpu.Make[uint64](r, n), gpu.Make[uint32](r, n)
	r.Each(joinKernels, "cell_keys", n, in.x.Arg(), in.y.Arg(), in.z.ArgOrNull(), count,
		gpu.F64(g.lowX), gpu.F64(g.lowY), gpu.F64(g.lowZ),
		gpu.F64(g.scale), gpu.U32(g.colBits), gpu.U32(g.rowBits), keys.Arg(), order.Arg())
	if r.Err() == nil {
		var err error
		keys, order, err = prim.SortPairs(r.Stream, r.Arena, keys, keys2, order, order2, 0, g.bits)
		r.Fail(err)
	}
	r.Stage("sort")

	x, y := gpu.Make[float64](r, n), gpu.Make[float64](r, n)
	var z gpu.Buffer[float64]
	if in.z.Len() > 0 {
		z, s.z = gpu.Make[float64](r, n), gpu.Make[float64](r, n)
	}
	s.feature, s.placeOf, s.weight = gpu.Make[uint32](r, n), gpu.Make[uint32](r, n),
		gpu.Zeros[uint32](r, n)
	r.Each(joinKernels, "cell_gather", n, order.Arg(), in.x.Arg(), in.y.Arg(), in.z.ArgOrNull(),
		in.feature.Arg(), count,
		x.Arg(), y.Arg(), z.ArgOrNull(), s.feature.Arg())
	lead, marks, sums := gpu.Make[uint32](r, n), gpu.Make[uint64](r, n), gpu.Make[uint64](r, n)
	crowded = gpu.Zeros[uint32](r, 1)
	r.Each(joinKernels, "cell_marks", n, keys.Arg(), x.Arg(), y.Arg(), z.ArgOrNull(),
		s.feature.Arg(), count,
		lead.Arg(), s.weight.Arg(), marks.Arg(), crowded.Arg())
	r.Do(func() error { return prim.ExclusiveScan(r.Stream, r.Arena, marks, sums) })
	s.x, s.y, s.cell = gpu.Make[float64](r, n), gpu.Make[float64](r, n), gpu.Make[uint32](r, n)
	cellKeys, cellStart := gpu.Make[uint64](r, n), gpu.Make[uint32](r, n+1)
	s.counts = gpu.Make[uint32](r, 2)
	r.Each(joinKernels, "cell_places", n, keys.Arg(), x.Arg(), y.Arg(), z.ArgOrNull(), lead.Arg(),
		marks.Arg(), sums.Arg(), count,
		s.x.Arg(), s.y.Arg(), s.z.ArgOrNull(), s.cell.Arg(), s.placeOf.Arg(), cellKeys.Arg(),
		cellStart.Arg(), s.counts.Arg())
	s.spans = gpu.Make[[2]uint32](r, n*int(g.rows))
	r.Each(joinKernels, "cell_spans", n*int(g.rows), cellKeys.Arg(), cellStart.Arg(),
		s.counts.Arg(),
		gpu.U32(g.colBits), gpu.U32(g.rowBits), gpu.U32(g.rows), s.spans.Arg())
	r.Stage("places")
	return crowded
}

// degrees counts the neighbours of all places and computes the offsets of their lists. Given masks,
// it also finds the features near each place.
func (s *gpuScene) degrees(masks, near gpu.Buffer[uint64]) {
	r := s.r
	degree := gpu.Make[uint32](r, s.points+1)
	s.offsets = gpu.Make[uint64](r, s.points+1)
	r.Each(joinKernels, "neighbours_count", s.points+1, s.x.Arg(), s.y.Arg(), s.z.ArgOrNull(),
		s.spans.Arg(), s.cell.Arg(), s.counts.Arg(),
		gpu.U32(s.grid.rows), gpu.F64(s.limit), masks.ArgOrNull(), gpu.U64(uint64(s.points+1)),
		degree.Arg(), near.ArgOrNull())
	r.Do(func() error { return prim.ExclusiveScan(r.Stream, r.Arena, degree, s.offsets) })
	r.Stage("count")
}

// unsigned returns the same memory as unsigned numbers; none may be negative.
func unsigned(v []int32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// count counts the neighbours of all places and the pairs of features.
func (s *gpuScene) count() *pairCounts {
	r, n := s.r, s.features
	bit := make([]uint32, n)
	for f := range bit {
		bit[f] = uint32(f)
	}
	masks, near := s.masks(bit), gpu.Make[uint64](r, s.points)
	s.degrees(masks, near)
	pairs := gpu.Zeros[uint64](r, n*n)
	blocks := min((s.points+gpu.Threads-1)/gpu.Threads, 4*r.dev.Info().Multiprocessors)
	r.Launch(joinKernels, "pair_counts", gpu.Grid(blocks, gpu.Threads), s.feature.Arg(),
		s.weight.Arg(),
		s.placeOf.Arg(), gpu.U64(uint64(s.points)),
		near.Arg(), gpu.U32(uint32(n)), pairs.Arg())
	s.places = int(gpu.Get(r, s.counts, 2)[1])
	if r.Err() != nil {
		return nil
	}
	s.edges = int64(gpu.Get(r, s.offsets.Slice(s.points, s.points+1), 1)[0])
	counts := newPairCounts(n)
	for i, c := range gpu.Get(r, pairs, n*n) {
		counts.dense[i] = int64(c)
	}
	r.Stage("pairs")
	return counts
}

// masks returns the features of each place as bits. bit has the bit of each feature; features with
// a bit above 63 are left out.
func (s *gpuScene) masks(bit []uint32) gpu.Buffer[uint64] {
	r := s.r
	n := s.places
	if n == 0 { // not counted yet
		n = s.points
	}
	masks := gpu.Zeros[uint64](r, n)
	table := gpu.Put(r, bit)
	r.Each(joinKernels, "place_masks", s.points, s.feature.Arg(), s.placeOf.Arg(),
		gpu.U64(uint64(s.points)), table.Arg(), masks.Arg())
	return masks
}

// lists writes the neighbours of the places [lo, hi) to a buffer.
func (s *gpuScene) lists(lo, hi int, to gpu.Buffer[uint32]) {
	s.r.Each(joinKernels, "neighbours_fill", hi-lo, s.x.Arg(), s.y.Arg(), s.z.ArgOrNull(),
		s.spans.Arg(), s.cell.Arg(), s.counts.Arg(),
		gpu.U32(s.grid.rows), gpu.F64(s.limit), s.offsets.Arg(), gpu.U64(uint64(lo)),
		gpu.U64(uint64(hi)), to.Arg())
}

// chunk returns the end of the longest range of places from lo on whose lists have at most the
// given number of entries. It contains at least one place.
func (s *gpuScene) chunk(lo int, entries int64) int {
	if s.edges <= entries {
		return s.places
	}
	if s.boundary == nil {
		s.boundary = gpu.Get(s.r, s.offsets, s.places+1)
	}
	hi := lo + 1
	for hi < s.places && int64(s.boundary[hi+1]-s.boundary[lo]) <= entries {
		hi++
	}
	return hi
}

// longest returns the length of the longest list of neighbours, or least if that is more.
func (s *gpuScene) longest(least int64) int64 {
	if s.edges <= least {
		return least
	}
	if s.boundary == nil {
		s.boundary = gpu.Get(s.r, s.offsets, s.places+1)
	}
	for i := range s.places {
		least = max(least, int64(s.boundary[i+1]-s.boundary[i]))
	}
	return least
}

// hostScene copies a graph that the host has joined: with nearest neighbours, crowded cells, or
// more features than a mask has bits.
func hostScene(r *gpuRun, g *neighbours, features int) *gpuScene {
	places := g.len()
	entries := len(g.feat)
	s := &gpuScene{r: r, points: entries, places: places, features: features, limit: g.limit}
	edges := int64(0)
	offsets := make([]uint64, places+1)
	for i := range int32(places) {
		list, _ := g.of(i, nil)
		edges += int64(len(list))
		offsets[i+1] = uint64(edges)
	}
	s.edges, s.boundary = edges, offsets
	r.use(pointMemory, int64(places)*64+int64(entries)*48+4*edges+gpuBytesBesides, "copying places")
	s.x, s.y = gpu.Put(r, g.x), gpu.Put(r, g.y)
	if g.z != nil {
		s.z = gpu.Put(r, g.z)
	}
	if g.reach != nil {
		s.reach = gpu.Put(r, g.reach)
	}
	placeOf := make([]uint32, entries)
	for i := range places {
		for k := g.first[i]; k < g.first[i+1]; k++ {
			placeOf[k] = uint32(i)
		}
	}
	s.feature, s.weight, s.placeOf = gpu.Put(r, unsigned(g.feat)), gpu.Put(r, unsigned(g.weight)),
		gpu.Put(r, placeOf)
	s.offsets = gpu.Put(r, offsets)
	s.hosted = gpu.Make[uint32](r, int(edges))
	at := 0
	for _, b := range g.blocks {
		r.Do(func() error { return s.hosted.Slice(at, at+len(b)).Upload(r.Stream, unsigned(b)) })
		at += len(b)
	}
	r.Stage("copy places")
	return s
}
