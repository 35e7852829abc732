package coloc

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
)

// neighbours is the neighbour graph of the places. Places of the same feature are joined too: they
// are never in the same instance, but random relabelling needs them.
//
// At first every query scans the grid. A caller with many queries calls list to build neighbour
// lists, block by block. If they would exceed the memory bound, the graph keeps scanning.
type neighbours struct {
	*places
	limit  float64   // largest squared distance
	within int64     // largest difference in seconds, if places have times
	reach  []float64 // per place its own squared distance; nil for one limit

	blocks [][]int32 // lists of placesPerBlock places each; nil if not built
	end    []uint32  // end of a place's list in its block
	edges  int64     // directed; -1 when not counted yet
}

// Blocks are the unit in which cores take work and lists are stored. 1,024 places keep 16 cores
// busy from 100,000 places on.
const (
	blockShift     = 10
	placesPerBlock = 1 << blockShift
)

func blockCount(places int) int { return (places + placesPerBlock - 1) >> blockShift }

// joinDistance returns the graph of places within a squared distance.
func joinDistance(p *places, limit float64) *neighbours {
	return &neighbours{places: p, limit: limit, edges: -1}
}

// adjacent reports whether two different places are neighbours.
func (g *neighbours) adjacent(i, j int32) bool {
	limit := g.limit
	if g.reach != nil {
		limit = max(g.reach[i], g.reach[j])
	}
	return g.distance2(i, j) <= limit && g.inTime(i, j)
}

// inTime reports whether two places are close enough in time.
func (g *neighbours) inTime(i, j int32) bool {
	return g.time == nil || near(g.time[i], g.time[j], g.within)
}

// near reports whether two times are at most the given number of seconds apart.
func near(a, b, within int64) bool { return max(a, b)-min(a, b) <= within }

// eachCell calls do(lo, hi, spans around them) for the places of a block, cell
// by cell.
func (g *neighbours) eachCell(block int, do func(lo, hi int32, spans []span) error) error {
	win := window{g: &g.grid}
	from, to := int32(block<<blockShift), int32(min(g.len(), (block+1)<<blockShift))
	for cell := g.grid.cellOf(from); from < to; cell++ {
		hi := min(to, g.grid.start[cell+1])
		if from == hi {
			continue
		}
		if err := do(from, hi, win.around(g.grid.keyOf(cell))); err != nil {
			return err
		}
		from = hi
	}
	return nil
}

var errFull = errors.New("lists do not fit")

// list builds the lists of neighbours unless they take more than budget bytes.
func (g *neighbours) list(ctx context.Context, cores cores, budget int64) error {
	if g.blocks != nil {
		return nil
	}
	blocks := make([][]int32, blockCount(g.len()))
	end := make([]uint32, g.len())
	var edges atomic.Int64
	scratch := make([][]int32, cores.workers)
	err := cores.at("listing neighbours").each(ctx, len(blocks), func(w, b int) error {
		lists := scratch[w][:0]
		err := g.eachCell(b, func(lo, hi int32, spans []span) error {
			for i := lo; i < hi; i++ {
				lists = g.scan(i, spans, lists)
				end[i] = uint32(len(lists))
				if len(lists) > math.MaxInt32 || 4*int64(len(lists)) > budget {
					return errFull
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		scratch[w] = lists
		blocks[b] = slices.Clone(lists)
		if 4*edges.Add(int64(len(lists))) > budget {
			return errFull
		}
		return nil
	})
	if err == nil {
		g.blocks, g.end, g.edges = blocks, end, edges.Load()
	}
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// streams says whether there are no lists, so that neighbours are found anew each time.
func (g *neighbours) streams() bool { return g.blocks == nil }

// of returns the neighbours of a place in ascending order. The list belongs to the graph or,
// without lists, is in buf; buf is returned for reuse.
func (g *neighbours) of(i int32, buf []int32) (list, scratch []int32) {
	if g.blocks != nil {
		from := uint32(0)
		if i&(placesPerBlock-1) != 0 {
			from = g.end[i-1]
		}
		return g.blocks[i>>blockShift][from:g.end[i]], buf
	}
	win := window{g: &g.grid}
	buf = g.scan(i, win.around(g.grid.keyOf(g.grid.cellOf(i))), buf[:0])
	return buf, buf
}

// scan appends the neighbours of place i in the spans.
func (g *neighbours) scan(i int32, spans []span, out []int32) []int32 {
	need := 0
	for _, s := range spans {
		need += int(s.hi - s.lo)
	}
	n := len(out)
	first := n
	out = slices.Grow(out, need)[:n+need]
	for _, s := range spans {
		if s.lo <= i && i < s.hi { // the place itself is no neighbour
			n = g.scanSpan(i, span{s.lo, i}, out, n)
			s.lo = i + 1
		}
		n = g.scanSpan(i, s, out, n)
	}
	if g.time != nil {
		kept := out[:first]
		for _, j := range out[first:n] {
			if g.inTime(i, j) {
				kept = append(kept, j)
			}
		}
		return kept
	}
	return out[:n]
}

// scanSpan writes every candidate and advances only past neighbours, which avoids mispredicted
// branches.
func (g *neighbours) scanSpan(i int32, s span, out []int32, n int) int {
	x, y, limit := g.x[i], g.y[i], g.limit
	xs := g.x[s.lo:s.hi]
	ys := g.y[s.lo:s.hi]
	ys = ys[:len(xs)]
	if g.z == nil {
		for k := range xs {
			dx, dy := xs[k]-x, ys[k]-y
			out[n] = s.lo + int32(k)
			step := 0
			if float64(dx*dx)+float64(dy*dy) <= limit {
				step = 1
			}
			n += step
		}
		return n
	}
	z := g.z[i]
	zs := g.z[s.lo:s.hi]
	zs = zs[:len(xs)]
	for k := range xs {
		dx, dy, dz := xs[k]-x, ys[k]-y, zs[k]-z
		out[n] = s.lo + int32(k)
		step := 0
		if float64(dx*dx)+float64(dy*dy)+float64(dz*dz) <= limit {
			step = 1
		}
		n += step
	}
	return n
}
