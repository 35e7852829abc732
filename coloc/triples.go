package coloc

import (
	"context"
	"math/bits"
)

// Triples of features are counted before larger sets are searched. One pass over the neighbourhoods
// finds the features that are joint around each place, that is, whose points near the place are
// neighbours of each other. A prevalent pair that is in no prevalent triple is a maximal pattern,
// and its edge is removed from the graph of features. If no edge is left, neither neighbour lists
// nor profiles are needed. This reduced CPU time from 3.2 s to 0.3 s for 200,000 uniform points of
// 100 features at distance 6, of which 2,454 pairs are prevalent.
//
// The counts are upper bounds: around a crowded place, all features in reach count as joint. A
// triple whose counts miss the threshold is certainly not prevalent.

// tripleFeatures bounds the counts to 9 MB per core.
const tripleFeatures = 128

// fewCandidates is the largest number of candidates around a place that are compared. With more,
// all features in reach count as joint.
const fewCandidates = 256

// settlePairs stores the pairs that are in no prevalent triple and removes them from the graph.
func (fg *featureGraph) settlePairs(ctx context.Context, g *neighbours, s *store, opt *job, features []int32) error {
	switch {
	case len(features) <= 64:
		return settlePairs[[1]uint64](ctx, fg, g, s, opt, features)
	case len(features) <= tripleFeatures:
		return settlePairs[[2]uint64](ctx, fg, g, s, opt, features)
	}
	return nil
}

func settlePairs[M words](ctx context.Context, fg *featureGraph, g *neighbours, s *store, opt *job,
	features []int32) error {
	u := newUniverse[M](g, fg, features, -1, opt.MinPrevalence, opt.cores)
	counters := make([]*tripleCounter[M], opt.cores.workers)
	err := opt.cores.at("counting triples").each(ctx, blockCount(g.len()), func(w, b int) error {
		if counters[w] == nil {
			counters[w] = newTripleCounter(u)
		}
		return counters[w].block(b)
	})
	if err != nil {
		return err
	}
	var sum *tripleCounter[M]
	for _, c := range counters {
		if c == nil {
			continue
		}
		for i := range c.columns {
			c.flush(i)
		}
		if sum == nil {
			sum = c
			continue
		}
		for i, n := range c.counts {
			sum.counts[i] += n
		}
	}
	kept := make([][]int32, len(fg.adj))
	for f, list := range fg.adj {
		for _, h := range list {
			if int32(f) > h {
				continue
			}
			if sum != nil && sum.inTriple(int(u.bit[f]), int(u.bit[h])) {
				kept[f], kept[h] = append(kept[f], h), append(kept[h], int32(f))
			} else {
				s.add([]int32{int32(f), h}, []int64{fg.counts.get(int32(f), h), fg.counts.get(h, int32(f))})
			}
		}
	}
	fg.adj = kept
	return s.failure()
}

// tripleCounter counts, for one worker, the points of feature f around which g and h are joint, for
// g < h: the columns of f and g have a bit for h.
type tripleCounter[M words] struct {
	u       *universe[M]
	p       profiler[M]
	columns []column // by f, g and word of h
	counts  []int32  // the same, with 64 values each
	with    []M      // by feature: those that are joint with it around a place
	joint   []M      // by candidate: features of the candidates near it
	list    []int32
	bits    []int
}

func newTripleCounter[M words](u *universe[M]) *tripleCounter[M] {
	n := len(u.features)
	var one M
	c := &tripleCounter[M]{u: u, with: make([]M, n)}
	c.p.u = u
	c.columns = make([]column, n*n*len(one))
	c.counts = make([]int32, 64*len(c.columns))
	return c
}

func (c *tripleCounter[M]) block(b int) error {
	g := c.u.g
	if g.streams() {
		return g.eachCell(b, func(lo, hi int32, spans []span) error {
			for i := lo; i < hi; i++ {
				if !empty(c.u.mask[i]) {
					c.list = g.scan(i, spans, c.list[:0])
					c.place(i, c.list)
				}
			}
			return nil
		})
	}
	for i := int32(b << blockShift); i < int32(min(g.len(), (b+1)<<blockShift)); i++ {
		if list, _ := g.of(i, nil); !empty(c.u.mask[i]) {
			c.place(i, list)
		}
	}
	return nil
}

