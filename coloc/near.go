package coloc

import "math/bits"

// Pairs of up to 64 features are counted with bit masks: the features near a place are one word,
// and the words of all places of a feature are added up bit by bit.

// maskFeatures is the number of features in a mask.
const maskFeatures = 64

// spot is the part of a place that counting reads, stored contiguously.
type spot struct {
	x, y float64
	mask uint64 // its features
}

// fewSpots is the largest number of spots around a cell that are copied to one array, with which
// each place of the cell is then compared: one loop instead of three short ones.
const fewSpots = 256

// block counts the pairs of the places of a block in the plane, directly from the grid, and returns
// the number of their neighbours.
func (c *maskCounter) block(b int) (found int, err error) {
	g := c.g
	spots := g.spots
	var side [fewSpots]spot
	err = g.eachCell(b, func(lo, hi int32, spans []span) error {
		around := side[:0]
		for _, s := range spans {
			if len(around)+int(s.hi-s.lo) > fewSpots {
				around = nil
				break
			}
			around = append(around, spots[s.lo:s.hi]...)
		}
		for i := lo; i < hi; i++ {
			var near uint64
			if around != nil {
				m, n := joinMasks(around, spots[i].x, spots[i].y, g.limit)
				near, found = m, found+n
			} else {
				for _, s := range spans {
					m, n := joinMasks(spots[s.lo:s.hi], spots[i].x, spots[i].y, g.limit)
					near, found = near|m, found+n
				}
			}
			found-- // the place itself is no neighbour
			c.add(i, near)
		}
		return nil
	})
	return found, err
}

// joinMasks returns the union of the masks of the spots near a position, and their number. It has
// no unpredictable branch, and is not inlined so that its variables stay in registers.
//
//go:noinline
func joinMasks(spots []spot, x, y, limit float64) (near uint64, count int) {
	for k := range spots {
		s := &spots[k]
		dx, dy := s.x-x, s.y-y
		step := 0
		if float64(dx*dx)+float64(dy*dy) <= limit {
			step = 1
		}
		near |= s.mask & -uint64(step)
		count += step
	}
	return near, count
}

// maskCounter adds up masks by feature, for one worker.
type maskCounter struct {
	g       *neighbours
	columns []column
	counts  *pairCounts
}

// column counts, for each of 64 bits, the words in which it was set: digit[k] has bit k of the
// counts.
type column struct {
	digit [8]uint64
	words int32 // words added since the last flush
}

// list counts the pairs of a place whose neighbours are given as a list.
func (c *maskCounter) list(i int32, list []int32) {
	near := c.g.spots[i].mask
	for _, j := range list {
		near |= c.g.spots[j].mask
	}
	c.add(i, near)
}

// add counts the pairs of place i with the features near it, which include its own.
func (c *maskCounter) add(i int32, near uint64) {
	g := c.g
	for k := g.first[i]; k < g.first[i+1]; k++ {
		f := g.feat[k]
		if w := int64(g.weight[k]); w > 1 {
			c.row(f, near, w)
			continue
		}
		col := &c.columns[f]
		col.add(near)
		if col.words == 255 {
			c.flush(f)
		}
	}
}

// add adds a word to the bit-sliced counters by a ripple carry.
func (c *column) add(carry uint64) {
	d := &c.digit
	d[0], carry = d[0]^carry, d[0]&carry
	d[1], carry = d[1]^carry, d[1]&carry
	d[2], carry = d[2]^carry, d[2]&carry
	d[3], carry = d[3]^carry, d[3]&carry
	d[4], carry = d[4]^carry, d[4]&carry
	d[5], carry = d[5]^carry, d[5]&carry
	d[6], carry = d[6]^carry, d[6]&carry
	d[7] ^= carry
	c.words++
}

// row adds w to the counts of a feature with every feature of the mask but itself.
func (c *maskCounter) row(f int32, mask uint64, w int64) {
	row := c.counts.dense[int(f)*c.counts.n:]
	for m := mask &^ (1 << f); m != 0; m &= m - 1 {
		row[bits.TrailingZeros64(m)] += w
	}
}

// flush adds a feature's column to its row of counts.
func (c *maskCounter) flush(f int32) {
	col := &c.columns[f]
	for k, d := range col.digit {
		c.row(f, d, 1<<k)
	}
	*col = column{}
}
