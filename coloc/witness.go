package coloc

// searcher looks for one witness, that is, a clique through a place that covers a set of features.
// It serves places whose profiles would be too long. It never lists instances: it needs memory for
// the neighbours of the place, once for each feature of the set.
type searcher[M words] struct {
	g       *neighbours
	mask    []M
	buf     []int32
	stack   []candidate[M]
	clique  []int32 // the members found, without the place itself
	scratch []int
}

// find reports whether a clique through place covers want. The members are in
// s.clique until the next call.
func (s *searcher[M]) find(place int32, want M) bool {
	s.clique = s.clique[:0]
	need := andNot(want, s.mask[place])
	if empty(need) {
		return true
	}
	s.stack = s.stack[:0]
	var list []int32
	list, s.buf = s.g.of(place, s.buf)
	var reach M
	for _, j := range list {
		if m := and(s.mask[j], need); !empty(m) {
			s.stack = append(s.stack, candidate[M]{m, j})
			reach = or(reach, m)
		}
	}
	return subset(need, reach) && s.extend(need, 0)
}

// extend covers need with a clique among the candidates from lo on. It covers the scarcest feature
// first.
func (s *searcher[M]) extend(need M, lo int) bool {
	hi := len(s.stack)
	scarce := s.scarcest(need, lo)
	for i := lo; i < hi; i++ {
		c := s.stack[i]
		if !has(c.mask, scarce) {
			continue
		}
		left := andNot(need, c.mask)
		s.clique = append(s.clique, c.place)
		if empty(left) {
			return true
		}
		var reach M
		for j := lo; j < hi; j++ {
			d := s.stack[j]
			d.mask = and(d.mask, left)
			if !empty(d.mask) && s.g.adjacent(c.place, d.place) {
				s.stack = append(s.stack, d)
				reach = or(reach, d.mask)
			}
		}
		if subset(left, reach) && s.extend(left, hi) {
			return true
		}
		s.stack = s.stack[:hi]
		s.clique = s.clique[:len(s.clique)-1]
	}
	return false
}

// scarcest returns the needed feature with the fewest candidates.
func (s *searcher[M]) scarcest(need M, lo int) int {
	s.scratch = members(need, s.scratch)
	if len(s.scratch) == 1 {
		return s.scratch[0]
	}
	best, least := -1, 0
	for _, b := range s.scratch {
		n := 0
		for i := lo; i < len(s.stack); i++ {
			if has(s.stack[i].mask, b) {
				n++
			}
		}
		if best < 0 || n < least {
			best, least = b, n
		}
	}
	return best
}

// candidate is a place with those of its features that are needed.
type candidate[M words] struct {
	mask  M
	place int32
}
