package coloc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
)

// Class is a group of points of one feature that have the same profile: the maximal sets of
// features of the cliques through each of them. The classes of all points determine which points
// take part in a pattern, and so its index. So a map can be cut into tiles: each tile classifies
// its own points and needs those of other tiles only if they may be neighbours.
type Class struct {
	Feature int32 // feature of the points, an index into Points.Features
	// Sets is the profile. Each set is in ascending order and contains Feature, and none is a
	// subset of another. It is empty if the points have no neighbours.
	Sets   [][]int32
	Points int64 // number of points in the group
}

// tileSteps bounds the steps of the search for the cliques of a place. It is only a guard: with
// uniform points, the search takes some tens of steps.
const tileSteps = 1 << 22

// Tile calls fn with the classes of the points of tile i of n, in any order; a class may come
// several times. Tiles are bands of y, or latitude, with about the same number of points each. All
// calls must get all points, so that tiles number features alike and agree on the borders.
func Tile(ctx context.Context, pts *Points, opt Options, i, n int, fn func(*Class) error) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if n < 1 || i < 0 || i >= n {
		return fmt.Errorf("tile %d of %d: want 0 to %d", i, n, n-1)
	}
	if opt.KNN > 0 || opt.Within > 0 {
		return errors.New("tiles support neighbours by distance only: mine with nearest neighbours or times on one machine")
	}
	if len(pts.Features) > 4096 {
		return fmt.Errorf("%d features: tiles support at most 4096", len(pts.Features))
	}
	opt.Engine, opt.Also = engine.Multicore, nil
	whole, err := newJob(pts, opt) // checks the points
	if err != nil {
		return err
	}
	from, to := band(pts.Y, i, n)
	halo := whole.Distance
	if whole.Geographic {
		halo = whole.Distance / earthRadius * 180 / math.Pi
	}
	halo += math.Abs(halo)*1e-9 + 1e-9
	near := pts.Where(func(k int) bool { return pts.Y[k] >= from-halo && pts.Y[k] <= to+halo })
	switch f := len(near.Features); {
	case f <= 64:
		return tile[[1]uint64](ctx, pts, near, opt, from, to, i == n-1, fn)
	case f <= 256:
		return tile[[4]uint64](ctx, pts, near, opt, from, to, i == n-1, fn)
	default:
		return tile[[64]uint64](ctx, pts, near, opt, from, to, i == n-1, fn)
	}
}

// band returns the range of y of a tile. Its end belongs to the next tile, if there is one.
func band(y []float64, i, n int) (from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	if i > 0 && len(y) > 0 {
		from = sorted[len(y)*i/n]
	}
	if i < n-1 && len(y) > 0 {
		to = sorted[len(y)*(i+1)/n]
	}
	return from, to
}

func tile[M words](ctx context.Context, pts, near *Points, opt Options, from, to float64, last bool,
	fn func(*Class) error) error {
	j, err := newJob(near, opt)
	if err != nil {
		return err
	}
	g, err := j.join(ctx, near)
	if err != nil {
		return err
	}
	if err := g.list(ctx, j.cores, j.budget/4); err != nil {
		return err
	}
	names := make([]int32, len(near.Features)) // number of each feature in pts
	all := make([]int32, len(names))
	for f, name := range near.Features {
		at, _ := slices.BinarySearch(pts.Features, name)
		names[f], all[f] = int32(at), int32(f)
	}
	fg := &featureGraph{adj: make([][]int32, len(names))}
	for f := range fg.adj {
		fg.adj[f] = slices.Concat(all[:f], all[f+1:])
	}
	u := newUniverse[M](g, fg, all, -1, 1, j.cores)
	p := &profiler[M]{u: u, limit: tileSteps}
	var narrowed []M
	for place := range int32(g.len()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if y := near.Y[g.membersOf(place)[0]]; y < from || !last && y >= to {
			continue
		}
		sets, ok := p.profile(place)
		if !ok {
			return errors.New("a place has too many neighbours that are not neighbours of each other: lower coloc.Options.Distance, or mine on one machine")
		}
		for k := g.first[place]; k < g.first[place+1]; k++ {
			c := Class{Feature: names[g.feat[k]], Points: int64(g.weight[k])}
			narrowed = narrowed[:0]
			for _, s := range sets {
				if has(s, int(g.feat[k])) && size(s) >= 2 {
					narrowed = addSet(narrowed, 0, s)
				}
			}
			sortSets(narrowed)
			for _, s := range narrowed {
				set := make([]int32, 0, size(s))
				for _, b := range members(s, nil) {
					set = append(set, names[b])
				}
				c.Sets = append(c.Sets, set)
			}
			if err := fn(&c); err != nil {
				return err
			}
		}
	}
	return nil
}

