package coloc

import "math/bits"

// profiler finds the profile of a place: the maximal feature sets of the cliques through it. A
// point takes part in a pattern if a set in the profile of its place contains the pattern, so
// cliques need not be searched again.
//
// The search is that of Bron and Kerbosch with a pivot, on feature sets instead of vertex sets. A
// candidate is dropped if the clique already has all its features. A branch is cut if a set found
// before contains all its features. This makes crowded places cheap. The nearest points of all
// features mostly form a clique; otherwise, the first clique found mostly has every feature in
// reach. Either ends the search.
type profiler[M words] struct {
	u     *universe[M]
	limit int // largest number of steps for a place; a place that needs more is hard
	steps int // steps left
	sets  []M // maximal sets found so far

	cand candidates[M]
	buf  []int32
	bits []int
	near []int32   // by bit: the nearest candidate
	dist []float64 // by bit: its squared distance

	narrowed []M // scratch memory for the caller of profile

	narrow matrix[[1]uint64]
	double matrix[[2]uint64]
	middle matrix[[4]uint64]
	wide   matrix[[64]uint64]
}

// candidates are the neighbours of a place that add a feature, in arrays for fast comparison.
type candidates[M words] struct {
	mask    []M
	x, y, z []float64
	reach   []float64 // empty if one limit holds for all
	time    []int64   // empty if times do not matter
	limit   float64
	within  int64
}

// matrix is the adjacency matrix of the candidates.
type matrix[B words] struct {
	row  []B // by candidate: its neighbours
	with []B // by feature: the candidates that have it
}

// profile finds the sets of a place; ok is false if that takes too many steps. The sets are valid
// until the next call.
func (p *profiler[M]) profile(place int32) (sets []M, ok bool) {
	u := p.u
	p.sets = p.sets[:0]
	own := u.mask[place]
	if empty(own) {
		return nil, true
	}
	if p.limit == 0 {
		return nil, false
	}
	var list []int32
	list, p.buf = u.g.of(place, p.buf)
	reach := p.gather(own, list)
	if u.root >= 0 && !has(reach, u.root) {
		return nil, true
	}
	p.steps = p.limit
	n := len(p.cand.mask)
	switch {
	case n > 8 && p.nearestClique(place, own, reach):
		p.sets = append(p.sets, reach)
	case n <= 64:
		search(p, &p.narrow, own)
	case n <= 128:
		search(p, &p.double, own)
	case n <= 256:
		search(p, &p.middle, own)
	case n <= 4096:
		search(p, &p.wide, own)
	default:
		return nil, false
	}
	return p.sets, p.steps >= 0
}

// gather collects the candidates among the neighbours of a place that has the features own. It
// returns all features in reach.
func (p *profiler[M]) gather(own M, list []int32) (reach M) {
	u, c := p.u, &p.cand
	c.mask, c.x, c.y, c.z, c.reach = c.mask[:0], c.x[:0], c.y[:0], c.z[:0], c.reach[:0]
	c.time = c.time[:0]
	c.limit, c.within = u.g.limit, u.g.within
	var relevant M
	relevant, p.bits = u.relevant(own, p.bits)
	reach = own
	for _, j := range list {
		m := and(u.mask[j], relevant)
		if subset(m, own) {
			continue
		}
		reach = or(reach, m)
		c.mask = append(c.mask, m)
		c.x, c.y = append(c.x, u.g.x[j]), append(c.y, u.g.y[j])
		if u.g.z != nil {
			c.z = append(c.z, u.g.z[j])
		}
		if u.g.reach != nil {
			c.reach = append(c.reach, u.g.reach[j])
		}
		if u.g.time != nil {
			c.time = append(c.time, u.g.time[j])
		}
	}
	return reach
}

