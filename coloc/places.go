package coloc

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

// newPlaces deals the points to cells of the given side and collapses them.
// side 0 picks cells of a few points each.
func newPlaces(pts *Points, geographic bool, side float64, c crew) *places {
	n := pts.Len()
	p := &places{
		x: make([]float64, n), y: make([]float64, n), first: make([]int32, n+1),
		feat: make([]int32, n), weight: make([]int32, n), members: make([]int32, n), memberEnd: make([]int32, n),
	}
	if geographic {
		p.z = make([]float64, n)
	}
	d := dealer{places: p, fromFeature: pts.Feature, crew: c}
	d.fromX, d.fromY, d.fromZ = pts.positions(geographic, c)
	d.deal(side)
	// Every part takes the cells that begin in it; close then moves the parts
	// together.
	parts := make([]collapse, shares(n))
	for i := range parts {
		cell, end := p.grid.firstFrom(i*share), p.grid.firstFrom(min(n, (i+1)*share))
		parts[i] = collapse{places: p, cell: cell, end: end, from: int(p.grid.start[cell]), to: int(p.grid.start[end])}
	}
	c.sweep(n, func(_, lo, _ int) { parts[lo/share].run() })
	p.close(parts)
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
