package coloc

import (
	"cmp"
	"slices"
)

// collapse turns the points of the cells from cell up to end, in cell order, into places, in the
// same memory. It never writes beyond what it has read.
type collapse struct {
	*places
	apart          bool // every point is a place of its own
	cell, end      int
	from, to       int // range of its points; places and feature entries start at from too
	count, entries int // places and feature entries made from them
	sites          []site
}

func (c *collapse) run() {
	start := c.grid.start
	if c.apart || c.distinct(c.crowded()) {
		c.single(c.from, c.to)
		return
	}
	lo := c.from
	for cell := c.cell; cell < c.end; cell++ {
		hi := c.to
		if cell+1 < c.end {
			hi = int(start[cell+1])
		}
		if cell > c.cell { // the first cell starts at from
			start[cell] = int32(c.from + c.count)
		}
		if c.repeats(lo, hi) {
			c.several(lo, hi)
		} else {
			c.single(lo, hi)
		}
		lo = hi
	}
}

// crowded returns the largest number of points in one of the cells. The start of the first cell is
// not read, since another goroutine may still be writing it.
func (c *collapse) crowded() int {
	most, last := 0, int32(c.from)
	for cell := c.cell + 1; cell < c.end; cell++ {
		next := c.grid.start[cell]
		most, last = max(most, int(next-last)), next
	}
	return max(most, c.to-int(last))
}

// farthest is the largest distance in the point order at which points are compared without
// considering cells.
const farthest = 8

// distinct says whether no two points share a place, given the largest number of points per cell:
// points at one place are then close together in the order. The loop has no branch on the borders
// of cells, which would be mispredicted.
func (c *collapse) distinct(most int) bool {
	if most > farthest+1 {
		return false
	}
	for apart := 1; apart < most; apart++ {
		xs, ys := c.x[c.from:c.to], c.y[c.from:c.to]
		if apart >= len(xs) {
			return true
		}
		farX, farY := xs[apart:], ys[apart:]
		xs, ys, farY = xs[:len(farX)], ys[:len(farX)], farY[:len(farX)]
		for k, x := range farX {
			if x == xs[k] && farY[k] == ys[k] && (c.z == nil || c.z[c.from+k] == c.z[c.from+k+apart]) {
				return false
			}
		}
	}
	return true
}

// fewPoints is the number of points in a cell up to which all pairs are compared to see whether any
// share a place. Larger cells are sorted.
const fewPoints = 32

// repeats reports whether some of the points share a place, or may.
func (c *collapse) repeats(lo, hi int) bool {
	if hi-lo > fewPoints {
		return true
	}
	xs, ys := c.x[lo:hi], c.y[lo:hi]
	for i := 1; i < len(xs); i++ {
		x := xs[i]
		for k, other := range xs[:i] {
			if x == other && ys[i] == ys[k] && (c.z == nil || c.z[lo+i] == c.z[lo+k]) {
				return true
			}
		}
	}
	return false
}

// single makes a place of each point.
func (c *collapse) single(lo, hi int) {
	p, at, entry := c.places, c.from+c.count, c.from+c.entries
	c.count, c.entries = c.count+hi-lo, c.entries+hi-lo
	if at < lo {
		copy(p.x[at:], p.x[lo:hi])
		copy(p.y[at:], p.y[lo:hi])
		if p.z != nil {
			copy(p.z[at:], p.z[lo:hi])
		}
	}
	if entry < lo {
		copy(p.feat[entry:], p.feat[lo:hi])
	}
	first, weight, memberEnd := p.first[at:][:hi-lo], p.weight[entry:][:hi-lo], p.memberEnd[entry:][:hi-lo]
	for k := range first {
		first[k], weight[k], memberEnd[k] = int32(entry+k), 1, int32(lo+k+1)
	}
	if p.spots != nil {
		spots, xs, ys, feat := p.spots[at:][:hi-lo], p.x[at:][:hi-lo], p.y[at:][:hi-lo], p.feat[entry:][:hi-lo]
		for k := range spots {
			spots[k] = spot{xs[k], ys[k], 1 << (feat[k] & 63)}
		}
	}
}

