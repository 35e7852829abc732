package coloc

import (
	"cmp"
	"slices"
)

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

// site is point k of the cell order, before places are made of it.
func (p *places) site(k int) site {
	s := site{x: p.x[k], y: p.y[k], feature: p.feat[k], index: p.members[k]}
	if p.z != nil {
		s.z = p.z[k]
	}
	return s
}

func (p *places) setSite(k int, s *site) {
	p.x[k], p.y[k], p.feat[k], p.members[k] = s.x, s.y, s.feature, s.index
	if p.z != nil {
		p.z[k] = s.z
	}
}

// sortCell orders the points lo to hi by position, then feature, then input.
func (p *places) sortCell(lo, hi int) {
	if hi-lo <= 12 {
		for k := lo + 1; k < hi; k++ {
			s := p.site(k)
			at := k
			for ; at > lo; at-- {
				before := p.site(at - 1)
				if compareSites(&before, &s) <= 0 {
					break
				}
				p.setSite(at, &before)
			}
			if at < k {
				p.setSite(at, &s)
			}
		}
		return
	}
	cell := make([]site, hi-lo)
	for k := range cell {
		cell[k] = p.site(lo + k)
	}
	slices.SortFunc(cell, func(a, b site) int { return compareSites(&a, &b) })
	for k := range cell {
		p.setSite(lo+k, &cell[k])
	}
}
