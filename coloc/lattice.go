package coloc

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync/atomic"
)

// lattice searches the lattice of feature sets depth first, from small sets to large ones. A node
// is a set, head, and the features that may still extend it, tail. It is evaluated with the table
// of its parent. One pass counts, for all features of tail at once, the points that take part in
// head + the feature. The same pass counts the points that take part in head + tail. If head + tail
// is prevalent, it is the only maximal pattern of the branch, which ends.
//
// Only a node with two or more prevalent extensions gets a table of its own, narrowed to these. A
// branch is skipped if a pattern found before contains all its sets (GenMax, Gouda and Zaki 2001).
type lattice[M words] struct {
	u      *universe[M]
	store  *store
	all    bool  // keep every prevalent set, not only the maximal ones
	budget int64 // bytes per worker for known cliques of hard places

	root  table[M]
	tasks *tasks // nil on one core
	work  []*latticeWorker[M]

	cores cores
	nodes atomic.Int64 // visited
}

// latticeWorker is the scratch memory of one core.
type latticeWorker[M words] struct {
	find   searcher[M]
	known  map[int32][]M // sets of cliques found through hard places
	used   int64         // bytes in known
	levels []*latticeLevel[M]
	row    []int16 // bit of head -> row of counts
	bits   []int
	heads  []int
	merge  merger
}

type latticeLevel[M words] struct {
	table  table[M]
	hard   []hardPlace[M] // the parent's hard places that can still extend head
	counts []int64        // (size of head + 1) rows of len(features); see count
	full   []int64        // participating points of head + tail, by bit
	exts   []extension
}

type extension struct {
	bit   int
	index float64
}

// sharedDepth is the number of levels whose nodes are jobs for any core. Two levels give some
// hundred jobs.
const sharedDepth = 2

