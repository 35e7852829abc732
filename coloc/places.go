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

func compareSites(a, b site) int {
	switch {
	case a.x != b.x:
		return cmp.Compare(a.x, b.x)
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
	sites := make([]site, n)
	for i := range sites {
		s := &sites[i]
		if geographic {
			s.x, s.y, s.z = unitVector(pts.X[i], pts.Y[i])
		} else {
			s.x, s.y = pts.X[i]+0, pts.Y[i]+0 // -0 and 0 are one place
		}
		s.feature, s.index = pts.Feature[i], int32(i)
	}
	p := &places{
		x: make([]float64, 0, n), y: make([]float64, 0, n),
		first: make([]int32, 0, n+1), feat: make([]int32, 0, n), weight: make([]int32, 0, n),
		members: make([]int32, n), memberEnd: make([]int32, 0, n),
		total: pts.Totals(),
	}
	if geographic {
		p.z = make([]float64, 0, n)
	}
	keys := p.grid.sort(sites, geographic, side)
	sorted := make([]site, n)
	for i, k := range keys {
		sorted[i] = sites[k.index]
	}
	for lo := 0; lo < n; {
		hi := lo + 1
		for hi < n && keys[hi].key == keys[lo].key {
			hi++
		}
		p.grid.keys = append(p.grid.keys, keys[lo].key)
		p.grid.start = append(p.grid.start, int32(len(p.x)))
		p.addCell(sorted[lo:hi], lo)
		lo = hi
	}
	p.grid.start = append(p.grid.start, int32(len(p.x)))
	p.first = append(p.first, int32(len(p.feat)))
	return p
}

// addCell appends the places of one cell; base is the number of points before.
func (p *places) addCell(cell []site, base int) {
	if len(cell) <= 12 {
		for i := 1; i < len(cell); i++ {
			for j := i; j > 0 && compareSites(cell[j-1], cell[j]) > 0; j-- {
				cell[j-1], cell[j] = cell[j], cell[j-1]
			}
		}
	} else {
		slices.SortFunc(cell, compareSites)
	}
	for i := range cell {
		s := &cell[i]
		newPlace := i == 0 || s.x != cell[i-1].x || s.y != cell[i-1].y || s.z != cell[i-1].z
		if newPlace {
			p.first = append(p.first, int32(len(p.feat)))
			p.x, p.y = append(p.x, s.x), append(p.y, s.y)
			if p.z != nil {
				p.z = append(p.z, s.z)
			}
		}
		if newPlace || s.feature != cell[i-1].feature {
			p.feat = append(p.feat, s.feature)
			p.weight = append(p.weight, 0)
			p.memberEnd = append(p.memberEnd, int32(base+i))
		}
		p.weight[len(p.weight)-1]++
		p.memberEnd[len(p.memberEnd)-1]++
		p.members[base+i] = s.index
	}
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
