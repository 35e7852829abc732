package coloc

// places are the distinct positions of the input, in the order of the grid's cells. Each has the
// features found there, with the number of points of each as a weight. A thousand incidents at one
// address are one place. Whether a point takes part in a pattern depends only on its position and
// feature, so counting weights instead of points is exact.
type places struct {
	x, y, z []float64 // z is nil in the plane
	first   []int32   // features of place i: feat[first[i]:first[i+1]], ascending
	feat    []int32
	weight  []int32 // points of that feature at that place
	total   []int64 // points of each feature
	time    []int64 // of each place; nil if times do not matter. With times, every point is a place

	// members lists the points of the input, ordered by place, feature and number. Those of feature
	// entry k end at memberEnd[k].
	members   []int32
	memberEnd []int32

	grid  grid
	spots []spot // what counting pairs reads of a place; nil if a mask has too few bits
}

func (p *places) len() int { return len(p.x) }

// pointsOf lists the points of the input that feature entry k stands for.
func (p *places) pointsOf(k int32) []int32 {
	from := int32(0)
	if k > 0 {
		from = p.memberEnd[k-1]
	}
	return p.members[from:p.memberEnd[k]]
}

// newPlaces sorts the points into cells of the given side; 0 means cells of a few points each. It
// merges points at one position into a place, unless time is given.
func newPlaces(pts *Points, time []int64, geographic bool, side float64, c cores) *places {
	n := pts.Len()
	p := &places{}
	d := cellSorter{places: p, fromFeature: pts.Feature, apart: time != nil, cores: c}
	d.fromX, d.fromY, d.fromZ = positions(pts, geographic, c)
	// Allocation clears memory that was in use before, which takes time: allocate on all cores, the
	// largest slice first.
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
	d.run(&b, side)
	if time != nil {
		p.time = make([]int64, n)
		for i, m := range p.members {
			p.time[i] = time[m]
		}
	}
	return p
}

// distance2 returns the squared distance of two places. All engines decide by this formula which
// places are neighbours. Each product is rounded separately.
func (p *places) distance2(i, j int32) float64 {
	dx, dy := p.x[i]-p.x[j], p.y[i]-p.y[j]
	d := float64(dx*dx) + float64(dy*dy)
	if p.z != nil {
		dz := p.z[i] - p.z[j]
		d += float64(dz * dz)
	}
	return d
}
