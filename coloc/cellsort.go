package coloc

import (
	"math/bits"

	"github.com/collocate/collocate/internal/par"
)

// cellSorter sorts points by cell. Until they are collapsed, the positions, features and members of
// the places are those of points, and the grid's start counts points. Within a cell points keep the
// input order.
type cellSorter struct {
	*places
	fromX, fromY, fromZ []float64 // in the input's order
	fromFeature         []int32
	apart               bool // points at the same position are not collapsed
	cores               cores
}

func (d *cellSorter) run(b *box, side float64) {
	n := len(d.fromX)
	cells := d.grid.layOut(b, n, d.fromZ != nil, side)
	if d.fromZ == nil && cells <= denseCells*uint64(n)+1024 {
		d.count(int(cells))
	} else {
		d.sort()
	}
}

// cellRanges is the number of ranges of cells to which points are distributed first. With more, the
// processor cannot keep up with the number of write streams: in internal/par/radix.go 128 of them
// take more than twice as long as 64.
const (
	rangeBits  = 6
	cellRanges = 1 << rangeBits
)

// count is a counting sort in two passes. The first distributes points to ranges of cells, on all
// cores. The second distributes the points of a range to its cells, on one core and in its cache.
// In between, points are stored where the places' spots will be.
func (d *cellSorter) count(cells int) {
	n := len(d.fromX)
	g := &d.grid
	g.start = make([]int32, cells+1)
	shift := max(0, bits.Len(uint(cells-1))-rangeBits)
	byRange := d.spots
	if byRange == nil {
		byRange = make([]spot, n)
	}
	next := make([][cellRanges]int32, shares(n))
	d.cores.sweep(n, func(_, lo, hi int) {
		count := &next[lo/share]
		for i := lo; i < hi; i++ {
			count[g.key(d.fromX[i], d.fromY[i], 0)>>shift&(cellRanges-1)]++
		}
	})
	parts := make([]collapse, cellRanges)
	at := int32(0)
	for k := range cellRanges {
		parts[k] = collapse{places: d.places, apart: d.apart, cell: min(cells, k<<shift), end: min(cells, (k+1)<<shift), from: int(at)}
		for w := range next {
			c := next[w][k]
			next[w][k] = at
			at += c
		}
		parts[k].to = int(at)
	}
	d.cores.sweep(n, func(_, lo, hi int) {
		to := &next[lo/share]
		for i := lo; i < hi; i++ {
			x, y := d.fromX[i]+0, d.fromY[i]+0 // -0 and 0 are one place
			k := g.key(x, y, 0) >> shift & (cellRanges - 1)
			// Until spread reads it, mask has the point's feature in its upper half and the point's
			// index in its lower half.
			byRange[to[k]] = spot{x, y, uint64(d.fromFeature[i])<<32 | uint64(i)}
			to[k]++
		}
	})
	par.For(d.cores.workers, cellRanges, 1, func(_, k, _ int) {
		d.spread(byRange, &parts[k])
		parts[k].run()
	})
	d.close(parts)
}

// spread distributes the points of one part to its cells.
func (d *cellSorter) spread(byRange []spot, part *collapse) {
	g := &d.grid
	// next[c] is first the count of cell c, then the position of its next point, and in the end the
	// start of cell c+1.
	next := g.start[1:]
	for i := part.from; i < part.to; i++ {
		next[g.key(byRange[i].x, byRange[i].y, 0)]++
	}
	at := int32(part.from)
	for c := part.cell; c < part.end; c++ {
		at, next[c] = at+next[c], at
	}
	for i := part.from; i < part.to; i++ {
		s := byRange[i]
		to := &next[g.key(s.x, s.y, 0)]
		k := *to
		*to = k + 1
		d.x[k], d.y[k], d.feat[k], d.members[k] = s.x, s.y, int32(s.mask>>32), int32(uint32(s.mask))
	}
}

// sort sorts the points by cell with a radix sort.
func (d *cellSorter) sort() {
	n := len(d.fromX)
	keys, order := make([]uint64, n), d.members
	d.cores.sweep(n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			z := 0.0
			if d.fromZ != nil {
				z = d.fromZ[i]
			}
			keys[i], order[i] = d.grid.key(d.fromX[i], d.fromY[i], z), int32(i)
		}
	})
	par.RadixSortPairs(d.cores.workers, keys, order, nil, nil, 0, 64)
	g := &d.grid
	g.start = par.RunStarts[int32](d.cores.workers, keys)
	g.keys = make([]uint64, g.cells())
	for c := range g.keys {
		g.keys[c] = keys[g.start[c]]
	}
	// Parts are the cells that begin in a share of the points.
	parts := make([]collapse, shares(n))
	for i := range parts {
		cell, end := g.firstFrom(i*share), g.firstFrom(min(n, (i+1)*share))
		parts[i] = collapse{places: d.places, apart: d.apart, cell: cell, end: end, from: int(g.start[cell]), to: int(g.start[end])}
	}
	d.cores.sweep(n, func(_, lo, hi int) {
		for k, i := range order[lo:hi] {
			k += lo
			d.x[k], d.y[k], d.feat[k] = d.fromX[i]+0, d.fromY[i]+0, d.fromFeature[i]
			if d.fromZ != nil {
				d.z[k] = d.fromZ[i] + 0
			}
		}
	})
	d.cores.sweep(n, func(_, lo, _ int) { parts[lo/share].run() })
	d.close(parts)
}
