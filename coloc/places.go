package coloc

import (
	"cmp"
	"slices"
)

// places are the distinct positions of the input, in the order of the grid's
// cells, each with the features found there and how many points of each. A
// thousand incidents at one address are one place: whether a point takes part
// in a pattern depends on its position and feature alone, so counting weights
// instead of points is exact.
type places struct {
	x, y, z []float64 // z is nil in the plane
	first   []int32   // features of place i: feat[first[i]:first[i+1]], ascending
	feat    []int32
	weight  []int32 // points of that feature at that place
	total   []int64 // points of each feature

	// members lists the input's points place by place, and within a place by
	// feature, then input order; those of feature entry k end at memberEnd[k].
	members   []int32
	memberEnd []int32

	grid grid
}

func (p *places) len() int { return len(p.x) }

// pointsOf lists the input's points behind feature entry k.
func (p *places) pointsOf(k int32) []int32 {
	from := int32(0)
	if k > 0 {
		from = p.memberEnd[k-1]
	}
	return p.members[from:p.memberEnd[k]]
}

// site is a point on its way into its place.
type site struct {
	x, y, z float64
	feature int32
	index   int32
}

func compareSites(a, b *site) int {
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
}

// newPlaces sorts the points into cells of the given side and collapses them.
// side 0 picks cells of a few points each.
func newPlaces(pts *Points, geographic bool, side float64) *places {
	n := pts.Len()
	x, y, z := pts.X, pts.Y, []float64(nil)
	if geographic {
		x, y, z = make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i], z[i] = unitVector(pts.X[i], pts.Y[i])
		}
	}
	c := collapse{places: &places{
		x: make([]float64, n), y: make([]float64, n), first: make([]int32, n+1),
		feat: make([]int32, n), weight: make([]int32, n),
		members: make([]int32, n), memberEnd: make([]int32, n),
		total: pts.Totals(),
	}}
	p := c.places
	if geographic {
		p.z = make([]float64, n)
	}
	keys := p.grid.sort(x, y, z, side)
	p.grid.keys = make([]uint64, 0, n)
	p.grid.start = make([]int32, 0, n+1)
	var cell []site
	for lo := 0; lo < n; {
		key := keys[lo].key
		cell = cell[:0]
		for _, k := range keys[lo:] {
			if k.key != key {
				break
			}
			i := k.index
			s := site{x: x[i] + 0, y: y[i] + 0, feature: pts.Feature[i], index: i} // -0 and 0 are one place
			if z != nil {
				s.z = z[i]
			}
			cell = append(cell, s)
		}
		p.grid.keys = append(p.grid.keys, key)
		p.grid.start = append(p.grid.start, int32(c.count))
		c.addCell(cell, lo)
		lo += len(cell)
	}
	return c.finish()
}

// collapse fills places, whose slices are as long as there are points.
type collapse struct {
	*places
	count, entries int
}

// addCell appends the places of one cell; base is the number of points before.
func (c *collapse) addCell(cell []site, base int) {
	if len(cell) <= 12 {
		for i := 1; i < len(cell); i++ {
			for j := i; j > 0 && compareSites(&cell[j-1], &cell[j]) > 0; j-- {
				cell[j-1], cell[j] = cell[j], cell[j-1]
			}
		}
	} else {
		slices.SortFunc(cell, func(a, b site) int { return compareSites(&a, &b) })
	}
	p, at, entry := c.places, c.count, c.entries
	for i := range cell {
		s := &cell[i]
		newPlace := i == 0 || s.x != cell[i-1].x || s.y != cell[i-1].y || s.z != cell[i-1].z
		if newPlace {
			p.first[at], p.x[at], p.y[at] = int32(entry), s.x, s.y
			if p.z != nil {
				p.z[at] = s.z
			}
			at++
		}
		if newPlace || s.feature != cell[i-1].feature {
			p.feat[entry] = s.feature
			entry++
		}
		p.weight[entry-1]++
		p.memberEnd[entry-1] = int32(base + i + 1)
		p.members[base+i] = s.index
	}
	c.count, c.entries = at, entry
}

// finish cuts the slices to what was filled.
func (c *collapse) finish() *places {
	p, at := c.places, c.count
	p.grid.start = append(p.grid.start, int32(at))
	p.first[at] = int32(c.entries)
	p.x, p.y, p.first = p.x[:at], p.y[:at], p.first[:at+1]
	if p.z != nil {
		p.z = p.z[:at]
	}
	p.feat, p.weight, p.memberEnd = p.feat[:c.entries], p.weight[:c.entries], p.memberEnd[:c.entries]
	return p
}

// distance2 is the squared distance of two places: the one formula by which
// neighbours are decided, each product rounded on its own.
func (p *places) distance2(i, j int32) float64 {
	dx, dy := p.x[i]-p.x[j], p.y[i]-p.y[j]
	d := float64(dx*dx) + float64(dy*dy)
	if p.z != nil {
		dz := p.z[i] - p.z[j]
		d += float64(dz * dz)
	}
	return d
}
