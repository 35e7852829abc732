package coloc

import (
	"context"
	"math/bits"
	"slices"
)

// The lattice of feature sets is searched depth first from below. A node is a
// set head with the features tail by which it may still grow, and a table with
// what the places know about head + any of tail. One pass over the table
// counts, for every feature of tail at once, the points that take part in
// head + that feature; another check of the same pass says whether head + all
// of tail is prevalent, which ends the branch with its one maximal pattern.
// A branch all of whose sets lie in a pattern found before is skipped
// (GenMax, Gouda and Zaki 2001).
type lattice[M words] struct {
	u      *universe[M]
	store  *store
	all    bool  // keep every prevalent set, not the maximal ones
	budget int64 // bytes that hard places may remember

	root  table[M]
	tasks *tasks // nil on one core
	work  []*latticeWorker[M]
}

// table is the places as a node sees them. Points of one feature at one place
// are a class: weight points that have the sets (restricted to tail) of the
// profile that hold head. Classes whose sets are all empty say nothing and are
// left out. Hard places have no profile and are asked by witness search.
type table[M words] struct {
	feat   []int16
	weight []int32
	end    []int32
	sets   []M
	hard   []hardPlace[M]
}

type hardPlace[M words] struct {
	place int32
	may   M // features of tail that may still join head here
}

// latticeWorker is one core's scratch.
type latticeWorker[M words] struct {
	find   searcher[M]
	known  map[int32][]M // sets of cliques found through hard places
	used   int64         // bytes in known
	levels []latticeLevel[M]
	row    []int16 // bit of head -> row of counts
	bits   []int
}

type latticeLevel[M words] struct {
	table  table[M]
	counts []int64 // (size of head + 1) rows of len(features)
	full   []int64
	exts   []extension
}

type extension struct {
	bit   int
	index float64
}

// Going down two levels gives some hundred jobs to share among the cores.
const sharedDepth = 2

func newLattice[M words](u *universe[M], s *store, c crew, all bool, budget int64) *lattice[M] {
	l := &lattice[M]{u: u, store: s, all: all, budget: budget / int64(c.workers)}
	for range c.workers {
		l.work = append(l.work, &latticeWorker[M]{
			find:  searcher[M]{g: u.g, mask: u.mask},
			known: make(map[int32][]M),
			row:   make([]int16, len(u.features)),
		})
	}
	if c.workers > 1 {
		l.tasks = newTasks()
	}
	return l
}

// search mines the universe. order lists its bits in the order in which
// patterns grow; with a root only the root starts one.
func (l *lattice[M]) search(ctx context.Context, c crew, order []int) error {
	type branch struct {
		bit  int
		tail M
	}
	var branches []branch
	var later M
	for i := len(order) - 1; i >= 0; i-- {
		b := order[i]
		if t := and(l.u.pairs[b], later); !empty(t) && (l.u.root < 0 || l.u.root == b) {
			branches = append(branches, branch{b, t})
		}
		later = with(later, b)
	}
	// The stack serves the last pushed first: the feature first in order.
	run := func(w int, br branch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var none M
		head := with(none, br.bit)
		if l.store.holds(l.features(or(head, br.tail))) && !l.all {
			return nil
		}
		t := &table[M]{}
		l.project(&l.root, none, br.bit, br.tail, t)
		return l.node(ctx, w, 1, head, br.tail, t, nil)
	}
	if l.tasks == nil {
		for _, br := range slices.Backward(branches) {
			if err := run(0, br); err != nil {
				return err
			}
		}
		return nil
	}
	for _, br := range branches {
		l.tasks.push(func(w int) error { return run(w, br) })
	}
	return l.tasks.run(ctx, c)
}

