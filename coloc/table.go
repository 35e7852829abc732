package coloc

import (
	"math/bits"
	"slices"
)

// table is what a node of the lattice knows about the places. The points of one feature at one
// place are a class. Its weight is their number. Its sets are those of the place's profile that
// contain head, restricted to tail; a class without a set is left out. Classes are grouped by
// feature. Most have a single set and are kept apart, so that a pass over them is one tight loop.
// Hard places have no profile and are evaluated by witness search.
type table[M words] struct {
	groups []group[M] // by bit
	hard   []hardPlace[M]
}

type group[M words] struct {
	// Classes with one set.
	set    []M
	weight []int32

	// Classes with several sets.
	ext     []M // union of the sets
	weights []int32
	end     []int32 // end of the sets of each class
	sets    []M     // of all classes; no set of a class contains another
}

func (g *group[M]) reset() {
	g.set, g.weight = g.set[:0], g.weight[:0]
	g.ext, g.weights, g.end, g.sets = g.ext[:0], g.weights[:0], g.end[:0], g.sets[:0]
}

// add appends a class with the given sets, none of which contains another.
func (g *group[M]) add(sets []M, weight int32) {
	if len(sets) == 1 {
		g.set = append(g.set, sets[0])
		g.weight = append(g.weight, weight)
		return
	}
	g.sets = append(g.sets, sets...)
	g.ext = append(g.ext, union(sets))
	g.weights = append(g.weights, weight)
	g.end = append(g.end, int32(len(g.sets)))
}

// join appends the groups of feature f of all parts and frees them.
func (g *group[M]) join(parts []table[M], f int) {
	single, several, sets := 0, 0, 0
	for i := range parts {
		p := &parts[i].groups[f]
		single, several, sets = single+len(p.set), several+len(p.ext), sets+len(p.sets)
	}
	g.set, g.weight = slices.Grow(g.set, single), slices.Grow(g.weight, single)
	g.ext, g.weights, g.end = slices.Grow(g.ext, several), slices.Grow(g.weights, several), slices.Grow(g.end, several)
	g.sets = slices.Grow(g.sets, sets)
	for i := range parts {
		from := &parts[i].groups[f]
		base := int32(len(g.sets))
		for _, e := range from.end {
			g.end = append(g.end, base+e)
		}
		g.set = append(g.set, from.set...)
		g.weight = append(g.weight, from.weight...)
		g.ext = append(g.ext, from.ext...)
		g.weights = append(g.weights, from.weights...)
		g.sets = append(g.sets, from.sets...)
		*from = group[M]{}
	}
}

// reset empties the table for n features.
func (t *table[M]) reset(n int) {
	for len(t.groups) < n {
		t.groups = append(t.groups, group[M]{})
	}
	for i := range t.groups {
		t.groups[i].reset()
	}
	t.hard = t.hard[:0]
}

type hardPlace[M words] struct {
	place int32
	may   M // features of tail that may still extend head here
}

// countHead counts the points of a feature of head that take part in head + g, for each g of tail,
// in row. It returns the number of those that take part in head + tail.
func countHead[M words](g *group[M], must, tail M, row []int64) (full int64) {
	for k, s := range g.set {
		if !subset(must, s) {
			continue
		}
		w := int64(g.weight[k])
		s = and(s, tail)
		if s == tail {
			full += w
		}
		addBits(row, s, w)
	}
	from := int32(0)
	for k, ext := range g.ext {
		sets := g.sets[from:g.end[k]]
		from = g.end[k]
		if !subset(must, ext) {
			continue
		}
		w := int64(g.weights[k])
		var all M
		whole := false
		for _, s := range sets {
			if subset(must, s) {
				s = and(s, tail)
				all = or(all, s)
				whole = whole || s == tail
			}
		}
		if whole {
			full += w
		}
		addBits(row, all, w)
	}
	return full
}

func addBits[M words](row []int64, s M, w int64) {
	for i := 0; i < len(s); i++ {
		for m := s[i]; m != 0; m &= m - 1 {
			row[i<<6+bits.TrailingZeros64(m)] += w
		}
	}
}

// countTail counts the points of a feature g of tail that take part in head + g, and those that
// take part in head + tail.
func countTail[M words](g *group[M], must, tail M) (some, full int64) {
	both := or(must, tail)
	for k, s := range g.set {
		if subset(must, s) {
			some += int64(g.weight[k])
			if subset(both, s) {
				full += int64(g.weight[k])
			}
		}
	}
	from := int32(0)
	for k, ext := range g.ext {
		sets := g.sets[from:g.end[k]]
		from = g.end[k]
		if !subset(must, ext) {
			continue
		}
		some += int64(g.weights[k])
		for _, s := range sets {
			if subset(both, s) {
				full += int64(g.weights[k])
				break
			}
		}
	}
	return some, full
}

// projectGroup restricts the sets that contain must to tail, and adds the classes to out. It
// returns the number of points that take part in head + tail.
func projectGroup[M words](m *merger, g *group[M], must, tail M, out *group[M]) (full int64) {
	m.reset(len(g.set) + len(g.ext))
	for k, s := range g.set {
		if !subset(must, s) {
			continue
		}
		if s = and(s, tail); empty(s) {
			continue
		}
		if s == tail {
			full += int64(g.weight[k])
		}
		mergeOne(m, out, s, g.weight[k])
	}
	from := int32(0)
	for k, ext := range g.ext {
		sets := g.sets[from:g.end[k]]
		from = g.end[k]
		if !subset(must, ext) {
			continue
		}
		start := len(out.sets)
		for _, s := range sets {
			if subset(must, s) {
				if s = and(s, tail); !empty(s) {
					out.sets = addSet(out.sets, start, s)
				}
			}
		}
		switch len(out.sets) - start {
		case 0:
		case 1:
			s := out.sets[start]
			out.sets = out.sets[:start]
			if s == tail {
				full += int64(g.weights[k])
			}
			mergeOne(m, out, s, g.weights[k])
		default:
			mergeMany(m, out, g.weights[k], start)
		}
	}
	return full
}

// addSet adds a set to those from start on, and keeps only sets that no other contains.
func addSet[M words](sets []M, start int, s M) []M {
	kept := start
	for i := start; i < len(sets); i++ {
		o := sets[i]
		if subset(s, o) {
			return sets
		}
		if !subset(o, s) {
			sets[kept] = o
			kept++
		}
	}
	return append(sets[:kept], s)
}
