package coloc

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

//go:embed kernels/sgct.ptx
var sgctPTX string

var sgctKernels = gpu.NewSource("coloc/sgct", sgctPTX)

// gpuSGCT is the thesis' algorithm on the device. The device sweeps the points for pairs, sorts
// them, makes the two maps and selects the prevalent pairs of features. The CPU lists cliques. Then
// the device evaluates all candidates of one length at once, and grows their instance trees level
// by level. If the trees exceed the memory, it divides the candidates or the pairs of a candidate.
type gpuSGCT struct {
	r         *gpuRun
	pts       *Points
	typeBits  uint32                // bits of a feature
	bits      uint32                // bits of an instance's number within its feature
	words     uint32                // length of a feature's bitmap
	pairs     gpu.Buffer[uint64]    // packed; see Packing in kernels/sgct.cu
	itm, itnm gpuMap                // the thesis' ITMPack and ITNMPack
	prevalent map[[2]int32][2]int64 // participating points of all pairs of features
	maxNodes  int                   // of all trees that are in memory together
	uploaded  func()                // called when the points are on the device; or nil
	rows      bool                  // write out the instances, as published
}

// gpuMap maps a key to a range of pairs.
type gpuMap struct {
	unique, begins gpu.Buffer[uint64]
	keys, values   gpu.Buffer[uint64]
	n              int
}

func (m *gpuMap) args() []gpu.Arg {
	return []gpu.Arg{m.keys.Arg(), m.values.Arg(), gpu.U64(uint64(m.keys.Len())), m.begins.Arg()}
}

func mineSGCTOnGPU(ctx context.Context, pts *Points, j *job) (patterns []found, err error) {
	err = onGPU(ctx, j, func(r *gpuRun) error {
		g := &gpuSGCT{r: r, pts: pts, rows: j.Algorithm == SGCTRows}
		adj, err := g.prepare()
		if err != nil {
			return err
		}
		cliques, err := maximalCliques(ctx, adj, j.cores, newMeter(j.budget))
		if err != nil {
			return err
		}
		j.logf("sgct: %d candidate cliques", len(cliques))
		s := &sgct{job: j, pts: pts, total: j.total, evaluate: g.evaluate}
		patterns, err = s.split(ctx, cliques)
		if err == nil && j.All {
			patterns, err = s.subsets(ctx, patterns)
		}
		return err
	})
	return patterns, err
}

// sgctBytesPerPoint and sgctBytesPerPair are the memory of the steps before the trees.
const (
	sgctBytesPerPoint = 128
	sgctBytesPerPair  = 136
)

// prepare runs the steps before the candidates, and returns the graph of prevalent pairs of
// features.
func (g *gpuSGCT) prepare() ([][]int32, error) {
	adj := make([][]int32, len(g.pts.Features))
	pairs, err := g.findPairs()
	if err != nil || pairs == 0 {
		return adj, err
	}
	g.indexPairs()
	return g.prevalentPairs(adj)
}

// findPairs lists the pairs of neighbours, packed, and returns their number.
func (g *gpuSGCT) findPairs() (int, error) {
	if g.pts.Len() == 0 {
		return 0, nil
	}
	numbers, most := instanceNumbers(g.pts)
	g.typeBits = uint32(bits.Len(uint(len(g.pts.Features))))
	g.bits = uint32(bits.Len32(most))
	g.words = most/32 + 1
	if 2*(g.typeBits+g.bits) > 63 {
		return 0, fmt.Errorf("sgct on a GPU: pairs of %d features with up to %d points do not fit "+
			"a word: use coloc.Options.Algorithm=auto", len(g.pts.Features), most)
	}
	return g.sweep(numbers)
}

// instanceNumbers numbers the points of each feature, in the order of the input.
func instanceNumbers(pts *Points) (numbers []uint32, most uint32) {
	numbers = make([]uint32, pts.Len())
	next := make([]uint32, len(pts.Features))
	for i, f := range pts.Feature {
		numbers[i] = next[f]
		next[f]++
	}
	return numbers, slices.Max(next)
}

