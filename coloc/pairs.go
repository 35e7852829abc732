package coloc

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
)

// pairCounts says, for ordered features (f, g), how many points of f have a
// point of g among their neighbours: all that is needed for the patterns of
// size two.
type pairCounts struct {
	n      int
	dense  []int64          // n*n, up to denseFeatures features
	sparse map[uint64]int64 // beyond
}

// denseFeatures bounds the matrix to 8 MB a core.
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

// countPairs looks once at the neighbourhood of every place.
func countPairs(ctx context.Context, g *neighbours, crew crew, budget int64) (*pairCounts, error) {
	n := len(g.total)
	counts := make([]*pairCounts, crew.workers)
	counters := make([]pairCounter, crew.workers)
	var spots []spot
	if n <= 64 {
		spots = g.spots(crew)
	}
	var edges atomic.Int64
	err := crew.each(ctx, blockCount(g.len()), func(w, b int) error {
		if counts[w] == nil {
			counts[w] = newPairCounts(n)
			counters[w] = pairCounter{g: g, spots: spots, seen: make([]int32, n)}
		}
		c := &counters[w]
		// In the plane and without lists a scan of the grid gives masks at once.
		if spots != nil && g.streams() && g.z == nil {
			found := 0
			err := g.eachCell(b, func(i int32, spans []span) error {
				near, n := g.scanMask(i, spans, spots)
				found += n
				c.add(i, near, counts[w])
				return nil
			})
			edges.Add(int64(found))
			return err
		}
		found := 0
		for i := int32(b << blockShift); i < int32(min(g.len(), (b+1)<<blockShift)); i++ {
			found += c.place(i, counts[w])
		}
		edges.Add(int64(found))
		if held := int64(len(counts[w].sparse)) * 64 * int64(crew.workers); held > budget {
			return fmt.Errorf("counting patterns of size 2 among %d features needs more than the memory bound: raise --memory, take a smaller --distance or merge features", n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.edges = edges.Load()
	sum := newPairCounts(n)
	for _, c := range counts {
		if c == nil {
			continue
		}
		for k, v := range c.dense {
			sum.dense[k] += v
		}
		for k, v := range c.sparse {
			sum.sparse[k] += v
		}
	}
	return sum, nil
}

// pairCounter is one worker's scratch.
type pairCounter struct {
	g     *neighbours
	spots []spot  // when 64 bits hold the features
	seen  []int32 // place+1 whose neighbourhood last showed the feature
	near  []int32
	buf   []int32
}

// add counts the pairs of place i with the features near it.
func (c *pairCounter) add(i int32, near uint64, counts *pairCounts) {
	g := c.g
	for k := g.first[i]; k < g.first[i+1]; k++ {
		f, w := g.feat[k], int64(g.weight[k])
		row := counts.dense[int(f)*counts.n:]
		for m := near &^ (1 << f); m != 0; m &= m - 1 {
			row[bits.TrailingZeros64(m)] += w
		}
	}
}

// place looks at the neighbours of place i and tells how many there are.
func (c *pairCounter) place(i int32, counts *pairCounts) int {
	g := c.g
	var list []int32
	list, c.buf = g.of(i, c.buf)
	if c.spots != nil {
		near := c.spots[i].mask
		for _, j := range list {
			near |= c.spots[j].mask
		}
		c.add(i, near, counts)
		return len(list)
	}
	c.near = c.near[:0]
	c.note(i, i)
	for _, j := range list {
		c.note(i, j)
	}
	for k := g.first[i]; k < g.first[i+1]; k++ {
		f, w := g.feat[k], int64(g.weight[k])
		for _, h := range c.near {
			if h != f {
				counts.add(f, h, w)
			}
		}
	}
	return len(list)
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

// prevalent compares a participation ratio with the threshold: by division, as
// 7 of 10 must reach 0.7 and 0.7*10 is more than 7.
func prevalent(count, total int64, minPrev float64) bool {
	return total > 0 && float64(count)/float64(total) >= minPrev
}

// joined tells whether two features are a prevalent pair.
func (fg *featureGraph) joined(f, g int32) bool {
	_, ok := slices.BinarySearch(fg.adj[f], g)
	return ok
}

// hasTriangle tells whether a pattern of size three is possible at all.
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
