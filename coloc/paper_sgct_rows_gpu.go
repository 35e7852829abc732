package coloc

import (
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// SGCT as published: all instances of the candidates are written out as rows, and the distinct
// points of each feature are found by sorting a column and reducing it by its keys. SGCT itself
// counts on the tree, with bitmaps, which the thesis proposes as future work.
//
// It is made of existing kernels. A gather of the sweep walks up the tree, and another one packs
// candidate and instance into a key; both also move two columns of zeros that a kernel of its own
// would not.

// rowBytes is the memory of a node's row: columns, keys, their order, runs, and zeros.
const rowBytes = 160

// keyShift is where the candidate begins in a key; the instance is below.
const keyShift = 32

// countRows writes out the instances of candidates from lo on, whose last level is a number of
// nodes from start on, and counts the distinct points of each feature.
func (t *gpuTree) countRows(lo, start, nodes int) error {
	r := t.g.r
	leaves, count := gpu.Make[uint32](r, nodes), gpu.Make[uint64](r, 1)
	if r.Err() != nil {
		return r.Err()
	}
	mask := t.mask.Slice(start, start+nodes)
	r.Do(func() error { return prim.SelectIndex(r.Stream, r.Arena, mask, leaves, count) })
	n := int(gpu.Get(r, count, 1)[0])
	if r.Err() != nil || n == 0 {
		return r.Err()
	}
	x := &gpuRows{t: t, n: n, count: count, zeros: gpu.Zeros[float64](r, max(start+nodes, 2*n)),
		unused: gpu.Make[float64](r, 2*n), columns: gpu.Make[uint32](r, 2*n),
		keys: gpu.Make[uint64](r, n), alt: gpu.Make[uint64](r, n), unique: gpu.Make[uint64](r, n),
		starts: gpu.Make[uint64](r, n+1)}
	at, above := gpu.Make[uint32](r, n), gpu.Make[uint32](r, n)
	if r.Err() != nil {
		return r.Err()
	}
	if err := x.interleave(); err != nil {
		return err
	}
	instances, candidates := x.columns.Slice(0, n), x.columns.Slice(n, 2*n)
	last := func(b gpu.Buffer[uint32]) gpu.Buffer[uint32] { return b.Slice(start, start+nodes) }
	x.gather(leaves, n, last(t.candidate), last(t.candidate), candidates, candidates)
	x.gather(leaves, n, last(t.parent), last(t.instance), at, instances)
	for level := t.length - 1; ; level-- {
		if err := x.distinct(lo, level); err != nil || level == 0 {
			return err
		}
		x.gather(at, n, t.parent, t.instance, above, instances)
		at, above = above, at
	}
}

// gpuRows are the instances of some candidates, a column at a time.
type gpuRows struct {
	t     *gpuTree
	n     int
	count gpu.Buffer[uint64]
	// columns has the points of one feature, then the candidates.
	columns       gpu.Buffer[uint32]
	order         gpu.Buffer[uint64] // of columns, for keys
	keys, alt     gpu.Buffer[uint64]
	unique        gpu.Buffer[uint64]
	starts        gpu.Buffer[uint64]
	zeros, unused gpu.Buffer[float64] // what the gather of the sweep moves besides
}

// gather copies two columns in a given order.
func (x *gpuRows) gather(order gpu.Buffer[uint32], n int, a, b, toA, toB gpu.Buffer[uint32]) {
	zeros, unused := x.zeros.Arg(), x.unused.Arg()
	x.t.g.r.Each(sgctKernels, "sweep_gather", n, order.Arg(), zeros, zeros, gpu.U64(0), a.Arg(), b.Arg(),
		gpu.U64(uint64(n)), unused, unused, gpu.U64(0), toA.Arg(), toB.Arg())
}

// interleave makes the order in which an instance and its candidate become a key: 0, n, 1, n+1, and
// so on. As words of 64 bits these are multiples of a constant, thus a sum of constants.
func (x *gpuRows) interleave() error {
	r := x.t.g.r
	steps := gpu.Make[uint64](r, x.n)
	x.order = gpu.Make[uint64](r, x.n)
	if r.Err() != nil {
		return r.Err()
	}
	some := make([]uint64, min(x.n, 1024))
	for i := range some {
		some[i] = 1<<32 | 1
	}
	r.Do(func() error { return steps.Slice(0, len(some)).Upload(r.Stream, some) })
	for have := len(some); have < x.n; have *= 2 {
		more := min(have, x.n-have)
		r.Do(func() error { return steps.Slice(0, more).CopyTo(r.Stream, steps.Slice(have, have+more)) })
	}
	r.Do(func() error { return steps.Slice(0, 1).Upload(r.Stream, []uint64{uint64(x.n) << 32}) })
	r.Do(func() error { return prim.InclusiveScan(r.Stream, r.Arena, steps, x.order) })
	return r.Err()
}

// distinct counts the distinct points of a feature by candidate.
func (x *gpuRows) distinct(lo, level int) error {
	t, r := x.t, x.t.g.r
	mark := r.Arena.Mark()
	packed := gpu.As[uint32](x.keys)
	x.gather(gpu.As[uint32](x.order), 2*x.n, x.columns, x.columns, packed, packed)
	keys := x.keys
	sorted := func(low, high int) {
		r.Do(func() (err error) {
			alt := x.alt
			if keys == x.alt {
				alt = x.keys
			}
			keys, err = prim.SortKeys(r.Stream, r.Arena, keys, alt, low, high)
			return err
		})
	}
	sorted(0, int(t.g.bits))
	sorted(keyShift, keyShift+bits.Len(uint(len(t.list))))
	r.Do(func() error { return prim.Runs(r.Stream, r.Arena, keys, x.unique, x.starts, x.count) })
	n := int(gpu.Get(r, x.count, 1)[0])
	of, lengths := gpu.Make[uint64](r, n), gpu.Make[uint64](r, n)
	r.Each(sgctKernels, "shift_keys", n, x.unique.Arg(), gpu.U64(uint64(n)), gpu.U32(keyShift), keys.Arg())
	r.Do(func() error {
		return prim.RunLengths(r.Stream, r.Arena, keys.Slice(0, n), of, lengths, x.count)
	})
	found := int(gpu.Get(r, x.count, 1)[0])
	candidates, counts := gpu.Get(r, of, found), gpu.Get(r, lengths, found)
	if r.Err() != nil {
		return r.Err()
	}
	for i, c := range candidates {
		t.distinct[(lo+int(c))*t.length+level] = uint32(counts[i])
	}
	if err := r.Arena.Release(mark); err != nil {
		return fmt.Errorf("sgct: %w", err)
	}
	return nil
}