func newLattice[M words](u *universe[M], s *store, c cores, all bool, budget int64) *lattice[M] {
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

// search mines the universe. order lists its bits in the order in which patterns are extended. If
// there is a root, all patterns start with it.
func (l *lattice[M]) search(ctx context.Context, c cores, order []int) error {
	l.cores = c.at("searching patterns")
	var first []node[M]
	var none, later M
	for _, b := range slices.Backward(order) {
		if tail := and(l.u.pairs[b], later); !empty(tail) && (l.u.root < 0 || l.u.root == b) {
			first = append(first, node[M]{head: with(none, b), tail: tail, last: b, depth: 1, parent: &l.root})
		}
		later = with(later, b)
	}
	if l.tasks == nil {
		for _, n := range slices.Backward(first) {
			if err := l.visit(ctx, 0, n); err != nil {
				return err
			}
		}
		return nil
	}
	// The stack is last in, first out: the feature that is first in order is visited first.
	for _, n := range first {
		l.tasks.push(func(w int) error { return l.visit(ctx, w, n) })
	}
	return l.tasks.run(ctx, c)
}

// node is a set head whose feature last was added to the parent's head.
type node[M words] struct {
	head, tail M
	last       int
	depth      int
	parent     *table[M]
	own        []int64 // participating points of head, by bit
}

func (w *latticeWorker[M]) level(depth int) *latticeLevel[M] {
	for len(w.levels) <= depth {
		w.levels = append(w.levels, &latticeLevel[M]{})
	}
	return w.levels[depth]
}

// visit evaluates a node and the branch below it.
func (l *lattice[M]) visit(ctx context.Context, w int, n node[M]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.store.failure(); err != nil {
		return err
	}
	if n := l.nodes.Add(1); n&255 == 0 {
		l.cores.tell(n, 0)
	}
	whole := or(n.head, n.tail)
	if !l.all && l.store.holds(l.features(whole)) {
		return nil
	}
	wk := l.work[w]
	lv := wk.level(n.depth)
	if err := l.count(ctx, wk, lv, n); err != nil {
		return err
	}
	if !l.all && l.prevalentAll(whole, lv.full) {
		l.keep(whole, lv.full)
		return nil
	}
	l.extensions(wk, lv, n)
	if l.all {
		for _, e := range lv.exts {
			l.keep(with(n.head, e.bit), l.grown(lv, n.head, e.bit))
		}
	}
	switch {
	case len(lv.exts) == 0:
		if n.depth > 1 && !l.all {
			l.keep(n.head, n.own)
		}
		return nil
	case len(lv.exts) == 1:
		if !l.all {
			l.keep(with(n.head, lv.exts[0].bit), l.grown(lv, n.head, lv.exts[0].bit))
		}
		return nil
	}
	return l.descend(ctx, w, lv, n)
}

// descend builds the table of a node and visits its children.
func (l *lattice[M]) descend(ctx context.Context, w int, lv *latticeLevel[M], n node[M]) error {
	var tail M
	for _, e := range lv.exts {
		tail = with(tail, e.bit)
	}
	whole := or(n.head, tail)
	if !l.all && l.store.holds(l.features(whole)) {
		return nil
	}
	shared := l.tasks != nil && n.depth <= sharedDepth
	t := &lv.table
	if shared {
		t = &table[M]{}
	}
	n.tail = tail
	l.project(l.work[w], lv, n, t)
	if !l.all && l.prevalentAll(whole, lv.full) {
		l.keep(whole, lv.full)
		return nil
	}
	var later M
	children := make([]node[M], len(lv.exts))
	for i, e := range slices.Backward(lv.exts) {
		children[i] = node[M]{
			head: with(n.head, e.bit), tail: and(later, l.u.pairs[e.bit]), last: e.bit,
			depth: n.depth + 1, parent: t, own: l.grown(lv, n.head, e.bit),
		}
		later = with(later, e.bit)
	}
	if shared {
		for _, c := range slices.Backward(children) {
			l.tasks.push(func(w int) error { return l.child(ctx, w, c) })
		}
		return nil
	}
	for _, c := range children {
		if err := l.child(ctx, w, c); err != nil {
			return err
		}
	}
	return nil
}

func (l *lattice[M]) child(ctx context.Context, w int, c node[M]) error {
	if !empty(c.tail) {
		return l.visit(ctx, w, c)
	}
	if !l.all && !l.store.holds(l.features(c.head)) {
		l.keep(c.head, c.own)
	}
	return nil
}

// extensions finds the prevalent extensions. The rarest comes first, since its branch ends soonest.
func (l *lattice[M]) extensions(wk *latticeWorker[M], lv *latticeLevel[M], n node[M]) {
	width := len(l.u.features)
	heads := members(n.head, wk.heads)
	wk.heads = heads
	diagonal := lv.counts[len(heads)*width:]
	lv.exts = lv.exts[:0]
	wk.bits = members(n.tail, wk.bits)
tail:
	for _, g := range wk.bits {
		if diagonal[g] < l.u.need[g] {
			continue
		}
		index := float64(diagonal[g]) / float64(l.u.g.total[l.u.features[g]])
		for r, f := range heads {
			c := lv.counts[r*width+g]
			if c < l.u.need[f] {
				continue tail
			}
			index = min(index, float64(c)/float64(l.u.g.total[l.u.features[f]]))
		}
		lv.exts = append(lv.exts, extension{g, index})
	}
	slices.SortFunc(lv.exts, func(a, b extension) int {
		if c := cmp.Compare(a.index, b.index); c != 0 {
			return c
		}
		return a.bit - b.bit
	})
}

// grown returns the participating points of head + g.
func (l *lattice[M]) grown(lv *latticeLevel[M], head M, g int) []int64 {
	width := len(l.u.features)
	own := make([]int64, width)
	heads := members(head, nil)
	for r, f := range heads {
		own[f] = lv.counts[r*width+g]
	}
	own[g] = lv.counts[len(heads)*width+g]
	return own
}

// count fills counts and full. The row of a feature of head has, for each feature g of tail, its
// points that take part in head + g. The last row has the points of g itself. full has the points
// of each feature that take part in head + tail.
func (l *lattice[M]) count(ctx context.Context, wk *latticeWorker[M], lv *latticeLevel[M], n node[M]) error {
	width := len(l.u.features)
	wk.bits = members(n.head, wk.bits)
	rows := len(wk.bits)
	for r, f := range wk.bits {
		wk.row[f] = int16(r)
	}
	lv.counts = slices.Grow(lv.counts[:0], (rows+1)*width)[:(rows+1)*width]
	lv.full = slices.Grow(lv.full[:0], width)[:width]
	counts, full := lv.counts, lv.full
	clear(counts)
	clear(full)
	diagonal := counts[rows*width:]

	t, g, tail := n.parent, n.last, n.tail
	keep := or(n.head, tail)
	wk.bits = members(keep, wk.bits)
	for _, f := range wk.bits {
		var must M // what a set must have to contain head
		if f != g {
			must = with(must, g)
		}
		if has(n.head, f) {
			full[f] = countHead(&t.groups[f], must, tail, counts[int(wk.row[f])*width:][:width])
		} else {
			diagonal[f], full[f] = countTail(&t.groups[f], must, tail)
		}
	}
	lv.hard = lv.hard[:0]
	for _, h := range t.hard {
		if !has(h.may, g) {
			continue
		}
		h.may = and(h.may, tail)
		if !empty(h.may) && overlap(l.u.mask[h.place], keep) {
			if err := ctx.Err(); err != nil { // witness search may take long
				return err
			}
			l.countHard(wk, &h, n.head, tail, counts, full)
			lv.hard = append(lv.hard, h)
		}
	}
	return nil
}

// countHard evaluates a hard place by witness search, and restricts the features that may still
// extend head there to those that did.
func (l *lattice[M]) countHard(wk *latticeWorker[M], h *hardPlace[M], head, tail M, counts, full []int64) {
	width := len(l.u.features)
	g := l.u.g
	whole := false
	if l.witnessed(wk, h.place, or(head, h.may)) {
		whole = h.may == tail
	} else {
		var can M
		wk.bits = members(h.may, wk.bits)
		for _, b := range wk.bits {
			if l.witnessed(wk, h.place, with(head, b)) {
				can = with(can, b)
			}
		}
		h.may = can
	}
	wk.bits = members(h.may, wk.bits)
	for k := g.first[h.place]; k < g.first[h.place+1]; k++ {
		f := int(l.u.bit[g.feat[k]])
		if f < 0 {
			continue
		}
		w := int64(g.weight[k])
		switch {
		case has(head, f):
			row := counts[int(wk.row[f])*width:]
			for _, b := range wk.bits {
				row[b] += w
			}
		case has(h.may, f):
			counts[len(counts)-width+f] += w
		default:
			continue
		}
		if whole {
			full[f] += w
		}
	}
}

// witnessed reports whether a clique through the place covers the set. It remembers the features of
// the cliques that it finds.
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

// project makes a node's table from its parent's. It computes full again, because tail is narrower
// than it was in count.
func (l *lattice[M]) project(wk *latticeWorker[M], lv *latticeLevel[M], n node[M], out *table[M]) {
	out.reset(len(l.u.features))
	clear(lv.full)
	t, g, tail := n.parent, n.last, n.tail
	keep := or(n.head, tail)
	wk.bits = members(keep, wk.bits)
	for _, f := range wk.bits {
		var must M
		if f != g {
			must = with(must, g)
		}
		lv.full[f] = projectGroup(&wk.merge, &t.groups[f], must, tail, &out.groups[f])
	}
	for _, h := range lv.hard {
		h.may = and(h.may, tail)
		if empty(h.may) || !overlap(l.u.mask[h.place], keep) {
			continue
		}
		out.hard = append(out.hard, h)
		if h.may == tail && l.witnessed(wk, h.place, keep) {
			for e := l.u.g.first[h.place]; e < l.u.g.first[h.place+1]; e++ {
				if f := int(l.u.bit[l.u.g.feat[e]]); f >= 0 && has(keep, f) {
					lv.full[f] += int64(l.u.g.weight[e])
				}
			}
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

// features returns the features of a set in ascending order.
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