// several makes places of points some of which share a place.
func (c *collapse) several(lo, hi int) {
	c.gather(lo, hi)
	p, at, entry := c.places, c.from+c.count, c.from+c.entries
	for i := range c.sites {
		s := &c.sites[i]
		newPlace := i == 0 || !s.sharesPlace(&c.sites[i-1])
		if newPlace {
			p.x[at], p.y[at], p.first[at] = s.x, s.y, int32(entry)
			if p.z != nil {
				p.z[at] = s.z
			}
			if p.spots != nil {
				p.spots[at] = spot{x: s.x, y: s.y}
			}
			at++
		}
		if p.spots != nil {
			p.spots[at-1].mask |= 1 << s.feature
		}
		if newPlace || s.feature != c.sites[i-1].feature {
			p.feat[entry] = s.feature
			entry++
		}
		p.weight[entry-1]++
		p.members[lo+i], p.memberEnd[entry-1] = s.index, int32(lo+i+1)
	}
	c.count, c.entries = at-c.from, entry-c.from
}

// site is a point before it is assigned to a place.
type site struct {
	x, y, z float64
	feature int32
	index   int32
}

func (s *site) sharesPlace(o *site) bool { return s.x == o.x && s.y == o.y && s.z == o.z }

// gather copies points to sites, sorted by position, then feature, then input order.
func (c *collapse) gather(lo, hi int) {
	c.sites = c.sites[:0]
	for k := lo; k < hi; k++ {
		s := site{x: c.x[k], y: c.y[k], feature: c.feat[k], index: c.members[k]}
		if c.z != nil {
			s.z = c.z[k]
		}
		c.sites = append(c.sites, s)
	}
	slices.SortFunc(c.sites, func(a, b site) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		case a.y != b.y:
			return cmp.Compare(a.y, b.y)
		case a.z != b.z:
			return cmp.Compare(a.z, b.z)
		case a.feature != b.feature:
			return cmp.Compare(a.feature, b.feature)
		}
		return cmp.Compare(a.index, b.index)
	})
}

// close compacts the places of all parts and truncates the slices.
func (p *places) close(parts []collapse) {
	count, entries := 0, 0
	for _, c := range parts {
		from := c.from
		if from > count {
			copy(p.x[count:], p.x[from:from+c.count])
			copy(p.y[count:], p.y[from:from+c.count])
			copy(p.first[count:], p.first[from:from+c.count])
			if p.z != nil {
				copy(p.z[count:], p.z[from:from+c.count])
			}
			if p.spots != nil {
				copy(p.spots[count:], p.spots[from:from+c.count])
			}
			for cell := c.cell; cell < c.end; cell++ {
				p.grid.start[cell] -= int32(from - count)
			}
		}
		if from > entries {
			copy(p.feat[entries:], p.feat[from:from+c.entries])
			copy(p.weight[entries:], p.weight[from:from+c.entries])
			copy(p.memberEnd[entries:], p.memberEnd[from:from+c.entries])
			for k := range p.first[count : count+c.count] {
				p.first[count+k] -= int32(from - entries)
			}
		}
		count, entries = count+c.count, entries+c.entries
	}
	if len(parts) > 0 {
		for cell := parts[len(parts)-1].end; cell < len(p.grid.start); cell++ {
			p.grid.start[cell] = int32(count)
		}
	}
	p.first[count] = int32(entries)
	p.x, p.y, p.first = p.x[:count], p.y[:count], p.first[:count+1]
	if p.z != nil {
		p.z = p.z[:count]
	}
	if p.spots != nil {
		p.spots = p.spots[:count]
	}
	p.feat, p.weight, p.memberEnd = p.feat[:entries], p.weight[:entries], p.memberEnd[:entries]
}