// sweep finds the pairs and returns their number.
func (g *gpuSGCT) sweep(numbers []uint32) (int, error) {
	r, j, n := g.r, g.r.job, g.pts.Len()
	if j.KNN > 0 {
		return g.hostPairs(numbers)
	}
	x, y, z := positions(g.pts, j.Geographic, j.cores)
	limit, _ := j.reach()
	r.use(pointMemory, sgctBytesPerPoint*int64(n)+gpuBytesBesides, "sgct: points")
	inX, inY, inType, inNumber := gpu.Put(r, x), gpu.Put(r, y), gpu.Put(r, unsigned(g.pts.Feature)),
		gpu.Put(r, numbers)
	var inZ, atZ gpu.Buffer[float64]
	if z != nil {
		inZ, atZ = gpu.Put(r, z), gpu.Make[float64](r, n)
	}
	count := gpu.U64(uint64(n))
	keys, order, keys2, order2 := gpu.Make[uint64](r, n), gpu.Make[uint32](r, n),
		gpu.Make[uint64](r, n), gpu.Make[uint32](r, n)
	r.Stage("sgct upload")
	if g.uploaded != nil {
		g.uploaded()
	}
	r.Each(sgctKernels, "sweep_keys", n, inX.Arg(), count, keys.Arg(), order.Arg())
	if r.Err() == nil {
		var err error
		_, order, err = prim.SortPairs(r.Stream, r.Arena, keys, keys2, order, order2, 0, 64)
		r.Fail(err)
	}
	atX, atY, atType, atNumber := gpu.Make[float64](r, n), gpu.Make[float64](r, n),
		gpu.Make[uint32](r, n), gpu.Make[uint32](r, n)
	r.Each(sgctKernels, "sweep_gather", n, order.Arg(), inX.Arg(), inY.Arg(), inZ.ArgOrNull(),
		inType.Arg(), inNumber.Arg(), count,
		atX.Arg(), atY.Arg(), atZ.ArgOrNull(), atType.Arg(), atNumber.Arg())
	counts, begins := gpu.Zeros[uint32](r, n+1), gpu.Make[uint64](r, n+1)
	r.Each(sgctKernels, "count_neighbours", 32*n, atX.Arg(), atY.Arg(), atZ.ArgOrNull(),
		atType.Arg(),
		count, gpu.F64(limit), counts.Arg())
	if r.Err() != nil {
		return 0, r.Err()
	}
	r.Fail(prim.ExclusiveScan(r.Stream, r.Arena, counts, begins))
	pairs := int(gpu.Get(r, begins.Slice(n, n+1), 1)[0])
	r.Stage("sgct count")
	g.takePairs(pairs)
	r.Each(sgctKernels, "find_neighbours", 32*n, atX.Arg(), atY.Arg(), atZ.ArgOrNull(),
		atType.Arg(),
		atNumber.Arg(), count, gpu.F64(limit),
		begins.Arg(), gpu.U32(g.typeBits), gpu.U32(g.bits), g.pairs.Arg())
	r.Stage("sgct find")
	return pairs, r.Err()
}

// takePairs allocates memory for the given number of pairs and for their maps.
func (g *gpuSGCT) takePairs(pairs int) {
	g.r.use(profileMemory, sgctBytesPerPair*int64(pairs)+gpuBytesBesides,
		"sgct: the table of instances of size 2")
	g.pairs = gpu.Make[uint64](g.r, pairs)
}

// hostPairs copies the pairs of nearest neighbours, which the CPU finds.
func (g *gpuSGCT) hostPairs(numbers []uint32) (int, error) {
	r := g.r
	j := *r.job
	j.cores = cores{workers: 1}
	var list []uint64
	err := j.graphPairs(r.Ctx, g.pts, func(_ int, a, b int32) error {
		types := uint64(g.pts.Feature[a])<<g.typeBits | uint64(g.pts.Feature[b])
		list = append(list, (types<<g.bits|uint64(numbers[a]))<<g.bits|uint64(numbers[b]))
		return nil
	})
	if err != nil {
		return 0, err
	}
	g.takePairs(len(list))
	r.Do(func() error { return g.pairs.Upload(r.Stream, list) })
	return len(list), r.Err()
}

// indexPairs sorts the pairs and makes the two maps.
func (g *gpuSGCT) indexPairs() {
	r := g.r
	alt := gpu.Make[uint64](r, g.pairs.Len())
	if r.Err() == nil {
		var err error
		g.pairs, err = prim.SortKeys(r.Stream, r.Arena, g.pairs, alt, 0, int(2*(g.typeBits+g.bits)))
		r.Fail(err)
	}
	r.Stage("sgct sort")
	g.itm = g.runs(2 * g.bits)
	g.itnm = g.runs(g.bits)
	r.Stage("sgct maps")
}

