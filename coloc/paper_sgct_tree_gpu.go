package coloc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuTree has the instance trees of candidates of one length.
type gpuTree struct {
	g          *gpuSGCT
	length     int
	list       [][]int32
	candidates gpu.Buffer[uint32]

	// Nodes of all levels, one level after the other.
	instance  gpu.Buffer[uint32]
	parent    gpu.Buffer[uint32]
	candidate gpu.Buffer[uint32]
	mask      gpu.Buffer[uint8] // 1 if the node is a neighbour of all its ancestors

	marks  gpu.Buffer[uint32] // bitmaps of participating instances, by candidate and feature
	counts gpu.Buffer[uint32] // their numbers

	distinct []uint32 // instead, if instances are written out: see countRows
}

// part makes the trees of candidates [lo, hi) from limit of their pairs, after skip. If there is
// not enough room, it makes two parts: of the candidates or, of a single one, of its pairs.
func (t *gpuTree) part(lo, hi, skip, limit int) error {
	r := t.g.r
	mark := r.Arena.Mark()
	fits, most, err := t.grow(lo, hi, skip, limit)
	if e := r.Arena.Release(mark); err == nil {
		err = e
	}
	switch {
	case err != nil || fits:
		return err
	case hi-lo > 1:
		mid := (lo + hi) / 2
		if err := t.part(lo, mid, skip, limit); err != nil {
			return err
		}
		return t.part(mid, hi, skip, limit)
	case most > 1 && !t.g.rows: // the distinct points of parts cannot be added
		half := (most + 1) / 2
		if err := t.part(lo, hi, skip, half); err != nil {
			return err
		}
		return t.part(lo, hi, skip+half, min(limit, most)-half)
	}
	return fmt.Errorf("sgct: the instance tree of a pattern of size %d (%s) needs more than the "+
		"GPU's memory bound: use coloc.Options.Algorithm=auto, which lists no instances, or raise "+
		"engine.Device.Memory or coloc.Options.MinPrevalence", t.length, strings.Join(t.g.pts.Names(t.list[lo]), ", "))
}

// grow builds all levels. fits is false if there is not enough room for them. most is the largest
// number of pairs of a candidate.
func (t *gpuTree) grow(lo, hi, skip, limit int) (fits bool, most int, err error) {
	g, r := t.g, t.g.r
	n := hi - lo
	list := t.candidates
	if r.Err() == nil {
		list = t.candidates.Slice(lo*t.length, hi*t.length)
	}
	first, counts, offsets := gpu.Make[uint64](r, n), gpu.Zeros[uint32](r, n+1),
		gpu.Make[uint64](r, n+1)
	r.Each(sgctKernels, "tree_roots", n,
		append(append([]gpu.Arg{list.Arg(), gpu.U64(uint64(n)), gpu.U32(uint32(t.length)),
			gpu.U32(g.typeBits), gpu.U32(g.bits)},
			g.itm.args()...), gpu.U64(uint64(skip)), gpu.U64(uint64(limit)), first.Arg(),
			counts.Arg())...)
	pairs, owner, err := t.balance(counts, offsets, n)
	if err != nil {
		return false, 0, err
	}
	for _, c := range gpu.Get(r, counts, n) {
		most = max(most, int(c))
	}
	if pairs == 0 {
		return true, most, r.Err()
	}
	if 2*pairs > g.maxNodes {
		return false, most, r.Err()
	}
	r.Each(sgctKernels, "tree_first", pairs, owner.Arg(), offsets.Arg(), first.Arg(),
		gpu.U64(uint64(pairs)), gpu.U32(g.bits), g.pairs.Arg(),
		t.instance.Arg(), t.parent.Arg(), t.candidate.Arg(), t.mask.Arg())
	start, nodes := pairs, pairs // first node and number of nodes of the last level
	for level := 1; level+1 < t.length; level++ {
		mark := r.Arena.Mark()
		at := []gpu.Arg{list.Arg(), gpu.U32(uint32(t.length))}
		packing := []gpu.Arg{gpu.U32(g.typeBits), gpu.U32(g.bits)}
		first, counts, offsets := gpu.Make[uint64](r, nodes), gpu.Zeros[uint32](r, nodes+1),
			gpu.Make[uint64](r, nodes+1)
		r.Each(sgctKernels, "tree_count", nodes,
			slices.Concat(at, []gpu.Arg{gpu.U32(uint32(level)), gpu.U64(uint64(start)),
				gpu.U64(uint64(nodes)),
				t.instance.Arg(), t.candidate.Arg(), t.mask.Arg()}, packing, g.itnm.args(),
				[]gpu.Arg{first.Arg(), counts.Arg()})...)
		next := start + nodes
		children, owner, err := t.balance(counts, offsets, nodes)
		if err != nil {
			return false, 0, err
		}
		if children == 0 {
			return true, most, r.Err()
		}
		if next+children > g.maxNodes {
			return false, most, r.Err()
		}
		r.Each(sgctKernels, "tree_fill", children, owner.Arg(), offsets.Arg(), first.Arg(),
			gpu.U64(uint64(children)), gpu.U64(uint64(start)), gpu.U64(uint64(next)),
			gpu.U32(g.bits), g.pairs.Arg(), t.instance.Arg(), t.parent.Arg(), t.candidate.Arg())
		r.Each(sgctKernels, "tree_test", children,
			slices.Concat(at, []gpu.Arg{gpu.U32(uint32(level + 1)), gpu.U64(uint64(next)),
				gpu.U64(uint64(children)),
				t.instance.Arg(), t.parent.Arg(), t.candidate.Arg()}, packing, g.itnm.args(),
				[]gpu.Arg{g.pairs.Arg(), t.mask.Arg()})...)
		r.Fail(r.Arena.Release(mark))
		start, nodes = next, children
	}
	if r.Err() != nil {
		return false, 0, r.Err()
	}
	if g.rows {
		return true, most, t.countRows(lo, start, nodes)
	}
	row := lo * t.length
	marks := t.marks.Slice(row*int(g.words), t.marks.Len())
	unique := t.counts.Slice(row, t.counts.Len())
	r.Each(sgctKernels, "tree_unique", nodes, gpu.U32(uint32(t.length)), gpu.U64(uint64(start)),
		gpu.U64(uint64(nodes)),
		t.instance.Arg(), t.parent.Arg(), t.candidate.Arg(), t.mask.Arg(), gpu.U32(g.words),
		marks.Arg(), unique.Arg())
	return true, most, r.Err()
}

// balance turns the numbers of children into offsets and finds the owner of every child. It returns
// no owners if there are too many children.
func (t *gpuTree) balance(counts gpu.Buffer[uint32], offsets gpu.Buffer[uint64], n int) (total int,
	owner gpu.Buffer[uint32], err error) {
	r := t.g.r
	r.Do(func() error { return prim.ExclusiveScan(r.Stream, r.Arena, counts, offsets) })
	if r.Err() != nil {
		return 0, owner, r.Err()
	}
	total = int(gpu.Get(r, offsets.Slice(n, n+1), 1)[0])
	if total == 0 || total > t.g.maxNodes {
		return total, owner, r.Err()
	}
	owner = gpu.Make[uint32](r, total)
	r.Do(func() error { return prim.Balance(r.Stream, offsets.Slice(0, n), total, owner) })
	return total, owner, r.Err()
}