// MineClasses finds patterns from the classes of all points, which Tile computes. The features must
// be in ascending order. The result is that of Mine, without Places and Pairs. Distance and KNN are
// not needed, since the classes say which points are neighbours.
func MineClasses(ctx context.Context, features []string, classes []Class, opt Options) (*Result, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	pts := &Points{Features: features}
	opt.Distance, opt.KNN = 1, 0 // not used
	s, err := NewSurvey(pts, opt)
	if err != nil {
		return nil, err
	}
	j := s.job
	j.engine, j.cores.workers = engine.Multicore, max(1, j.cores.workers)
	total := make([]int64, len(features))
	counts := newPairCounts(len(features))
	for i := range classes {
		c := &classes[i]
		if err := c.check(len(features)); err != nil {
			return nil, err
		}
		total[c.Feature] += c.Points
		seen := map[int32]bool{c.Feature: true}
		for _, f := range slices.Concat(c.Sets...) {
			if !seen[f] {
				seen[f] = true
				counts.add(c.Feature, f, c.Points)
			}
		}
	}
	j.total = total
	return s.conclude(&Result{Totals: total, Places: -1, Pairs: -1, Engine: j.engine},
		func() ([]found, error) { return mineClasses(ctx, counts, classes, j) })
}

// check returns an error if the class is not valid for the given number of features.
func (c *Class) check(features int) error {
	if uint(c.Feature) >= uint(features) || c.Points < 1 {
		return fmt.Errorf("class of %d points of feature %d: want at least 1 point and a feature below %d",
			c.Points, c.Feature, features)
	}
	for _, set := range c.Sets {
		own := false
		for i, f := range set {
			if uint(f) >= uint(features) || i > 0 && f <= set[i-1] {
				return fmt.Errorf("class of feature %d: set %v: want ascending features below %d", c.Feature, set, features)
			}
			own = own || f == c.Feature
		}
		if !own || len(set) < 2 {
			return fmt.Errorf("class of feature %d: set %v: want the feature and at least one more", c.Feature, set)
		}
	}
	return nil
}

// mineClasses is the part of mineAuto that follows the computation of profiles.
func mineClasses(ctx context.Context, counts *pairCounts, classes []Class, j *job) ([]found, error) {
	fg := newFeatureGraph(counts, j.total, j.MinPrevalence)
	s := newStore(j.budget / 4)
	if !fg.hasTriangle() {
		fg.addPairs(s)
		return s.patterns, s.failure()
	}
	order, _ := fg.order()
	var err error
	if len(order) <= oneUniverse {
		err = searchClasses(ctx, fg, s, classes, j, order, -1)
	} else {
		err = eachUniverse(fg, s, j.All, order, func(universe []int32, f int32) error {
			return searchClasses(ctx, fg, s, classes, j, universe, f)
		})
	}
	return s.patterns, errors.Join(err, s.failure())
}

func searchClasses(ctx context.Context, fg *featureGraph, s *store, classes []Class, j *job,
	universe []int32, root int32) error {
	switch n := len(universe); {
	case n <= 64:
		return searchUniverse[[1]uint64](ctx, fg, s, classes, j, universe, root)
	case n <= 256:
		return searchUniverse[[4]uint64](ctx, fg, s, classes, j, universe, root)
	case n <= 4096:
		return searchUniverse[[64]uint64](ctx, fg, s, classes, j, universe, root)
	default:
		return fmt.Errorf("one feature is in prevalent pairs with %d others, more than 4095: raise coloc.Options.MinPrevalence or merge features", n-1)
	}
}

func searchUniverse[M words](ctx context.Context, fg *featureGraph, s *store, classes []Class, j *job,
	order []int32, root int32) error {
	features := slices.Clone(order)
	slices.Sort(features)
	nowhere := &neighbours{places: &places{total: j.total}}
	u := newUniverse[M](nowhere, fg, features, root, j.MinPrevalence, j.cores)
	l := newLattice(u, s, j.cores, j.All, j.budget/4)
	l.root.reset(len(features))
	var sets []M
	for i := range classes {
		c := &classes[i]
		b := u.bit[c.Feature]
		if b < 0 {
			continue
		}
		around := with(u.pairs[b], int(b))
		sets = sets[:0]
		for _, set := range c.Sets {
			var m M
			for _, f := range set {
				if bit := u.bit[f]; bit >= 0 && has(around, int(bit)) {
					m = with(m, int(bit))
				}
			}
			if size(m) >= 2 && (u.root < 0 || has(m, u.root)) {
				sets = addSet(sets, 0, m)
			}
		}
		for left := c.Points; left > 0 && len(sets) > 0; left -= math.MaxInt32 {
			l.root.groups[b].add(sets, int32(min(left, math.MaxInt32)))
		}
	}
	bits := make([]int, len(order))
	for i, f := range order {
		bits[i] = int(u.bit[f])
	}
	return l.search(ctx, j.cores, bits)
}
