package coloc

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
)

// Nearest neighbours: the reach of a place is the squared distance to the k-th nearest other point
// (points, not places: other points at the same place come first, at distance 0). Two places are
// neighbours if one is within the reach of the other. So all ties at the k-th distance are
// included, and the input order does not matter.

// kdTree is a balanced k-d tree over the places: each range of order is split at its middle, along
// the axis in which it is widest.
type kdTree struct {
	p     *places
	order []int32
	axis  []int8 // of the split at each middle
}

const kdLeaf = 8

func newKDTree(ctx context.Context, p *places) *kdTree {
	t := &kdTree{p: p, order: make([]int32, p.len()), axis: make([]int8, p.len())}
	for i := range t.order {
		t.order[i] = int32(i)
	}
	t.build(ctx, 0, len(t.order))
	return t
}

func (p *places) coord(axis int8, i int32) float64 {
	switch axis {
	case 0:
		return p.x[i]
	case 1:
		return p.y[i]
	}
	return p.z[i]
}

// build sorts a range. If ctx has ended, the tree is incomplete and must not be used.
func (t *kdTree) build(ctx context.Context, lo, hi int) {
	if hi-lo <= kdLeaf || hi-lo > 1<<12 && ctx.Err() != nil {
		return
	}
	axes := int8(2)
	if t.p.z != nil {
		axes = 3
	}
	best, widest := int8(0), -1.0
	for a := range axes {
		low, high := math.Inf(1), math.Inf(-1)
		for _, i := range t.order[lo:hi] {
			c := t.p.coord(a, i)
			low, high = min(low, c), max(high, c)
		}
		if high-low > widest {
			best, widest = a, high-low
		}
	}
	slices.SortFunc(t.order[lo:hi], func(i, j int32) int {
		return cmp.Compare(t.p.coord(best, i), t.p.coord(best, j))
	})
	mid := (lo + hi) / 2
	t.axis[mid] = best
	t.build(ctx, lo, mid)
	t.build(ctx, mid+1, hi)
}

// visit calls do for every place whose squared distance is at most *limit, which do may lower.
// Distances are rounded, but rounding is monotonic: a place beyond a splitting plane is never
// computed to be nearer than the plane.
func (t *kdTree) visit(from int32, lo, hi int, limit *float64, do func(place int32, d2 float64)) {
	if hi-lo <= kdLeaf {
		for _, i := range t.order[lo:hi] {
			if d := t.p.distance2(from, i); d <= *limit {
				do(i, d)
			}
		}
		return
	}
	mid := (lo + hi) / 2
	at := t.order[mid]
	axis := t.axis[mid]
	gap := t.p.coord(axis, from) - t.p.coord(axis, at)
	nearLo, nearHi, farLo, farHi := lo, mid, mid+1, hi
	if gap > 0 {
		nearLo, nearHi, farLo, farHi = mid+1, hi, lo, mid
	}
	t.visit(from, nearLo, nearHi, limit, do)
	if d := t.p.distance2(from, at); d <= *limit {
		do(at, d)
	}
	if float64(gap*gap) <= *limit {
		t.visit(from, farLo, farHi, limit, do)
	}
}

// nearest is the set of the nearest places that together have at least k points.
type nearest struct {
	k     int64
	held  int64
	items []reached // ascending by distance
}

type reached struct {
	d2     float64
	points int64
}

// add adds a place and returns the squared distance beyond which no place matters.
func (n *nearest) add(d2 float64, points int64) float64 {
	at, _ := slices.BinarySearchFunc(n.items, d2, func(r reached, d float64) int { return cmp.Compare(r.d2, d) })
	n.items = slices.Insert(n.items, at, reached{d2, points})
	n.held += points
	for last := len(n.items) - 1; n.held-n.items[last].points >= n.k; last-- {
		n.held -= n.items[last].points
		n.items = n.items[:last]
	}
	if n.held < n.k {
		return math.Inf(1)
	}
	return n.items[len(n.items)-1].d2
}

// joinNearest joins every place with those in its reach, and those in whose reach it is, within the
// squared distance limit.
func joinNearest(ctx context.Context, p *places, k int, limit float64, cores cores, budget int64) (*neighbours, error) {
	n := p.len()
	points := make([]int64, n)
	all := int64(0)
	for i := range points {
		for e := p.first[i]; e < p.first[i+1]; e++ {
			points[i] += int64(p.weight[e])
		}
		all += points[i]
	}
	g := &neighbours{places: p, limit: limit, reach: make([]float64, n)}
	tree := newKDTree(ctx, p)
	within := make([][][]int32, blockCount(n)) // by block and place: the places in its reach
	var held atomic.Int64
	err := cores.at("nearest neighbours").each(ctx, len(within), func(_, b int) error {
		lo, hi := int32(b<<blockShift), int32(min(n, (b+1)<<blockShift))
		within[b] = make([][]int32, hi-lo)
		steps := 0
		stopped := func() bool { // a place may have a million neighbours
			steps++
			return steps&4095 == 0 && ctx.Err() != nil
		}
		for i := lo; i < hi; i++ {
			bound := limit
			switch {
			case points[i]-1 >= int64(k):
				bound = 0
			case all-1 > int64(k): // else all are among the nearest
				best := nearest{k: int64(k) - (points[i] - 1)}
				tree.visit(i, 0, n, &bound, func(j int32, d2 float64) {
					switch {
					case stopped():
						bound = -1
					case j != i:
						bound = min(limit, best.add(d2, points[j]))
					}
				})
			}
			g.reach[i] = bound
			var list []int32
			tree.visit(i, 0, n, &bound, func(j int32, _ float64) {
				switch {
				case stopped() || 8*int64(len(list)) > budget:
					bound = -1
				case j != i:
					list = append(list, j)
				}
			})
			within[b][i-lo] = list
			if 28*int64(n)+8*held.Add(int64(len(list))) > budget {
				return fmt.Errorf("the %d nearest neighbours of %d places need more than the memory bound for patterns of size 2: raise coloc.Options.Memory or lower coloc.Options.KNN", k, n)
			}
			if bound < 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	lists := make([][]int32, n)
	for b := range within {
		for o, list := range within[b] {
			i := int32(b<<blockShift + o)
			lists[i] = append(lists[i], list...)
			for _, j := range list {
				lists[j] = append(lists[j], i)
			}
		}
	}
	g.pack(lists)
	return g, nil
}

// pack stores the lists, sorted and without duplicates, in blocks.
func (g *neighbours) pack(lists [][]int32) {
	n := len(lists)
	g.blocks = make([][]int32, blockCount(n))
	g.end = make([]uint32, n)
	for b := range g.blocks {
		block := []int32{}
		for i := b << blockShift; i < min(n, (b+1)<<blockShift); i++ {
			slices.Sort(lists[i])
			block = append(block, slices.Compact(lists[i])...)
			g.end[i] = uint32(len(block))
			lists[i] = nil
		}
		g.blocks[b] = block
		g.edges += int64(len(block))
	}
}