func (c *candidates[M]) adjacent(i, j int) bool {
	limit := c.limit
	if len(c.reach) > 0 {
		limit = max(c.reach[i], c.reach[j])
	}
	dx, dy := c.x[i]-c.x[j], c.y[i]-c.y[j]
	d := float64(dx*dx) + float64(dy*dy)
	if len(c.z) > 0 {
		dz := c.z[i] - c.z[j]
		d += float64(dz * dz)
	}
	return d <= limit && (len(c.time) == 0 || near(c.time[i], c.time[j], c.within))
}

// plain reports whether neighbours are simply the points within one distance in the plane.
func (c *candidates[M]) plain() bool { return len(c.z) == 0 && len(c.reach) == 0 && len(c.time) == 0 }

// nearestClique reports whether the nearest candidates of all features in reach form a clique.
func (p *profiler[M]) nearestClique(place int32, own, reach M) bool {
	c, g := &p.cand, p.u.g
	n := len(p.u.features)
	if len(p.near) < n {
		p.near, p.dist = make([]int32, n), make([]float64, n)
	}
	for b := range p.near {
		p.near[b] = -1
	}
	for i, m := range c.mask {
		dx, dy := c.x[i]-g.x[place], c.y[i]-g.y[place]
		d := dx*dx + dy*dy
		if len(c.z) > 0 {
			dz := c.z[i] - g.z[place]
			d += dz * dz
		}
		for k := 0; k < len(m); k++ {
			for w := m[k]; w != 0; w &= w - 1 {
				b := k<<6 + bits.TrailingZeros64(w)
				if p.near[b] < 0 || d < p.dist[b] {
					p.near[b], p.dist[b] = int32(i), d
				}
			}
		}
	}
	p.bits = members(andNot(reach, own), p.bits)
	for k, a := range p.bits {
		for _, b := range p.bits[:k] {
			if i, j := p.near[a], p.near[b]; i != j && !c.adjacent(int(i), int(j)) {
				return false
			}
		}
	}
	return true
}

// search compares the candidates, drops redundant ones and grows cliques from the others.
func search[M, B words](p *profiler[M], m *matrix[B], own M) {
	fill(&p.cand, m)
	left := thin(p, m)
	if n := size(left); len(left) > 1 && n <= 64 {
		p.cand.keep(members(left, p.bits))
		fill(&p.cand, &p.narrow)
		grow(p, p.narrow.row, own, firstBits[[1]uint64](n))
		return
	}
	grow(p, m.row, own, left)
}

// keep drops all candidates but those with the given numbers, which are ascending.
func (c *candidates[M]) keep(numbers []int) {
	for to, from := range numbers {
		c.mask[to], c.x[to], c.y[to] = c.mask[from], c.x[from], c.y[from]
		if len(c.z) > 0 {
			c.z[to] = c.z[from]
		}
		if len(c.reach) > 0 {
			c.reach[to] = c.reach[from]
		}
		if len(c.time) > 0 {
			c.time[to] = c.time[from]
		}
	}
	n := len(numbers)
	c.time = c.time[:min(n, len(c.time))]
	c.mask, c.x, c.y, c.z, c.reach = c.mask[:n], c.x[:n], c.y[:n], c.z[:min(n, len(c.z))],
		c.reach[:min(n, len(c.reach))]
}

// thin returns the candidates without redundant ones. A candidate that has a single feature is
// redundant if another one with just that feature has all its neighbours of other features.
func thin[M, B words](p *profiler[M], m *matrix[B]) B {
	mask := p.cand.mask
	if len(m.with) < len(p.u.features) {
		m.with = make([]B, len(p.u.features))
	}
	clear(m.with)
	var single B
	for i := range mask {
		p.bits = members(mask[i], p.bits)
		for _, b := range p.bits {
			m.with[b] = with(m.with[b], i)
		}
		if len(p.bits) == 1 {
			single = with(single, i)
		}
	}
	all := firstBits[B](len(mask))
	for b := range m.with {
		same := and(m.with[b], single)
		for k := 0; k < len(same); k++ {
			for c := same[k]; c != 0; c &= c - 1 {
				i := k<<6 + bits.TrailingZeros64(c)
				if covered(m.row, i, same, m.with[b]) {
					same[k] &^= c & -c
					all = without(all, i)
				}
			}
		}
	}
	return all
}

