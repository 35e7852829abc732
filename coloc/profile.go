package coloc

import "math/bits"

// profiler finds the profile of a place: the maximal feature sets of the
// cliques through it. With profiles at hand a point takes part in a pattern
// when one set of its place holds the pattern, and no clique is looked at again.
//
// The search is Bron and Kerbosch's with a pivot, on feature sets instead of
// vertex sets: a candidate whose features are all in the clique already is
// dropped, and a branch whose features all lie in a set found before is cut.
// So a crowded place is no problem: the first clique found mostly has every
// feature in reach, and ends the search.
type profiler[M words] struct {
	u     *universe[M]
	limit int // steps a place may cost before it is called hard
	steps int
	sets  []M // maximal so far

	center int32
	stack  []candidate[M]
	buf    []int32
	bits   []int
	mask   [64]M // the last 64 candidates as a bit matrix
	row    [64]uint64
}

type candidate[M words] struct {
	mask  M
	place int32
}

// profile finds the sets of a place; ok is false when that took too many
// steps. The sets are the profiler's own until the next call.
func (p *profiler[M]) profile(place int32) (sets []M, ok bool) {
	u := p.u
	p.sets, p.stack = p.sets[:0], p.stack[:0]
	own := u.mask[place]
	if empty(own) {
		return nil, true
	}
	var relevant M
	relevant, p.bits = u.relevant(own, p.bits)
	var list []int32
	list, p.buf = u.g.of(place, p.buf)
	reach := own
	for _, j := range list {
		m := and(u.mask[j], relevant)
		if !subset(m, own) {
			p.stack = append(p.stack, candidate[M]{m, j})
			reach = or(reach, m)
		}
	}
	if u.root >= 0 && !has(reach, u.root) {
		return nil, true
	}
	p.center, p.steps = place, p.limit
	p.explore(own, 0)
	return p.sets, p.steps >= 0
}

// add keeps a set unless it lies in a known one, and drops those in it.
func (p *profiler[M]) add(set M) {
	kept := p.sets[:0]
	for _, s := range p.sets {
		if subset(set, s) {
			return
		}
		if !subset(s, set) {
			kept = append(kept, s)
		}
	}
	p.sets = append(kept, set)
}

func (p *profiler[M]) known(set M) bool {
	for _, s := range p.sets {
		if subset(set, s) {
			return true
		}
	}
	return false
}

// explore extends the clique with features own by the candidates on the stack
// from lo on. It handles crowds; 64 candidates or fewer go to matrix.
func (p *profiler[M]) explore(own M, lo int) {
	hi := len(p.stack)
	p.steps -= 1 + (hi-lo)/64
	if p.steps < 0 {
		return
	}
	if hi-lo <= 64 {
		p.matrix(own, p.stack[lo:hi])
		return
	}
	reach := own
	for _, c := range p.stack[lo:hi] {
		reach = or(reach, c.mask)
	}
	if p.known(reach) {
		return
	}
	// Any candidate is a valid pivot. The one nearest to the middle has most
	// of the others around it, and is found without counting them.
	pivot := lo
	for i := lo + 1; i < hi; i++ {
		if p.u.g.distance2(p.center, p.stack[i].place) < p.u.g.distance2(p.center, p.stack[pivot].place) {
			pivot = i
		}
	}
	at := p.stack[pivot].place
	p.stack[lo], p.stack[pivot] = p.stack[pivot], p.stack[lo]
	done := lo // candidates before are in no further clique
	for i := lo; i < hi && p.steps >= 0; i++ {
		c := p.stack[i]
		if i > lo && p.u.g.adjacent(at, c.place) {
			continue
		}
		next := or(own, c.mask)
		for j := done; j < hi; j++ {
			d := p.stack[j]
			if j != i && !subset(d.mask, next) && p.u.g.adjacent(c.place, d.place) {
				p.stack = append(p.stack, d)
			}
		}
		p.explore(next, hi)
		p.stack = p.stack[:hi]
		p.stack[i], p.stack[done] = p.stack[done], p.stack[i]
		done++
	}
}

// matrix continues with at most 64 candidates.
func (p *profiler[M]) matrix(own M, list []candidate[M]) {
	for i := range list {
		p.mask[i] = list[i].mask
		p.row[i] = 0
	}
	for i := 1; i < len(list); i++ {
		for j := range i {
			if p.u.g.adjacent(list[i].place, list[j].place) {
				p.row[i] |= 1 << j
				p.row[j] |= 1 << i
			}
		}
	}
	var all uint64
	if len(list) > 0 {
		all = ^uint64(0) >> (64 - len(list))
	}
	p.grow(own, all)
}

func (p *profiler[M]) grow(own M, cand uint64) {
	p.steps--
	if p.steps < 0 {
		return
	}
	reach := own
	for c := cand; c != 0; c &= c - 1 {
		i := bits.TrailingZeros64(c)
		if subset(p.mask[i], own) {
			cand &^= 1 << i
		} else {
			reach = or(reach, p.mask[i])
		}
	}
	if cand == 0 {
		p.add(own)
		return
	}
	if p.known(reach) {
		return
	}
	pivot, most := 0, -1
	for c := cand; c != 0; c &= c - 1 {
		i := bits.TrailingZeros64(c)
		if n := bits.OnesCount64(cand & p.row[i]); n > most {
			pivot, most = i, n
		}
	}
	for c := cand &^ p.row[pivot]; c != 0; c &= c - 1 {
		i := bits.TrailingZeros64(c)
		p.grow(or(own, p.mask[i]), cand&p.row[i])
		cand &^= 1 << i
	}
}
