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
	time    []int64 // of each place; nil where times do not count. With times, every point is a place

	// members lists the input's points place by place, and within a place by
	// feature, then input order; those of feature entry k end at memberEnd[k].
	members   []int32
	memberEnd []int32

	grid  grid
	spots []spot // what counting pairs reads of each; nil with more features than a mask has bits
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

// newPlaces deals the points to cells of the given side and collapses them, unless
// they have times that count. side 0 picks cells of a few points each.
func newPlaces(pts *Points, time []int64, geographic bool, side float64, c cores) *places {
	n := pts.Len()
	p := &places{}
	d := dealer{places: p, fromFeature: pts.Feature, apart: time != nil, cores: c}
	d.fromX, d.fromY, d.fromZ = positions(pts, geographic, c)
	// Memory that was used before is cleared when it is made: on all cores, the
	// largest piece first.
	var b box
	c.do(
		func() {
			if len(pts.Features) <= maskFeatures {
				p.spots = make([]spot, n)
			}
		},
		func() { p.first, p.weight, p.memberEnd = make([]int32, n+1), make([]int32, n), make([]int32, n) },
		func() { p.x = make([]float64, n) },
		func() { p.y = make([]float64, n) },
		func() { p.feat, p.members = make([]int32, n), make([]int32, n) },
		func() { b.low[0], b.width[0] = extent(d.fromX, cores{workers: 1}) },
		func() { b.low[1], b.width[1] = extent(d.fromY, cores{workers: 1}) },
		func() {
			if geographic {
				p.z = make([]float64, n)
				b.low[2], b.width[2] = extent(d.fromZ, cores{workers: 1})
			}
		},
	)
	d.deal(&b, side)
	if time != nil {
		p.time = make([]int64, n)
		for i, m := range p.members {
			p.time[i] = time[m]
		}
	}
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
