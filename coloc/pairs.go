package coloc

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// pairCounts has, for every ordered pair of features (f, g), the number of points of f with a
// neighbour of g. These numbers determine the patterns of size two.
type pairCounts struct {
	n      int
	dense  []int64          // n*n, for up to denseFeatures features
	sparse map[uint64]int64 // for more features
}

// denseFeatures bounds the matrix to 8 MB per core.
const denseFeatures = 1024

func newPairCounts(n int) *pairCounts {
	if n <= denseFeatures {
		return &pairCounts{n: n, dense: make([]int64, n*n)}
	}
	return &pairCounts{n: n, sparse: make(map[uint64]int64)}
}

func (c *pairCounts) add(f, g int32, w int64) {
	if c.dense != nil {
		c.dense[int(f)*c.n+int(g)] += w
	} else {
		c.sparse[uint64(f)<<32|uint64(g)] += w
	}
}

func (c *pairCounts) get(f, g int32) int64 {
	if c.dense != nil {
		return c.dense[int(f)*c.n+int(g)]
	}
	return c.sparse[uint64(f)<<32|uint64(g)]
}

// countPairs counts pairs in one pass over the neighbourhoods of all places.
func countPairs(ctx context.Context, g *neighbours, cores cores, budget int64) (*pairCounts, error) {
	n := len(g.total)
	counters := make([]*pairCounter, cores.workers)
	var edges atomic.Int64
	err := cores.at("counting pairs").each(ctx, blockCount(g.len()), func(w, b int) error {
		if counters[w] == nil {
			counters[w] = newPairCounter(g)
		}
		c := counters[w]
		found, err := c.block(b)
		if err != nil {
			return err
		}
		edges.Add(int64(found))
		if held := int64(len(c.counts.sparse)) * 64 * int64(cores.workers); held > budget {
			return fmt.Errorf("counting patterns of size 2 among %d features needs more than the memory bound: raise coloc.Options.Memory, lower coloc.Options.Distance or merge features", n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.edges = edges.Load()
	sum := newPairCounts(n)
	for _, c := range counters {
		if c == nil {
			continue
		}
		for f := range c.masks.columns {
			c.masks.flush(int32(f))
		}
		for k, v := range c.counts.dense {
			sum.dense[k] += v
		}
		for k, v := range c.counts.sparse {
			sum.sparse[k] += v
		}
	}
	return sum, nil
}

// pairCounter has the counts and scratch memory of one worker.
type pairCounter struct {
	g      *neighbours
	counts *pairCounts
	masks  maskCounter // used if a mask has a bit for every feature
	seen   []int32     // by feature: the last place with the feature near it, plus 1
	near   []int32     // features near the current place
	buf    []int32
}

func newPairCounter(g *neighbours) *pairCounter {
	n := len(g.total)
	c := &pairCounter{g: g, counts: newPairCounts(n)}
	if g.spots != nil {
		c.masks = maskCounter{g: g, columns: make([]column, n), counts: c.counts}
	} else {
		c.seen = make([]int32, n)
	}
	return c
}

// block counts the pairs of the places of a block and returns the number of their neighbours.
func (c *pairCounter) block(b int) (found int, err error) {
	g := c.g
	place := c.place
	if g.spots != nil {
		if g.streams() && g.z == nil && g.time == nil {
			return c.masks.block(b)
		}
		place = c.masks.list
	}
	if g.streams() {
		err := g.eachCell(b, func(lo, hi int32, spans []span) error {
			for i := lo; i < hi; i++ {
				c.buf = g.scan(i, spans, c.buf[:0])
				place(i, c.buf)
				found += len(c.buf)
			}
			return nil
		})
		return found, err
	}
	for i := int32(b << blockShift); i < int32(min(g.len(), (b+1)<<blockShift)); i++ {
		list, _ := g.of(i, nil)
		place(i, list)
		found += len(list)
	}
	return found, nil
}

// place counts the pairs of a place, given its neighbours.
func (c *pairCounter) place(i int32, list []int32) {
	g := c.g
	c.near = c.near[:0]
	c.note(i, i)
	for _, j := range list {
		c.note(i, j)
	}
	for k := g.first[i]; k < g.first[i+1]; k++ {
		f, w := g.feat[k], int64(g.weight[k])
		if c.counts.dense != nil {
			row := c.counts.dense[int(f)*c.counts.n:][:c.counts.n]
			for _, h := range c.near {
				row[h] += w
			}
			row[f] = 0
			continue
		}
		for _, h := range c.near {
			if h != f {
				c.counts.add(f, h, w)
			}
		}
	}
}

// note adds the features of place j to those near place i.
func (c *pairCounter) note(i, j int32) {
	for _, f := range c.g.feat[c.g.first[j]:c.g.first[j+1]] {
		if c.seen[f] != i+1 {
			c.seen[f] = i + 1
			c.near = append(c.near, f)
		}
	}
}

// featureGraph has an edge for every prevalent pair of features.
type featureGraph struct {
	adj    [][]int32 // ascending
	counts *pairCounts
}

// newFeatureGraph keeps the pairs whose participation index reaches minPrev.
func newFeatureGraph(counts *pairCounts, total []int64, minPrev float64) *featureGraph {
	fg := &featureGraph{adj: make([][]int32, counts.n), counts: counts}
	try := func(f, g int32) {
		if prevalent(counts.get(f, g), total[f], minPrev) && prevalent(counts.get(g, f), total[g], minPrev) {
			fg.adj[f] = append(fg.adj[f], g)
			fg.adj[g] = append(fg.adj[g], f)
		}
	}
	if counts.dense != nil {
		for f := range int32(counts.n) {
			for g := f + 1; g < int32(counts.n); g++ {
				if counts.get(f, g) > 0 {
					try(f, g)
				}
			}
		}
		return fg
	}
	for k := range counts.sparse {
		if f, g := int32(k>>32), int32(k); f < g {
			try(f, g)
		}
	}
	for _, list := range fg.adj {
		slices.Sort(list)
	}
	return fg
}

// order lists the features with an edge in degeneracy order.
func (fg *featureGraph) order() (order []int32, width int) {
	order, width = degeneracyOrder(fg.adj)
	return slices.DeleteFunc(order, func(f int32) bool { return len(fg.adj[f]) == 0 }), width
}

// addPairs stores every prevalent pair as a pattern.
func (fg *featureGraph) addPairs(s *store) {
	for f := range fg.adj {
		for _, h := range fg.adj[f] {
			if int32(f) < h {
				s.add([]int32{int32(f), h}, []int64{fg.counts.get(int32(f), h), fg.counts.get(h, int32(f))})
			}
		}
	}
}

// prevalent compares a participation ratio with the threshold. It divides, because 7 of 25 must
// reach 0.28, but 0.28*25 is more than 7 in float64.
func prevalent(count, total int64, minPrev float64) bool {
	return total > 0 && float64(count)/float64(total) >= minPrev
}

// joined reports whether two features are a prevalent pair.
func (fg *featureGraph) joined(f, g int32) bool {
	_, ok := slices.BinarySearch(fg.adj[f], g)
	return ok
}

// hasTriangle reports whether a pattern of size three is possible at all.
func (fg *featureGraph) hasTriangle() bool {
	for f, list := range fg.adj {
		for i, g := range list {
			if g < int32(f) {
				continue
			}
			for _, h := range list[i+1:] {
				if fg.joined(g, h) {
					return true
				}
			}
		}
	}
	return false
}
