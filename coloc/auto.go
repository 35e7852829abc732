package coloc

import (
	"context"
	"fmt"
	"slices"
)

// evaluation says how places are evaluated: by profile where a profile takes at most the given
// number of steps, by witness search elsewhere. 0 means witness search only.
type evaluation struct {
	steps     int
	byFeature bool         // one universe per feature, however few there are
	stream    bool         // keep no neighbour lists
	room      *latticeRoom // on a GPU
	entries   int64        // of neighbour lists in memory at a time on a GPU
}

// profileSteps is the largest number of steps for a profile. A step is a node of the clique search
// and costs 0.11 µs, including its share of comparing the candidates (200,000 uniform points, 20
// features, distance 6: 41 steps per place). The limit guards against places with very long
// profiles and is not tuned: none of the real data sets in the tests reaches it.
const profileSteps = 4096

// oneUniverse is the number of features up to which all are searched at once; more are searched
// feature by feature, each with its later neighbours.
const oneUniverse = 256

// mineAuto finds pairs in one pass over all neighbourhoods, then searches the lattice of feature
// sets by profiles and witnesses. Instances are never listed.
func mineAuto(ctx context.Context, g *neighbours, opt *job) ([]found, error) {
	counts, err := countPairs(ctx, g, opt.cores, opt.budget/4)
	if err != nil {
		return nil, err
	}
	fg := newFeatureGraph(counts, g.total, opt.MinPrevalence)
	s := newStore(opt.budget / 4)
	order, _ := fg.order()
	if fg.hasTriangle() {
		features := slices.Clone(order)
		slices.Sort(features)
		if err := fg.settlePairs(ctx, g, s, opt, features); err != nil {
			return nil, err
		}
	}
	if !fg.hasTriangle() {
		fg.addPairs(s)
		return s.patterns, s.failure()
	}
	if !opt.evaluation.stream {
		if err := g.list(ctx, opt.cores, opt.budget/4); err != nil {
			return nil, err
		}
	}
	if g.streams() {
		opt.logf("neighbour lists do not fit the memory bound; neighbours are found anew each time")
	}
	order, width := fg.order()
	opt.logf("%d features in prevalent pairs that may grow, at most %d in one pattern", len(order), width+1)
	if len(order) <= oneUniverse && !opt.evaluation.byFeature {
		err = mineWide(ctx, g, fg, s, opt, order, -1)
	} else {
		err = eachUniverse(fg, s, opt.All, order, func(universe []int32, f int32) error {
			return mineWide(ctx, g, fg, s, opt, universe, f)
		})
	}
	if err != nil {
		return nil, err
	}
	return s.patterns, s.failure()
}

// eachUniverse calls do for every feature with its later neighbours as a universe, unless a pattern
// found before contains them all.
func eachUniverse(fg *featureGraph, s *store, all bool, order []int32, do func(universe []int32, f int32) error) error {
	rank := make([]int, len(fg.adj))
	for i, f := range order {
		rank[f] = i
	}
	for i, f := range order {
		universe := []int32{f}
		for _, h := range fg.adj[f] {
			if rank[h] > i {
				universe = append(universe, h)
			}
		}
		if len(universe) == 1 || !all && s.holds(universe) {
			continue
		}
		slices.SortFunc(universe, func(a, b int32) int { return rank[a] - rank[b] })
		if err := do(universe, f); err != nil {
			return err
		}
	}
	return nil
}

// mineWide mines a universe with bit sets of the width that it needs.
func mineWide(ctx context.Context, g *neighbours, fg *featureGraph, s *store, opt *job,
	universe []int32, root int32) error {
	switch {
	case len(universe) <= 64:
		return mineUniverse[[1]uint64](ctx, g, fg, s, opt, universe, universe, root)
	case len(universe) <= 128:
		return mineUniverse[[2]uint64](ctx, g, fg, s, opt, universe, universe, root)
	case len(universe) <= 256:
		return mineUniverse[[4]uint64](ctx, g, fg, s, opt, universe, universe, root)
	case len(universe) <= 4096:
		return mineUniverse[[64]uint64](ctx, g, fg, s, opt, universe, universe, root)
	}
	return fmt.Errorf("one feature is in prevalent pairs with %d others, more than 4095: raise coloc.Options.MinPrevalence or merge features", len(universe)-1)
}