// covered reports whether another candidate of same has all neighbours of i that lack the feature.
func covered[B words](row []B, i int, same, feature B) bool {
	mine := andNot(row[i], feature)
	for k := 0; k < len(same); k++ {
		for c := same[k]; c != 0; c &= c - 1 {
			if j := k<<6 + bits.TrailingZeros64(c); j != i && subset(mine, row[j]) {
				return true
			}
		}
	}
	return false
}

// fill compares all candidates with one another.
func fill[M, B words](c *candidates[M], m *matrix[B]) {
	n := len(c.mask)
	if cap(m.row) < n {
		m.row = make([]B, max(64, n))
	}
	m.row = m.row[:n]
	clear(m.row)
	if !c.plain() {
		for i := range n {
			for j := range i {
				if c.adjacent(i, j) {
					m.row[i] = with(m.row[i], j)
					m.row[j] = with(m.row[j], i)
				}
			}
		}
		return
	}
	limit := c.limit
	for i := range n {
		x, y := c.x[i], c.y[i]
		xs, ys := c.x[:i], c.y[:i]
		ys = ys[:len(xs)]
		for base := 0; base < i; base += 64 {
			var word uint64
			for j := base; j < min(i, base+64); j++ {
				dx, dy := xs[j]-x, ys[j]-y
				var bit uint64
				if float64(dx*dx)+float64(dy*dy) <= limit {
					bit = 1
				}
				word |= bit << (j & 63)
			}
			m.row[i][base>>6] = word
			for w := word; w != 0; w &= w - 1 {
				j := base + bits.TrailingZeros64(w)
				m.row[j] = with(m.row[j], i)
			}
		}
	}
}

// firstBits returns the set of the first n bits.
func firstBits[B words](n int) (b B) {
	for i := 0; i < len(b) && n > 0; i++ {
		b[i] = ^uint64(0)
		if n < 64 {
			b[i] >>= 64 - n
		}
		n -= 64
	}
	return b
}

func (p *profiler[M]) known(set M) bool {
	for _, s := range p.sets {
		if subset(set, s) {
			return true
		}
	}
	return false
}

// grow extends the clique with features own by the candidates, which are all
// neighbours of its members.
func grow[M, B words](p *profiler[M], row []B, own M, cand B) {
	p.steps--
	if p.steps < 0 {
		return
	}
	mask := p.cand.mask
	reach := own
	left := 0
	for k := 0; k < len(cand); k++ {
		for c := cand[k]; c != 0; c &= c - 1 {
			i := k<<6 + bits.TrailingZeros64(c)
			if subset(mask[i], own) {
				cand[k] &^= c & -c
			} else {
				reach = or(reach, mask[i])
				left++
			}
		}
	}
	if left == 0 {
		p.sets = addSet(p.sets, 0, own)
		return
	}
	if p.known(reach) {
		return
	}
	pivot, most := 0, -1
	for k := 0; k < len(cand); k++ {
		for c := cand[k]; c != 0; c &= c - 1 {
			i := k<<6 + bits.TrailingZeros64(c)
			if n := size(and(cand, row[i])); n > most {
				pivot, most = i, n
			}
		}
	}
	around := and(cand, row[pivot])
	grow(p, row, or(own, mask[pivot]), around)
	branch := without(andNot(cand, row[pivot]), pivot)
	cand = without(cand, pivot)
	for k := 0; k < len(branch); k++ {
		for c := branch[k]; c != 0; c &= c - 1 {
			i := k<<6 + bits.TrailingZeros64(c)
			// A candidate that the pivot can replace needs no branch.
			next := and(cand, row[i])
			if !subset(mask[i], mask[pivot]) || !subset(next, around) {
				grow(p, row, or(own, mask[i]), next)
			}
			cand[k] &^= c & -c
		}
	}
}
