package cooccur

import "math"

// gatherer computes rows from the places of their words (see chunk.occurrences).
type gatherer struct {
	*job
	blocks   [][]uint32
	places   []uint32
	small    []uint32 // weights for light rows
	lightest int      // a row with at most this many places is light
}

func newGatherer(j *job, blocks []block, places []uint32) *gatherer {
	g := &gatherer{job: j, places: places, small: make([]uint32, len(j.of))}
	for _, b := range blocks {
		g.blocks = append(g.blocks, b.ids.words)
	}
	if !j.wide {
		for d, w := range j.of {
			g.small[d] = uint32(w)
		}
		g.lightest = int(math.MaxUint32 / (2 * j.sum()))
	}
	return g
}

// row adds up the neighbours of all places of one word, places[from:to]. Rows must
// come in order.
func (g *gatherer) row(a *accumulator, out *sumRows, from, to int) {
	light := to-from <= g.lightest
	for ; from < to; from += gatherGroup {
		g.touch(a, from)
		group := g.places[from:min(from+gatherGroup, to)]
		switch {
		case g.wide:
			g.addWide(a, group)
		case light:
			addGroup(g, a, a.small, g.small, group)
		default:
			addGroup(g, a, a.large, g.of, group)
		}
	}
	a.take(out, light)
}

// The places of a rare word are scattered over the chunk, and most of the time was spent waiting
// for memory. So both ends of each window are read ahead of time, in a loop without unpredictable
// branches, which lets cache misses overlap. Reading ahead continues into the following rows.
// (Copying random windows of 5 IDs took three times as long as touching them.)
const (
	gatherGroup = 32 // places that are added together
	touchAhead  = 64 // places that are read ahead
)

// touch reads ahead of the group that begins at from.
func (g *gatherer) touch(a *accumulator, from int) {
	start, end := max(a.ahead, from), min(from+touchAhead+gatherGroup, len(g.places))
	if start >= end || start > from+touchAhead {
		return
	}
	touched, window := uint32(0), g.Window
	for _, p := range g.places[start:end] {
		ids, i := g.blocks[p>>blockShift], int(p&(1<<blockShift-1))
		touched += ids[i-window] + ids[i+window]
	}
	a.ahead, a.touched = end, touched
}

// addGroup adds the windows of some places.
func addGroup[S uint32 | uint64](g *gatherer, a *accumulator, sums, weights []S, group []uint32) {
	weights = weights[1:]
	if g.Side != Left {
		for _, p := range group {
			i := int(p&(1<<blockShift-1)) + 1
			a.n = addRight(g.blocks[p>>blockShift][i:i+len(weights)], sums, weights, a.list, a.n)
		}
	}
	if g.Side != Right {
		for _, p := range group {
			i := int(p & (1<<blockShift - 1))
			a.n = addLeft(g.blocks[p>>blockShift][i-len(weights):i], sums, weights, a.list, a.n)
		}
	}
}

// addRight adds the words after a place to the sums, up to the end of the document, and appends the
// columns whose sums were zero to list, which has n entries. It is a separate function so that all
// its variables stay in registers.
func addRight[S uint32 | uint64](near []uint32, sums, weights []S, list []uint32, n int) int {
	weights = weights[:len(near)]
	for d, c := range near {
		if c == 0 {
			break
		}
		old := sums[c]
		sums[c] = old + weights[d]
		list[n] = c
		if old == 0 {
			n++
		}
	}
	return n
}

// addLeft is like addRight for the words before a place, starting with the nearest.
func addLeft[S uint32 | uint64](near []uint32, sums, weights []S, list []uint32, n int) int {
	weights = weights[:len(near)]
	for d := range weights {
		c := near[len(near)-1-d]
		if c == 0 {
			break
		}
		old := sums[c]
		sums[c] = old + weights[d]
		list[n] = c
		if old == 0 {
			n++
		}
	}
	return n
}

// addWide is addGroup for 128-bit sums.
func (g *gatherer) addWide(a *accumulator, group []uint32) {
	for _, p := range group {
		ids, i := g.blocks[p>>blockShift], int(p&(1<<blockShift-1))
		if g.Side != Right {
			for d := 1; d <= g.Window && ids[i-d] != 0; d++ {
				a.add(ids[i-d], g.of[d], 0)
			}
		}
		if g.Side != Left {
			for d := 1; d <= g.Window && ids[i+d] != 0; d++ {
				a.add(ids[i+d], g.of[d], 0)
			}
		}
	}
}