// mineUniverse mines the patterns of the features that contain root (or all, if root is -1),
// extending them in the given order.
func mineUniverse[M words](ctx context.Context, g *neighbours, fg *featureGraph, s *store, opt *job,
	features, order []int32, root int32) error {
	// The mask of a place and, if no profiles fit, its entries in two lists of hard places.
	var one M
	need := int64(g.len()) * int64(8*len(one)+2*(8+8*len(one)))
	if need > opt.budget {
		return fmt.Errorf("patterns of 3 features and more of %d places need %d MB besides the places, "+
			"more than the memory bound leaves: raise coloc.Options.Memory or coloc.Options.MinPrevalence, or lower coloc.Options.Distance",
			g.len(), need/1e6)
	}
	features = slices.Clone(features)
	slices.Sort(features)
	u := newUniverse[M](g, fg, features, root, opt.MinPrevalence, opt.cores)
	l := newLattice(u, s, opt.cores, opt.All, opt.budget/4)
	sets, hard, err := l.fillRoot(ctx, opt)
	if err != nil {
		return err
	}
	opt.logf("%d features: profiles have %d sets, %d places are evaluated by witness search", len(features), sets, hard)
	bits := make([]int, len(order))
	for i, f := range order {
		bits[i] = int(u.bit[f])
	}
	return l.search(ctx, opt.cores, bits)
}

// fillRoot profiles every place. Places that take too many steps, or whose sets do not fit in
// memory, become hard: they are evaluated by witness search.
func (l *lattice[M]) fillRoot(ctx context.Context, opt *job) (sets, hard int, err error) {
	u := l.u
	n := u.g.len()
	profilers := make([]*profiler[M], opt.cores.workers)
	parts := make([]table[M], blockCount(n))
	var one M
	setSize := int64(8 * len(one))
	perBlock := max(1, opt.budget/4/setSize/int64(len(parts)))
	err = opt.cores.at("profiling places").each(ctx, len(parts), func(w, b int) error {
		if profilers[w] == nil {
			profilers[w] = &profiler[M]{u: u, limit: opt.evaluation.steps}
		}
		p := profilers[w]
		t := &parts[b]
		t.reset(len(u.features))
		held := int64(0)
		for i := int32(b << blockShift); i < int32(min(n, (b+1)<<blockShift)); i++ {
			if err := ctx.Err(); err != nil { // dense places take long
				return err
			}
			sets, ok := p.profile(i)
			if len(sets) == 0 && ok {
				continue
			}
			if held += int64(len(sets)); !ok || held > perBlock {
				var may M
				may, p.bits = u.relevant(u.mask[i], p.bits)
				t.hard = append(t.hard, hardPlace[M]{i, may})
				continue
			}
			p.narrowed = l.addClasses(t, i, sets, p.narrowed)
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	l.root.reset(len(u.features))
	err = opt.cores.each(ctx, len(u.features), func(_, f int) error {
		l.root.groups[f].join(parts, f)
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	for i := range parts {
		l.root.hard = append(l.root.hard, parts[i].hard...)
	}
	for f := range l.root.groups {
		sets += len(l.root.groups[f].set) + len(l.root.groups[f].sets)
	}
	return sets, len(l.root.hard), nil
}

// addClasses appends one class for each feature of the place; buf is scratch.
func (l *lattice[M]) addClasses(t *table[M], place int32, sets, buf []M) []M {
	g := l.u.g
	for k := g.first[place]; k < g.first[place+1]; k++ {
		b := l.u.bit[g.feat[k]]
		if b < 0 {
			continue
		}
		around := with(l.u.pairs[b], int(b))
		buf = buf[:0]
		for _, s := range sets {
			s = and(s, around)
			if (l.u.root < 0 || has(s, l.u.root)) && size(s) >= 2 {
				buf = addSet(buf, 0, s)
			}
		}
		if len(buf) > 0 {
			t.groups[b].add(buf, g.weight[k])
		}
	}
	return buf
}
