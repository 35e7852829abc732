package coloc

// universe is a set of features, with a bit for each, and the places restricted to these features.
// Up to oneUniverse features that occur in prevalent pairs are one universe. More are searched
// feature by feature: the universe of a feature is itself and its later neighbours in degeneracy
// order.
type universe[M words] struct {
	g        *neighbours
	features []int32 // by bit
	bit      []int16 // by feature; -1 if it is not in the universe
	mask     []M     // features of each place
	pairs    []M     // by bit: the bits with which it is a prevalent pair
	need     []int64 // by bit: the least number of participating points that is prevalent
	root     int     // the bit that all patterns of the universe have, or -1
}

// newUniverse restricts the graph to the features. root is one of them or -1.
func newUniverse[M words](g *neighbours, fg *featureGraph, features []int32, root int32,
	minPrev float64, c cores) *universe[M] {
	u := &universe[M]{
		g: g, features: features, root: -1,
		bit: make([]int16, len(g.total)), mask: make([]M, g.len()),
		pairs: make([]M, len(features)), need: make([]int64, len(features)),
	}
	for f := range u.bit {
		u.bit[f] = -1
	}
	for b, f := range features {
		u.bit[f] = int16(b)
		u.need[b] = leastCount(g.total[f], minPrev)
		if f == root {
			u.root = b
		}
	}
	for b, f := range features {
		for _, h := range fg.adj[f] {
			if c := u.bit[h]; c >= 0 {
				u.pairs[b] = with(u.pairs[b], int(c))
			}
		}
	}
	c.sweep(len(u.mask), func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for _, f := range g.feat[g.first[i]:g.first[i+1]] {
				if b := u.bit[f]; b >= 0 {
					u.mask[i] = with(u.mask[i], int(b))
				}
			}
		}
	})
	return u
}

// leastCount returns the least number of participating points that is prevalent.
func leastCount(total int64, minPrev float64) int64 {
	c := int64(minPrev * float64(total))
	for c > 0 && prevalent(c-1, total, minPrev) {
		c--
	}
	for !prevalent(c, total, minPrev) {
		c++
	}
	return c
}

// relevant returns the features that can be in a pattern with a feature of own.
func (u *universe[M]) relevant(own M, bits []int) (M, []int) {
	out := own
	bits = members(own, bits)
	for _, b := range bits {
		out = or(out, u.pairs[b])
	}
	return out, bits
}
