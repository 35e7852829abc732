package coloc

// universe is a set of features small enough for one bit each, and the places
// seen through it. Up to 64 features that occur in prevalent pairs make one
// universe; more are searched feature by feature, each with its later
// neighbours in degeneracy order as its universe.
type universe[M words] struct {
	g        *neighbours
	features []int32 // bit -> feature
	bit      []int16 // feature -> bit, -1 outside
	mask     []M     // features of each place
	pairs    []M     // bit -> the bits it is a prevalent pair with
	need     []int64 // bit -> participating points that make it prevalent
	root     int     // the bit every pattern here holds, or -1
}

// newUniverse narrows the graph to the features. root is one of them or -1.
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

// leastCount is the least number of participating points that is prevalent.
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

// relevant are the features that can stand in a pattern with one of own's.
func (u *universe[M]) relevant(own M, bits []int) (M, []int) {
	out := own
	bits = members(own, bits)
	for _, b := range bits {
		out = or(out, u.pairs[b])
	}
	return out, bits
}
