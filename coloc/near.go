package coloc

import "math/bits"

// Pairs of up to 64 features are counted by masks: the features near a place
// are one word, and the words of all places of a feature are added up bit by
// bit.

// maskFeatures is how many features a mask holds.
const maskFeatures = 64

// spot is a place as counting sees it: all it reads, side by side.
type spot struct {
	x, y float64
	mask uint64 // its features
}

// fewSpots is the size up to which the spots around a cell are put side by side
// before each place of the cell is compared with them: one loop instead of
// three short ones.
const fewSpots = 256

// block counts the pairs of the places of a block in the plane, straight from
// the grid, and tells how many neighbours they have.
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

// joinMasks joins the masks of the spots near a position, and counts them. It
// has no branch to mispredict, and stands alone so that all it needs stays in
// registers.
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

// column counts, for each of 64 bits, in how many words it was set: bit k of
// the counts stands in digit[k].
type column struct {
	digit [8]uint64
	words int32 // added since the counts were last taken out
}

// list counts the pairs of a place whose neighbours are listed.
func (c *maskCounter) list(i int32, list []int32) {
	near := c.g.spots[i].mask
	for _, j := range list {
		near |= c.g.spots[j].mask
	}
	c.add(i, near)
}

// add counts the pairs of place i with the features near it, its own among them.
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

// add adds a word, as one adds binary numbers by hand.
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

// flush takes a feature's column into its row.
func (c *maskCounter) flush(f int32) {
	col := &c.columns[f]
	for k, d := range col.digit {
		c.row(f, d, 1<<k)
	}
	*col = column{}
}
