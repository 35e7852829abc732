package coloc

import "sort"

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

// newPlaces sorts the points into cells of the given side and collapses them.
// side 0 picks cells of a few points each.
func newPlaces(pts *Points, geographic bool, side float64, c crew) *places {
	n := pts.Len()
	x, y, z := pts.positions(geographic, c)
	p := &places{
		x: make([]float64, n), y: make([]float64, n), first: make([]int32, n+1),
		feat: make([]int32, n), weight: make([]int32, n), memberEnd: make([]int32, n),
	}
	if geographic {
		p.z = make([]float64, n)
	}
	var keys []uint64
	keys, p.members = p.grid.sort(x, y, z, side, c)
	p.grid.keys, p.grid.start = keys, make([]int32, n+1)
	// The points come in cell order first, which is one loop that waits for
	// many reads at once.
	c.sweep(n, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			i := p.members[k]
			p.x[k], p.y[k], p.feat[k] = x[i]+0, y[i]+0, pts.Feature[i] // -0 and 0 are one place
			if z != nil {
				p.z[k] = z[i] + 0
			}
		}
	})
	// Every part takes the cells that begin in it and collapses them where they
	// lie; close then moves the parts together.
	parts := make([]collapse, shares(n))
	starts := make([]int, len(parts)+1)
	for i := range starts {
		starts[i] = cellStart(keys, min(n, i*share))
	}
	c.sweep(n, func(_, lo, _ int) {
		i := lo / share
		parts[i] = collapse{places: p, from: starts[i]}
		for lo := starts[i]; lo < starts[i+1]; {
			hi := lo + 1
			for hi < starts[i+1] && keys[hi] == keys[lo] {
				hi++
			}
			parts[i].cell(lo, hi)
			lo = hi
		}
	})
	return p.close(parts)
}

// cellStart is the first point from at on that begins a cell.
func cellStart(keys []uint64, at int) int {
	if at == 0 || at == len(keys) {
		return at
	}
	last := keys[at-1]
	return at + sort.Search(len(keys)-at, func(i int) bool { return keys[at+i] > last })
}

// collapse turns points in cell order into places, from index from on. It
// never writes beyond what it has read.
type collapse struct {
	*places
	from                  int
	cells, count, entries int // made
}

// cell makes the places of the points lo to hi, which are one cell.
func (c *collapse) cell(lo, hi int) {
	p, at, entry := c.places, c.from+c.count, c.from+c.entries
	p.grid.keys[c.from+c.cells], p.grid.start[c.from+c.cells] = p.grid.keys[lo], int32(at)
	p.sortCell(lo, hi)
	var last site
	for k := lo; k < hi; k++ {
		s := p.site(k)
		newPlace := k == lo || s.x != last.x || s.y != last.y || s.z != last.z
		if newPlace {
			p.first[at], p.x[at], p.y[at] = int32(entry), s.x, s.y
			if p.z != nil {
				p.z[at] = s.z
			}
			at++
		}
		if newPlace || s.feature != last.feature {
			p.feat[entry] = s.feature
			entry++
		}
		p.weight[entry-1]++
		p.memberEnd[entry-1] = int32(k + 1)
		last = s
	}
	c.cells, c.count, c.entries = c.cells+1, at-c.from, entry-c.from
}

// close moves what the parts filled together and cuts the slices.
func (p *places) close(parts []collapse) *places {
	cells, count, entries := 0, 0, 0
	for _, c := range parts {
		from := c.from
		if from > cells {
			copy(p.grid.keys[cells:], p.grid.keys[from:from+c.cells])
			copy(p.grid.start[cells:], p.grid.start[from:from+c.cells])
		}
		if from > count {
			copy(p.x[count:], p.x[from:from+c.count])
			copy(p.y[count:], p.y[from:from+c.count])
			copy(p.first[count:], p.first[from:from+c.count])
			if p.z != nil {
				copy(p.z[count:], p.z[from:from+c.count])
			}
			for k := range p.grid.start[cells : cells+c.cells] {
				p.grid.start[cells+k] -= int32(from - count)
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
		cells, count, entries = cells+c.cells, count+c.count, entries+c.entries
	}
	p.grid.start[cells], p.first[count] = int32(count), int32(entries)
	p.grid.keys, p.grid.start = p.grid.keys[:cells], p.grid.start[:cells+1]
	p.x, p.y, p.first = p.x[:count], p.y[:count], p.first[:count+1]
	if p.z != nil {
		p.z = p.z[:count]
	}
	p.feat, p.weight, p.memberEnd = p.feat[:entries], p.weight[:entries], p.memberEnd[:entries]
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
