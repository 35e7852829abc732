package coloc

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
	"github.com/collocate/collocate/internal/par"
)

// gpuLattice searches the feature sets of a universe. Nodes are on a stack in device memory. A
// round takes as many from its top as it can, and a block of threads evaluates each. The search is
// breadth first while there is memory, and depth first when memory gets short. Between rounds, only
// counters are copied to the host.
type gpuLattice struct {
	u            *gpuUniverse
	heads, tails gpu.Buffer[uint64] // the stack
	batchHeads   gpu.Buffer[uint64] // nodes of the current round
	batchTails   gpu.Buffer[uint64]
	found        gpu.Buffer[uint64] // sets found
	counters     gpu.Buffer[uint64] // nodes on the stack, sets found, size of the largest set found
	need, pairs  gpu.Buffer[uint64]
	kept         gpu.Buffer[uint64] // sets that compact keeps
	flags        gpu.Buffer[uint8]  // by set found: whether compact keeps it
}

// latticeRoom has the sizes of the stack and of a round, in nodes, and of the list of sets found.
// Evaluating a node adds at most 63 sets to each list. Tests use small sizes.
type latticeRoom struct{ stack, round, found int }

var defaultLatticeRoom = latticeRoom{stack: 1 << 21, round: 1 << 15, found: 1 << 24}

// room returns the sizes. Neither stack nor list takes more than a sixteenth of the memory.
func (u *gpuUniverse) room() latticeRoom {
	r := u.s.r
	room := defaultLatticeRoom
	if r.job.evaluation.room != nil {
		room = *r.job.evaluation.room
	}
	// No set is pushed or found twice.
	if sets := 1 << min(len(u.features), 40); r.job.evaluation.room == nil {
		room.stack, room.found = min(room.stack, max(4096, sets)), min(room.found, max(4096, sets))
	}
	room.stack = int(min(int64(room.stack), max(4096, r.budget/16/16)))
	room.found = int(min(int64(room.found), max(4096, r.budget/16/25)))
	room.round = min(room.round, room.stack)
	return room
}

func (u *gpuUniverse) latticeBytes() int64 {
	room := u.room()
	return int64(room.stack+room.round)*16 + int64(room.found)*17 + 64<<10 + u.countBytes()
}

// countBytes is the memory for the counts of countPart patterns.
func (u *gpuUniverse) countBytes() int64 { return 4 * countPart * int64(len(u.features)) }

// countPart is the number of patterns that are counted at a time.
const countPart = 1 << 14

// search finds the patterns, pairs included: the maximal ones or, with Options.All, all prevalent
// sets. Part number i of n finds those that begin with every n-th pair. A maximal one of a part may
// not be one of the whole.
func (u *gpuUniverse) search(i, n int) (*gpuLattice, []uint64) {
	r := u.s.r
	room := u.room()
	l := &gpuLattice{
		u: u, heads: gpu.Make[uint64](r, room.stack), tails: gpu.Make[uint64](r, room.stack),
		batchHeads: gpu.Make[uint64](r, room.round), batchTails: gpu.Make[uint64](r, room.round),
		found: gpu.Make[uint64](r, room.found), kept: gpu.Make[uint64](r, room.found),
		flags: gpu.Make[uint8](r, room.found),
		need:  gpu.Put(r, u.need), pairs: gpu.Put(r, u.pairs),
	}
	heads, tails, found := u.firstNodes()
	heads, tails, found = everyNth(heads, i, n), everyNth(tails, i, n), everyNth(found, i, n)
	if len(heads) > room.stack || len(found) > room.found {
		r.Fail(fmt.Errorf("%d pairs of features do not fit the GPU's memory bound: raise engine.Device.Memory",
			len(heads)))
	}
	longest := uint32(min(2, len(found)))
	l.counters = gpu.Put(r, []uint64{uint64(len(heads)), uint64(len(found)), uint64(longest)})
	if r.Err() != nil {
		return l, nil
	}
	r.Fail(l.heads.Upload(r.Stream, heads))
	r.Fail(l.tails.Upload(r.Stream, tails))
	r.Fail(l.found.Upload(r.Stream, found))
	top, known := len(heads), len(found)
	rounds, judged := 0, 0
	for top > 0 && r.Err() == nil {
		n := min(top, room.round)
		sets := uint64(1) << min(len(u.features), 63)
		if uint64(min(room.stack, room.found)) < sets {
			// The sets might not fit: take only as many nodes as have room for all their children.
			n = min(n, max(1, (room.stack-top)/64))
			if !r.job.All && known+64*n > room.found {
				known = l.compact(known)
			}
			n = min(n, (room.found-known)/64)
		}
		if n < 1 {
			r.Fail(fmt.Errorf("%d patterns found do not fit the GPU's memory bound: raise "+
				"coloc.Options.MinPrevalence or engine.Device.Memory, or ask for maximal patterns only", known))
			break
		}
		l.round(top-n, n, known, longest)
		rounds, judged = rounds+1, judged+n
		c := gpu.Get(r, l.counters, 3)
		top, known, longest = int(c[0]), int(c[1]), uint32(c[2])
	}
	r.Stage("lattice")
	if !r.job.All {
		known = l.compact(known)
	}
	patterns := gpu.Get(r, l.found, known)
	r.Stage("maximal")
	r.job.logf("lattice: %d nodes evaluated in %d rounds, %d patterns", judged, rounds, known)
	return l, patterns
}