// place counts the triples around one place.
func (c *tripleCounter[M]) place(i int32, list []int32) {
	u := c.u
	own := u.mask[i]
	reach := c.p.gather(own, list)
	if size(reach) < 3 {
		return
	}
	c.bits = members(reach, c.bits)
	c.together(own, reach)
	g := u.g
	for k := g.first[i]; k < g.first[i+1]; k++ {
		f := int(u.bit[g.feat[k]])
		if f < 0 {
			continue
		}
		near := and(reach, u.pairs[f])
		for _, h := range c.bits {
			if has(near, h) {
				c.add(f, h, and(c.with[h], near), g.weight[k])
			}
		}
	}
}

// together fills with for the features in reach.
func (c *tripleCounter[M]) together(own, reach M) {
	mask := c.p.cand.mask
	if len(mask) > fewCandidates {
		for _, h := range c.bits {
			c.with[h] = reach
		}
		return
	}
	for _, h := range c.bits {
		if has(own, h) {
			c.with[h] = reach
		} else {
			c.with[h] = own
		}
	}
	c.joint = append(c.joint[:0], mask...)
	joinCandidates(&c.p.cand, c.joint)
	for i, m := range mask {
		for k := 0; k < len(m); k++ {
			for w := m[k]; w != 0; w &= w - 1 {
				h := k<<6 + bits.TrailingZeros64(w)
				c.with[h] = or(c.with[h], c.joint[i])
			}
		}
	}
}

// joinCandidates adds to joint the features of the candidates near each candidate.
func joinCandidates[M words](c *candidates[M], joint []M) {
	if !c.plain() {
		for i := range joint {
			for j := range i {
				if c.adjacent(i, j) {
					joint[i], joint[j] = or(joint[i], c.mask[j]), or(joint[j], c.mask[i])
				}
			}
		}
		return
	}
	limit := c.limit
	for i := range joint {
		x, y, mine, all := c.x[i], c.y[i], c.mask[i], joint[i]
		xs, ys, masks, others := c.x[:i], c.y[:i], c.mask[:i], joint[:i]
		ys, masks, others = ys[:len(xs)], masks[:len(xs)], others[:len(xs)]
		for j := range xs {
			dx, dy := xs[j]-x, ys[j]-y
			var yes uint64 // a mask instead of a branch, which would be mispredicted
			if float64(dx*dx)+float64(dy*dy) <= limit {
				yes = ^uint64(0)
			}
			for k := 0; k < len(all); k++ {
				all[k] |= masks[j][k] & yes
				others[j][k] |= mine[k] & yes
			}
		}
		joint[i] = all
	}
}

// add counts points of f around which g is joint with each feature of set above g.
func (c *tripleCounter[M]) add(f, g int, set M, weight int32) {
	at := (f*len(c.u.features) + g) * len(set)
	for k := 0; k < len(set); k++ {
		word := set[k]
		if above := g - k<<6; above >= 63 {
			continue
		} else if above >= 0 {
			word &^= 1<<(above+1) - 1
		}
		if word == 0 {
			continue
		}
		if weight > 1 {
			addWord(c.counts[(at+k)<<6:], word, weight)
			continue
		}
		col := &c.columns[at+k]
		col.add(word)
		if col.words == 255 {
			c.flush(at + k)
		}
	}
}

func addWord(counts []int32, word uint64, weight int32) {
	for ; word != 0; word &= word - 1 {
		counts[bits.TrailingZeros64(word)] += weight
	}
}

func (c *tripleCounter[M]) flush(at int) {
	col := &c.columns[at]
	if col.words == 0 {
		return
	}
	for k, d := range col.digit {
		addWord(c.counts[at<<6:], d, 1<<k)
	}
	*col = column{}
}

// points returns the number of points of f around which g and h are joint.
func (c *tripleCounter[M]) points(f, g, h int) int64 {
	if g > h {
		g, h = h, g
	}
	var one M
	return int64(c.counts[((f*len(c.u.features)+g)*len(one))<<6+h])
}

// inTriple reports whether two features may be in a prevalent triple.
func (c *tripleCounter[M]) inTriple(f, g int) bool {
	need := c.u.need
	c.bits = members(and(c.u.pairs[f], c.u.pairs[g]), c.bits)
	for _, h := range c.bits {
		if c.points(f, g, h) >= need[f] && c.points(g, f, h) >= need[g] && c.points(h, f, g) >= need[h] {
			return true
		}
	}
	return false
}