// runs maps the upper bits of pairs, from shift on, to the range of pairs that share them.
func (g *gpuSGCT) runs(shift uint32) (m gpuMap) {
	r, n := g.r, g.pairs.Len()
	shifted, count := gpu.Make[uint64](r, n), gpu.Make[uint64](r, 1)
	m.unique, m.begins = gpu.Make[uint64](r, n), gpu.Make[uint64](r, n+1)
	r.Each(sgctKernels, "shift_keys", n, g.pairs.Arg(), gpu.U64(uint64(n)), gpu.U32(shift),
		shifted.Arg())
	r.Do(func() error { return prim.Runs(r.Stream, r.Arena, shifted, m.unique, m.begins, count) })
	m.n = int(gpu.Get(r, count, 1)[0])
	slots := 4
	for slots < 2*m.n {
		slots *= 2
	}
	m.keys, m.values = gpu.Make[uint64](r, slots), gpu.Zeros[uint64](r, slots)
	r.Do(func() error { return m.keys.FillBytes(r.Stream, 0xff) })
	r.Each(sgctKernels, "map_fill", m.n, m.unique.Arg(), gpu.U64(uint64(m.n)), m.keys.Arg(),
		m.values.Arg(), gpu.U64(uint64(slots)))
	return m
}

// prevalentPairs counts the distinct instances of every pair of features, and
// selects the prevalent ones.
func (g *gpuSGCT) prevalentPairs(adj [][]int32) ([][]int32, error) {
	r, n := g.r, g.pairs.Len()
	r.use(patternMemory, 16*int64(n)+64*int64(g.itm.n)+8*int64(len(adj))+int64(n)+gpuBytesBesides,
		"sgct: distinct instances")
	countsA, countsB := gpu.Zeros[uint32](r, g.itm.n), gpu.Zeros[uint32](r, g.itm.n)
	types := gpu.U64(uint64(g.itm.n))
	second, alt := gpu.Make[uint64](r, n), gpu.Make[uint64](r, n)
	total := make([]uint64, len(r.job.total))
	for f, t := range r.job.total {
		total[f] = uint64(t)
	}
	totals, mask := gpu.Put(r, total), gpu.Make[uint8](r, g.itm.n)
	chosen, count := gpu.Make[uint64](r, g.itm.n), gpu.Make[uint64](r, 1)
	r.Each(sgctKernels, "second_keys", n, g.pairs.Arg(), gpu.U64(uint64(n)), gpu.U32(g.bits),
		second.Arg())
	if r.Err() == nil {
		var err error
		second, err = prim.SortKeys(r.Stream, r.Arena, second, alt, 0, int(2*g.typeBits+g.bits))
		r.Fail(err)
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	unique := func(keys gpu.Buffer[uint64], n int, counts gpu.Buffer[uint32]) {
		r.Each(sgctKernels, "unique_counts", n, keys.Arg(), gpu.U64(uint64(n)), gpu.U32(g.bits),
			g.itm.keys.Arg(), g.itm.values.Arg(), gpu.U64(uint64(g.itm.keys.Len())), counts.Arg())
	}
	unique(g.itnm.unique, g.itnm.n, countsA)
	unique(second, n, countsB)
	r.Each(sgctKernels, "prevalence_mask", g.itm.n, g.itm.unique.Arg(), types,
		gpu.U32(g.typeBits), countsA.Arg(), countsB.Arg(), totals.Arg(),
		gpu.F64(r.job.MinPrevalence), mask.Arg())
	r.Do(func() error {
		return prim.Select(r.Stream, r.Arena, g.itm.unique.Slice(0, g.itm.n), mask, chosen, count)
	})
	prevalent := gpu.Get(r, chosen, int(gpu.Get(r, count, 1)[0]))
	keys, a, b := gpu.Get(r, g.itm.unique, g.itm.n), gpu.Get(r, countsA, g.itm.n),
		gpu.Get(r, countsB, g.itm.n)
	if r.Err() != nil {
		return nil, r.Err()
	}
	pairOf := func(key uint64) [2]int32 {
		return [2]int32{int32(key >> g.typeBits), int32(key & (1<<g.typeBits - 1))}
	}
	g.prevalent = make(map[[2]int32][2]int64)
	for i, key := range keys {
		g.prevalent[pairOf(key)] = [2]int64{int64(a[i]), int64(b[i])}
	}
	for _, key := range prevalent {
		p := pairOf(key)
		adj[p[0]] = append(adj[p[0]], p[1])
		adj[p[1]] = append(adj[p[1]], p[0])
	}
	for _, list := range adj {
		slices.Sort(list)
	}
	r.Stage("sgct pairs")
	return adj, nil
}

// Memory of trees.
const (
	nodeBytes = 13 // of a node: instance, parent, candidate, mask
	growBytes = 28 // of a node while the next level grows: count, offset, range, owner
)

// evaluate counts the participating points of candidates of one length.
func (g *gpuSGCT) evaluate(_ context.Context, candidates [][]int32) ([][]int64, error) {
	out := make([][]int64, len(candidates))
	if len(candidates) == 0 {
		return out, nil
	}
	length := len(candidates[0])
	if length == 2 {
		for i, c := range candidates {
			p := g.prevalent[[2]int32{c[0], c[1]}]
			out[i] = []int64{p[0], p[1]}
		}
		return out, nil
	}
	r := g.r
	// Half of the remaining memory is for the bitmaps of the candidates that are evaluated
	// together, the rest for their trees.
	left := r.budget - r.arenas[pointMemory].Bytes() - r.arenas[profileMemory].Bytes()
	perCandidate, perNode := int64(length)*(4*int64(g.words)+8)+24, int64(nodeBytes+growBytes)
	if g.rows {
		perCandidate, perNode = int64(length)*8+24, perNode+rowBytes
	}
	part := int(max(1, min(int64(len(candidates)), min(left/2, sgctBitmaps)/perCandidate)))
	g.maxNodes = int(max(1<<10,
		min((left-int64(part)*perCandidate-gpuBytesBesides)/perNode,
			32*int64(g.pairs.Len())+1<<14)))
	if r.job.evaluation.entries > 0 {
		g.maxNodes = int(r.job.evaluation.entries)
	}
	g.maxNodes = min(g.maxNodes, math.MaxInt32)
	done := 0
	for list := range slices.Chunk(candidates, part) {
		counts, err := g.count(list, length, perCandidate, perNode)
		if err != nil {
			return nil, err
		}
		for i := range list {
			row := make([]int64, length)
			for k := range row {
				row[k] = int64(counts[i*length+k])
			}
			out[done+i] = row
		}
		done += len(list)
	}
	r.Stage("sgct trees")
	return out, nil
}

// sgctBitmaps bounds the memory of the bitmaps: clearing more at a time has no advantage.
const sgctBitmaps = 1 << 30

// count makes the trees of candidates and counts the instances on paths of full length.
func (g *gpuSGCT) count(candidates [][]int32, length int, perCandidate, perNode int64) ([]uint32, error) {
	r := g.r
	r.use(patternMemory, int64(len(candidates))*perCandidate+
		int64(g.maxNodes)*perNode+gpuBytesBesides, "sgct: instance trees")
	r.Do(func() error { return r.Arena.Release(0) })
	t := &gpuTree{
		g: g, length: length, list: candidates,
		instance: gpu.Make[uint32](r, g.maxNodes), parent: gpu.Make[uint32](r, g.maxNodes),
		candidate: gpu.Make[uint32](r, g.maxNodes), mask: gpu.Make[uint8](r, g.maxNodes),
		candidates: gpu.Put(r, unsigned(slices.Concat(candidates...))),
	}
	if g.rows {
		t.distinct = make([]uint32, len(candidates)*length)
		return t.distinct, t.part(0, len(candidates), 0, math.MaxInt32)
	}
	t.marks = gpu.Zeros[uint32](r, len(candidates)*length*int(g.words))
	t.counts = gpu.Zeros[uint32](r, len(candidates)*length)
	if err := t.part(0, len(candidates), 0, math.MaxInt32); err != nil {
		return nil, err
	}
	counts := gpu.Get(r, t.counts, len(candidates)*length)
	return counts, r.Err()
}