// everyNth returns the items i, i+n, i+2n and so on.
func everyNth(list []uint64, i, n int) (some []uint64) {
	for ; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// maximalSets returns the sets that no other one contains. No set may be there twice.
func maximalSets(sets []uint64) (out []uint64) {
	slices.SortFunc(sets, func(a, b uint64) int {
		return cmp.Or(bits.OnesCount64(b)-bits.OnesCount64(a), cmp.Compare(a, b))
	})
	var with [64][]uint64 // by bit: the maximal sets that have it
	for _, s := range sets {
		// Those that contain the set have all its bits, so the shortest list suffices.
		shortest := with[bits.TrailingZeros64(s)]
		for m := s; m != 0; m &= m - 1 {
			if list := with[bits.TrailingZeros64(m)]; len(list) < len(shortest) {
				shortest = list
			}
		}
		if slices.ContainsFunc(shortest, func(o uint64) bool { return s&^o == 0 }) {
			continue
		}
		out = append(out, s)
		for m := s; m != 0; m &= m - 1 {
			b := bits.TrailingZeros64(m)
			with[b] = append(with[b], s)
		}
	}
	return out
}

// firstNodes returns the prevalent pairs as nodes. Pairs that cannot be extended are in found; with
// Options.All, all pairs are.
func (u *gpuUniverse) firstNodes() (heads, tails, found []uint64) {
	for a := range u.features {
		for m := u.pairs[a] &^ (2<<a - 1); m != 0; m &= m - 1 {
			b := bits.TrailingZeros64(m)
			head := uint64(1)<<a | uint64(1)<<b
			tail := u.pairs[a] & u.pairs[b]
			if u.root != 0 {
				// Every pattern contains the root. Start from pairs with the root and extend them
				// by the other features in ascending order.
				if head&u.root == 0 {
					continue
				}
				other := bits.TrailingZeros64(head &^ u.root)
				tail &^= u.root | (2<<other - 1)
			} else {
				tail &^= 2<<b - 1
			}
			if u.s.r.job.All || tail == 0 {
				found = append(found, head)
			}
			if tail != 0 {
				heads, tails = append(heads, head), append(tails, tail)
			}
		}
	}
	return heads, tails, found
}

// round evaluates the n nodes from first on, which are the top of the stack. known is the number of
// sets found before, and longest the size of the largest.
func (l *gpuLattice) round(first, n, known int, longest uint32) {
	r := l.u.s.r
	if r.Err() != nil {
		return
	}
	r.Fail(l.heads.Slice(first, first+n).CopyTo(r.Stream, l.batchHeads))
	r.Fail(l.tails.Slice(first, first+n).CopyTo(r.Stream, l.batchTails))
	r.Fail(l.counters.Slice(0, 1).Upload(r.Stream, []uint64{uint64(first)}))
	all := uint32(0)
	if r.job.All {
		all = 1
	}
	args := append([]gpu.Arg{l.batchHeads.Arg(), l.batchTails.Arg(), gpu.U32(uint32(n))},
		l.u.columns.args()...)
	r.Launch(latticeKernels, "judge", gpu.Grid(n, gpu.Threads), append(args,
		l.need.Arg(), l.pairs.Arg(), gpu.U32(all),
		l.heads.Arg(), l.tails.Arg(), gpu.U64(uint64(l.heads.Len())), l.found.Arg(),
		gpu.U64(uint64(l.found.Len())), gpu.U64(uint64(known)), gpu.U32(longest),
		l.counters.Arg())...)
}

// compact keeps only the maximal ones of the sets found, and returns their number.
func (l *gpuLattice) compact(known int) int {
	r := l.u.s.r
	if r.Err() != nil || known == 0 {
		return 0
	}
	found, flags := l.found.Slice(0, known), l.flags.Slice(0, known)
	r.Each(latticeKernels, "maximal_sets", known, found.Arg(), gpu.U64(uint64(known)), flags.Arg())
	r.Do(func() error {
		return prim.Select(r.Stream, r.Arena, found, flags, l.kept, l.counters.Slice(1, 2))
	})
	l.found, l.kept = l.kept, l.found
	return int(gpu.Get(r, l.counters, 2)[1])
}

// participation counts the participating points of each pattern. It returns the patterns with their
// counts, ordered by length, then by features.
func (l *gpuLattice) participation(patterns []uint64) []found {
	u, r := l.u, l.u.s.r
	sortSetsByName(patterns, r.job.cores)
	stride, numbers := 0, 0
	for _, p := range patterns {
		stride = max(stride, bits.OnesCount64(p))
		numbers += bits.OnesCount64(p)
	}
	features, points := make([]int32, 0, numbers), make([]int64, 0, numbers)
	out := make([]found, 0, len(patterns))
	// The list of sets found has room for those of this device, and may be short for its share.
	size := max(1, min(countPart, l.found.Len()))
	counts := gpu.Make[uint32](r, min(size, len(patterns))*stride)
	for part := range slices.Chunk(patterns, size) {
		if r.Err() != nil {
			return nil
		}
		list := l.found.Slice(0, len(part))
		r.Fail(list.Upload(r.Stream, part))
		args := append([]gpu.Arg{list.Arg(), gpu.U64(uint64(len(part))), gpu.U32(uint32(stride))},
			u.columns.args()...)
		r.Each(latticeKernels, "participation", 32*len(part)*stride, append(args, counts.Arg())...)
		got := gpu.Get(r, counts, len(part)*stride)
		for i, p := range part {
			from := len(features)
			for k := i * stride; p != 0; p, k = p&(p-1), k+1 {
				features = append(features, u.features[bits.TrailingZeros64(p)])
				points = append(points, int64(got[k]))
			}
			out = append(out, found{features[from:len(features):len(features)],
				points[from:len(points):len(points)]})
		}
	}
	r.Stage("participation")
	return out
}

// sortSetsByName orders sets as sortFound does, by length, then by features: of two sets of the
// same length, the one that has the lowest bit in which they differ comes first.
func sortSetsByName(sets []uint64, c cores) {
	keys, order := make([]uint64, len(sets)), make([]int32, len(sets))
	for i, s := range sets {
		keys[i], order[i] = ^bits.Reverse64(s), int32(i)
	}
	par.RadixSortPairs(c.workers, keys, order, nil, nil, 0, 64)
	byLength := make([][]uint64, 65)
	for _, k := range keys {
		s := bits.Reverse64(^k)
		n := bits.OnesCount64(s)
		byLength[n] = append(byLength[n], s)
	}
	at := sets[:0]
	for _, list := range byLength {
		at = append(at, list...)
	}
}
