package eval

import (
	"math/bits"

	"github.com/collocate/collocate/index"
)

// cellsInGrid is the number of cells whose bounds are computed together.
const cellsInGrid = 32

// grid is a range of documents in cells of equal size. A cell's bound is the sum of the lists'
// bounds in it, which are those of the blocks that reach into it. Cells that cannot beat the
// threshold are skipped. That helps with frequent words whose best postings are rarely near each
// other: with the bounds of a whole window nothing would be skipped.
type grid struct {
	from, to uint32 // its documents
	shift    uint   // a cell is 1<<shift documents
	totals   [cellsInGrid]float64
	rest     backoff // where most cells can win, windows are done as a whole for a while
}

// chooseCells makes cells that hold about half a block of the longest list.
func (g *grid) chooseCells(docs, longest uint64) {
	size := max(docs*index.BlockSize/longest/2, 64)
	g.shift = uint(min(bits.Len64(size)-1, 16))
}

// worthGrid reports whether to go through a window by cells: if there is a threshold, and the
// essential lists have so many postings in a cell that computing bounds for it should pay.
func (q *Query) worthGrid(firstEssential int, base, end uint32) bool {
	if q.cut < 0 || len(q.Lists) >= manyForGrid || q.or.grid.rest.next() {
		return false
	}
	n := 0
	for _, l := range q.byBound[firstEssential:] {
		n += q.postingsIn(l, base, end)
	}
	return n >= worthCell*int((end-base)>>q.or.grid.shift)
}

// gridWindow finds the answers in an outer window by cells. Neighbouring cells that can beat the
// threshold form a run, for which the lists are divided again; other cells are skipped. If more
// than half of the cells could win, the next windows are not divided into cells (backoff).
func (q *Query) gridWindow(base, end uint32) {
	g := &q.or.grid
	all, live := 0, 0
	for base < end {
		q.layGrid(base, end)
		cells := int((g.to - g.from + 1<<g.shift - 1) >> g.shift)
		for first := 0; first < cells; first++ {
			last := first
			for last < cells && g.totals[last] > q.cut {
				last++
			}
			if first == last {
				continue
			}
			live += last - first
			for _, l := range q.Lists {
				best := float32(0)
				for _, b := range l.cells[first:last] {
					if b > best {
						best = b
					}
				}
				l.windowBound = float64(best)
			}
			q.outer(q.divide(), g.from+uint32(first)<<g.shift,
				min(g.from+uint32(last)<<g.shift, g.to))
			first = last
		}
		all += cells
		base = g.to
	}
	if 2*live > all {
		g.rest.more()
	} else {
		g.rest.again = 1
	}
}

// layGrid computes the bounds of the cells from document base on, but not beyond end.
func (q *Query) layGrid(base, end uint32) {
	g := &q.or.grid
	g.from = base
	g.to = uint32(min(uint64(base)+cellsInGrid<<g.shift, uint64(end)))
	clear(g.totals[:])
	for _, l := range q.Lists {
		if l.sparse {
			l.cellsOfPostings(g)
		} else {
			l.cellsOfBlocks(g)
		}
		for i, b := range &l.cells {
			g.totals[i] += float64(b)
		}
	}
}

// cellsOfPostings finds the best score of each cell.
func (l *list) cellsOfPostings(g *grid) {
	clear(l.cells[:])
	l.load(g.from, g.to, -1)
	b := &l.postings
	b.hi = b.lo
	docs := b.docs[b.lo : b.lo+firstAtLeast(b.docs[b.lo:], g.to)]
	for i, d := range docs {
		c := (d - g.from) >> g.shift & (cellsInGrid - 1)
		if s := b.scores[b.lo+i]; s > l.cells[c] {
			l.cells[c] = s
		}
	}
}

// cellsOfBlocks finds the highest bound of the blocks that reach into each cell.
func (l *list) cellsOfBlocks(g *grid) {
	clear(l.cells[:])
	l.gridBlock = l.FindBlock(l.gridBlock, g.from)
	at := g.from
	for b := l.gridBlock; b < len(l.Last) && at < g.to; b++ {
		bound := float32(l.boundOf(b))
		last := min(l.Last[b], g.to-1)
		for c := (at - g.from) >> g.shift; c <= (last-g.from)>>g.shift; c++ {
			if bound > l.cells[c&(cellsInGrid-1)] {
				l.cells[c&(cellsInGrid-1)] = bound
			}
		}
		at = last + 1
	}
}
