package coloc

import "github.com/collocate/collocate/internal/par"

// dealer puts points into the order of their cells: positions, features and
// members of the places are then those of points, until they are collapsed, and
// the grid's start counts points. Within a cell the order is the input's.
type dealer struct {
	*places
	fromX, fromY, fromZ []float64 // in the input's order
	fromFeature         []int32
	crew                crew
}

func (d *dealer) deal(side float64) {
	n := len(d.fromX)
	if cells := d.grid.layOut(d.fromX, d.fromY, d.fromZ, side, d.crew); cells <= denseCells*uint64(n)+1024 {
		d.count(int(cells))
	} else {
		d.sort()
	}
	d.fetch()
}

func (d *dealer) key(i int) uint64 {
	z := 0.0
	if d.fromZ != nil {
		z = d.fromZ[i]
	}
	return d.grid.key(d.fromX[i], d.fromY[i], z)
}

// fetch gets the points in the order of members: a loop that waits for many
// reads at once. Moving them one by one as they are dealt took three times as
// long.
func (d *dealer) fetch() {
	d.crew.sweep(len(d.members), func(_, lo, hi int) {
		for k, i := range d.members[lo:hi] {
			k += lo
			d.x[k], d.y[k], d.feat[k] = d.fromX[i]+0, d.fromY[i]+0, d.fromFeature[i] // -0 and 0 are one place
			if d.fromZ != nil {
				d.z[k] = d.fromZ[i] + 0
			}
		}
	})
}

// tables bounds how many tables of all cells counting takes.
const tables = 4

// count deals by counting: each core counts the cells of its block of points,
// the scan over (cell, core) gives each core its own places in each cell, and
// each core moves its block.
func (d *dealer) count(cells int) {
	n := len(d.fromX)
	cores := max(1, min(d.crew.workers, tables, n/share))
	cell := make([]uint32, n)
	next := make([][]int32, cores)
	par.Do(cores, func(w int) {
		count := make([]int32, cells+1)
		lo, hi := par.Block(n, cores, w)
		for i := lo; i < hi; i++ {
			k := uint32(d.key(i))
			cell[i] = k
			count[k]++
		}
		next[w] = count
	})
	at := int32(0)
	for k := range cells {
		for _, count := range next {
			c := count[k]
			count[k] = at
			at += c
		}
	}
	par.Do(cores, func(w int) {
		lo, hi := par.Block(n, cores, w)
		to := next[w]
		for i := lo; i < hi; i++ {
			k := cell[i]
			d.members[to[k]] = int32(i)
			to[k]++
		}
	})
	// Where the last core stopped in a cell, the next cell starts.
	start := next[cores-1]
	copy(start[1:], start[:cells])
	start[0] = 0
	d.grid.start = start
}

// sort deals by sorting the points by cell.
func (d *dealer) sort() {
	n := len(d.fromX)
	keys, order := make([]uint64, n), d.members
	d.crew.sweep(n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i], order[i] = d.key(i), int32(i)
		}
	})
	par.RadixSortPairs(d.crew.workers, keys, order, nil, nil, 0, 64)
	g := &d.grid
	g.start = par.RunStarts[int32](d.crew.workers, keys)
	g.keys = make([]uint64, g.cells())
	for c := range g.keys {
		g.keys[c] = keys[g.start[c]]
	}
}