// node counts all extensions of head, whose own counts are given (by bit), and
// goes on with the prevalent ones.
func (l *lattice[M]) node(ctx context.Context, w, depth int, head, tail M, t *table[M], own []int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.store.failure(); err != nil {
		return err
	}
	wk := l.work[w]
	for len(wk.levels) <= depth {
		wk.levels = append(wk.levels, latticeLevel[M]{})
	}
	n := len(l.u.features)
	lv := &wk.levels[depth]
	counts, full := l.count(wk, lv, head, tail, t)

	heads := members(head, nil)
	diagonal := counts[len(heads)*n:]
	if !l.all && l.prevalentAll(or(head, tail), full) {
		l.keep(or(head, tail), full)
		return nil
	}
	exts := lv.exts[:0]
	wk.bits = members(tail, wk.bits)
	for _, g := range wk.bits {
		if diagonal[g] < l.u.need[g] {
			continue
		}
		index := float64(diagonal[g]) / float64(l.u.g.total[l.u.features[g]])
		ok := true
		for r, f := range heads {
			c := counts[r*n+g]
			if c < l.u.need[f] {
				ok = false
				break
			}
			index = min(index, float64(c)/float64(l.u.g.total[l.u.features[f]]))
		}
		if ok {
			exts = append(exts, extension{g, index})
		}
	}
	// The rarest extension first: its branch dies soonest.
	slices.SortFunc(exts, func(a, b extension) int {
		switch {
		case a.index < b.index:
			return -1
		case a.index > b.index:
			return 1
		}
		return a.bit - b.bit
	})
	lv.exts = exts
	if len(exts) == 0 {
		if len(heads) > 1 && !l.all {
			l.keep(head, own)
		}
		return nil
	}
	var later M
	tails := make([]M, len(exts))
	for i := len(exts) - 1; i >= 0; i-- {
		tails[i] = and(later, l.u.pairs[exts[i].bit])
		later = with(later, exts[i].bit)
	}
	child := func(w, i int, t *table[M]) error {
		g := exts[i].bit
		next := with(head, g)
		if !l.all && l.store.holds(l.features(or(next, tails[i]))) {
			return nil
		}
		nextOwn := make([]int64, n)
		for r, f := range heads {
			nextOwn[f] = counts[r*n+g]
		}
		nextOwn[g] = diagonal[g]
		if l.all {
			l.keep(next, nextOwn)
		}
		if empty(tails[i]) {
			if !l.all {
				l.keep(next, nextOwn)
			}
			return nil
		}
		wk := l.work[w]
		for len(wk.levels) <= depth+1 {
			wk.levels = append(wk.levels, latticeLevel[M]{})
		}
		below := &wk.levels[depth+1].table
		if l.tasks != nil && depth < sharedDepth {
			below = &table[M]{} // shared with other cores, so not scratch
		}
		l.project(t, head, g, tails[i], below)
		return l.node(ctx, w, depth+1, next, tails[i], below, nextOwn)
	}
	if l.tasks != nil && depth <= sharedDepth {
		exts, counts = slices.Clone(exts), slices.Clone(counts)
		diagonal = counts[len(heads)*n:]
		for i := len(exts) - 1; i >= 0; i-- {
			l.tasks.push(func(w int) error { return child(w, i, t) })
		}
		return nil
	}
	for i := range exts {
		if err := child(w, i, t); err != nil {
			return err
		}
	}
	return nil
}

// count fills counts: row of f in head, column g: points of f in head + g; the
// last row: points of g in head + g. full: points of each in head + tail. What
// hard places may still do is narrowed to what they did.
func (l *lattice[M]) count(wk *latticeWorker[M], lv *latticeLevel[M], head, tail M, t *table[M]) (counts, full []int64) {
	n := len(l.u.features)
	wk.bits = members(head, wk.bits)
	rows := len(wk.bits)
	for r, f := range wk.bits {
		wk.row[f] = int16(r)
	}
	counts = slices.Grow(lv.counts[:0], (rows+1)*n)[:(rows+1)*n]
	full = slices.Grow(lv.full[:0], n)[:n]
	lv.counts, lv.full = counts, full
	clear(counts)
	clear(full)
	diagonal := counts[rows*n:]

	from := int32(0)
	for k, f := range t.feat {
		w := int64(t.weight[k])
		sets := t.sets[from:t.end[k]]
		from = t.end[k]
		ext := sets[0]
		whole := subset(tail, sets[0])
		for _, s := range sets[1:] {
			ext = or(ext, s)
			whole = whole || subset(tail, s)
		}
		if whole {
			full[f] += w
		}
		if !has(head, int(f)) {
			diagonal[f] += w
			continue
		}
		row := counts[int(wk.row[f])*n:][:n]
		for i := 0; i < len(ext); i++ {
			for m := ext[i]; m != 0; m &= m - 1 {
				row[i<<6+bits.TrailingZeros64(m)] += w
			}
		}
	}
	for k := range t.hard {
		l.countHard(wk, &t.hard[k], head, tail, counts, full)
	}
	return counts, full
}

