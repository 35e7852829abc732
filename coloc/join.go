package coloc

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
)

// neighbours is the neighbour graph of the places. Places of the same feature
// are joined too: they never stand in one instance together, and random
// relabelling needs them.
//
// The lists are kept block by block. When they would not fit the memory bound
// they are dropped, and every question scans the grid again.
type neighbours struct {
	*places
	limit float64   // squared distance at most
	reach []float64 // per place its own squared distance; nil for one limit

	blocks [][]int32 // lists of placesPerBlock places each; nil when streaming
	end    []uint32  // where a place's list ends in its block
	edges  int64     // directed
	spans  []int32   // the cell of each place, when streaming
}

// Blocks are the unit in which cores take work and lists are stored. 1,024
// places keep 16 cores busy from 100,000 places on and cost nothing in order.
const (
	blockShift     = 10
	placesPerBlock = 1 << blockShift
)

func blockCount(places int) int { return (places + placesPerBlock - 1) >> blockShift }

// adjacent tells whether two different places are neighbours.
func (g *neighbours) adjacent(i, j int32) bool {
	limit := g.limit
	if g.reach != nil {
		limit = max(g.reach[i], g.reach[j])
	}
	return g.distance2(i, j) <= limit
}

// joinDistance finds all neighbours within a squared distance. budget is how
// many bytes the lists may take; beyond it the graph streams.
func joinDistance(ctx context.Context, p *places, limit float64, crew crew, budget int64) (*neighbours, error) {
	g := &neighbours{places: p, limit: limit}
	n := p.len()
	blocks := make([][]int32, blockCount(n))
	g.end = make([]uint32, n)
	var edges atomic.Int64
	var over atomic.Bool
	scratch := make([][]int32, crew.workers)
	err := crew.each(ctx, len(blocks), func(w, b int) error {
		if over.Load() {
			return nil
		}
		lists := scratch[w][:0]
		lo, hi := int32(b<<blockShift), int32(min(n, (b+1)<<blockShift))
		win := window{g: &p.grid}
		cell := p.grid.cellOf(lo)
		spans := win.around(p.grid.keys[cell])
		for i := lo; i < hi; i++ {
			if i >= p.grid.start[cell+1] {
				cell++
				spans = win.around(p.grid.keys[cell])
			}
			lists = g.scan(i, spans, lists)
			if len(lists) > math.MaxInt32 || 4*int64(len(lists)) > budget {
				over.Store(true)
				return nil
			}
			g.end[i] = uint32(len(lists))
		}
		scratch[w] = lists
		blocks[b] = slices.Clone(lists)
		if 4*edges.Add(int64(len(lists))) > budget {
			over.Store(true)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if over.Load() {
		g.end = nil
		g.spans = make([]int32, n)
		for c := range p.grid.keys {
			for i := p.grid.start[c]; i < p.grid.start[c+1]; i++ {
				g.spans[i] = int32(c)
			}
		}
		g.edges = -1
		return g, nil
	}
	g.blocks, g.edges = blocks, edges.Load()
	return g, nil
}

// streams tells that the lists did not fit and are found anew each time.
func (g *neighbours) streams() bool { return g.blocks == nil }

// of lists the neighbours of a place, ascending. The list is the graph's own,
// or lies in buf when the graph streams; buf is returned to be used again.
func (g *neighbours) of(i int32, buf []int32) (list, scratch []int32) {
	if g.blocks != nil {
		b := i >> blockShift
		from := uint32(0)
		if i&(placesPerBlock-1) != 0 {
			from = g.end[i-1]
		}
		return g.blocks[b][from:g.end[i]], buf
	}
	win := window{g: &g.grid}
	buf = g.scan(i, win.around(g.grid.keys[g.spans[i]]), buf[:0])
	return buf, buf
}

// scan appends the neighbours of place i that lie in the spans.
func (g *neighbours) scan(i int32, spans []span, out []int32) []int32 {
	need := 0
	for _, s := range spans {
		need += int(s.hi - s.lo)
	}
	n := len(out)
	out = slices.Grow(out, need)[:n+need]
	for _, s := range spans {
		// The place itself is no neighbour: leave it out of its own span.
		if s.lo <= i && i < s.hi {
			n = g.scanSpan(i, s.lo, i, out, n)
			s.lo = i + 1
		}
		n = g.scanSpan(i, s.lo, s.hi, out, n)
	}
	return out[:n]
}

// scanSpan writes every candidate and moves on only past neighbours: no branch
// to mispredict.
func (g *neighbours) scanSpan(i, lo, hi int32, out []int32, n int) int {
	x, y, limit := g.x[i], g.y[i], g.limit
	xs := g.x[lo:hi]
	ys := g.y[lo:hi]
	ys = ys[:len(xs)]
	if g.z == nil {
		for k := range xs {
			dx, dy := xs[k]-x, ys[k]-y
			out[n] = lo + int32(k)
			step := 0
			if float64(dx*dx)+float64(dy*dy) <= limit {
				step = 1
			}
			n += step
		}
		return n
	}
	z := g.z[i]
	zs := g.z[lo:hi]
	zs = zs[:len(xs)]
	for k := range xs {
		dx, dy, dz := xs[k]-x, ys[k]-y, zs[k]-z
		out[n] = lo + int32(k)
		step := 0
		if float64(dx*dx)+float64(dy*dy)+float64(dz*dz) <= limit {
			step = 1
		}
		n += step
	}
	return n
}