func (l *lattice[M]) countHard(wk *latticeWorker[M], h *hardPlace[M], head, tail M, counts, full []int64) {
	n := len(l.u.features)
	g := l.u.g
	if all := or(head, h.may); !l.witnessed(wk, h.place, all) {
		var can M
		for _, b := range members(h.may, nil) {
			if l.witnessed(wk, h.place, with(head, b)) {
				can = with(can, b)
			}
		}
		h.may = can
	}
	whole := subset(tail, h.may) && l.witnessed(wk, h.place, or(head, tail))
	wk.bits = members(h.may, wk.bits)
	for k := g.first[h.place]; k < g.first[h.place+1]; k++ {
		f := int(l.u.bit[g.feat[k]])
		if f < 0 {
			continue
		}
		w := int64(g.weight[k])
		switch {
		case has(head, f):
			row := counts[int(wk.row[f])*n:]
			for _, b := range wk.bits {
				row[b] += w
			}
		case has(h.may, f):
			counts[(len(counts)/n-1)*n+f] += w
		default:
			continue
		}
		if whole {
			full[f] += w
		}
	}
}

// witnessed tells whether a clique through the place covers the set, and
// remembers the cliques it met.
func (l *lattice[M]) witnessed(wk *latticeWorker[M], place int32, set M) bool {
	for _, s := range wk.known[place] {
		if subset(set, s) {
			return true
		}
	}
	if !wk.find.find(place, set) {
		return false
	}
	found := l.u.mask[place]
	for _, j := range wk.find.clique {
		found = or(found, l.u.mask[j])
	}
	cost := int64(8*len(found) + 32)
	if wk.used+cost < l.budget {
		wk.used += cost
		wk.known[place] = append(wk.known[place], found)
	}
	return true
}

// project makes the table of head + g with its tail from the table of head.
func (l *lattice[M]) project(t *table[M], head M, g int, tail M, out *table[M]) {
	out.feat, out.weight, out.end, out.sets, out.hard = out.feat[:0], out.weight[:0], out.end[:0], out.sets[:0], out.hard[:0]
	next := with(head, g)
	keep := or(next, tail)
	from := int32(0)
	for k, f := range t.feat {
		sets := t.sets[from:t.end[k]]
		from = t.end[k]
		if !has(keep, int(f)) {
			continue
		}
		start := len(out.sets)
	sets:
		for _, s := range sets {
			if int(f) != g && !has(s, g) {
				continue
			}
			s = and(s, tail)
			if empty(s) {
				continue
			}
			kept := start
			for i := start; i < len(out.sets); i++ {
				o := out.sets[i]
				if subset(s, o) {
					continue sets
				}
				if !subset(o, s) {
					out.sets[kept] = o
					kept++
				}
			}
			out.sets = append(out.sets[:kept], s)
		}
		if len(out.sets) > start {
			out.feat = append(out.feat, f)
			out.weight = append(out.weight, t.weight[k])
			out.end = append(out.end, int32(len(out.sets)))
		}
	}
	for _, h := range t.hard {
		if !has(h.may, g) {
			continue
		}
		h.may = and(h.may, tail)
		if !empty(h.may) && overlap(l.u.mask[h.place], keep) {
			out.hard = append(out.hard, h)
		}
	}
}

func (l *lattice[M]) prevalentAll(set M, counts []int64) bool {
	for i := 0; i < len(set); i++ {
		for m := set[i]; m != 0; m &= m - 1 {
			b := i<<6 + bits.TrailingZeros64(m)
			if counts[b] < l.u.need[b] {
				return false
			}
		}
	}
	return true
}

// features are the set's features, ascending.
func (l *lattice[M]) features(set M) []int32 {
	out := make([]int32, 0, size(set))
	for i := 0; i < len(set); i++ {
		for m := set[i]; m != 0; m &= m - 1 {
			out = append(out, l.u.features[i<<6+bits.TrailingZeros64(m)])
		}
	}
	return out
}

func (l *lattice[M]) keep(set M, counts []int64) {
	f := l.features(set)
	c := make([]int64, 0, len(f))
	for _, b := range members(set, nil) {
		c = append(c, counts[b])
	}
	l.store.add(f, c)
}
