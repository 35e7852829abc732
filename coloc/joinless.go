package coloc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Joinless (Yoo and Shekhar 2006): every point has its star, the neighbours of
// later features. Level by level, candidates are sets all of whose subsets are
// prevalent; their star instances are rows of a point and one point of its star
// for each other feature; a star instance is a clique when its row without the
// first point is a known clique instance of the level before. It shares nothing
// with the other algorithms but the neighbours, so it checks them.
type joinless struct {
	*job
	pts    *Points
	total  []int64
	star   [][]int32 // by point: neighbours of later features, by feature, then number
	memory *meter
}

// rows are the clique instances of a set, each len(set) points, ascending.
type rows struct {
	width int
	cells []int32
}

func (r *rows) row(i int) []int32 { return r.cells[i*r.width : (i+1)*r.width] }
func (r *rows) len() int          { return len(r.cells) / r.width }

// starting is the range of rows whose first point is p.
func (r *rows) starting(p int32) (lo, hi int) {
	at := func(v int32) int {
		lo, hi := 0, r.len()
		for lo < hi {
			if mid := (lo + hi) / 2; r.cells[mid*r.width] < v {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo
	}
	return at(p), at(p + 1)
}

func mineJoinless(ctx context.Context, pts *Points, job *job) ([]found, error) {
	j := &joinless{job: job, pts: pts, total: pts.Totals(), star: make([][]int32, pts.Len()), memory: newMeter(job.budget)}
	if err := j.fillStars(ctx); err != nil {
		return nil, err
	}
	points := make([][]int32, len(pts.Features))
	for p, f := range pts.Feature {
		points[f] = append(points[f], int32(p))
	}
	var out []found
	level := make(map[string]*rows) // clique instances of the prevalent sets of one size
	var sets [][]int32
	for f := range pts.Features {
		set := []int32{int32(f)}
		sets = append(sets, set)
		level[setKey(set)] = &rows{1, points[f]}
	}
	for size := 2; len(sets) > 1; size++ {
		candidates := apriori(sets, level)
		tables := make([]*rows, len(candidates))
		counts := make([][]int64, len(candidates))
		err := j.crew.each(ctx, len(candidates), func(_, i int) error {
			var err error
			tables[i], counts[i], err = j.instances(candidates[i], points, level)
			return err
		})
		if err != nil {
			return nil, err
		}
		next := make(map[string]*rows)
		sets = nil
		for i, c := range candidates {
			if counts[i] == nil {
				continue
			}
			out = append(out, found{c, counts[i]})
			sets = append(sets, c)
			next[setKey(c)] = tables[i]
		}
		if size > 2 {
			for _, r := range level {
				j.memory.give(4 * int64(len(r.cells)))
			}
		}
		level = next
	}
	return out, nil
}

func (j *joinless) fillStars(ctx context.Context) error {
	one := *j.job
	one.crew.workers = 1 // stars of one point come from several chunks of the sweep
	err := one.sweepPairs(ctx, j.pts, func(_ int, a, b int32) error {
		j.star[a] = append(j.star[a], b)
		if !j.memory.take(8) {
			return fmt.Errorf("joinless: the stars (patterns of size 2) need more than the memory bound: raise --memory, take a smaller --distance or --algorithm auto")
		}
		return nil
	})
	for _, star := range j.star {
		slices.SortFunc(star, func(a, b int32) int {
			if c := cmp.Compare(j.pts.Feature[a], j.pts.Feature[b]); c != 0 {
				return c
			}
			return cmp.Compare(a, b)
		})
	}
	return err
}

// apriori joins sets that differ in their last feature and keeps those whose
// subsets are all there. sets are in ascending order.
func apriori(sets [][]int32, known map[string]*rows) [][]int32 {
	var out [][]int32
	for i, a := range sets {
		last := len(a) - 1
		for _, b := range sets[i+1:] {
			if !slices.Equal(a[:last], b[:last]) {
				break
			}
			c := append(slices.Clone(a), b[last])
			ok := true
			for drop := 0; ok && drop < len(c); drop++ {
				_, ok = known[setKey(slices.Delete(slices.Clone(c), drop, drop+1))]
			}
			if ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// instances lists the clique instances of c and counts its points; no counts
// when c is not prevalent.
func (j *joinless) instances(c []int32, points [][]int32, level map[string]*rows) (*rows, []int64, error) {
	rest := level[setKey(c[1:])]
	out := &rows{width: len(c)}
	for _, p := range points[c[0]] {
		star := j.star[p]
		lo, _ := slices.BinarySearchFunc(star, c[1], func(q, f int32) int { return cmp.Compare(j.pts.Feature[q], f) })
		for _, q := range star[lo:] {
			if j.pts.Feature[q] != c[1] {
				break
			}
			from, to := rest.starting(q)
		rows:
			for i := from; i < to; i++ {
				row := rest.row(i)
				for _, r := range row[1:] {
					if !j.inStar(p, r) {
						continue rows
					}
				}
				out.cells = append(append(out.cells, p), row...)
				if !j.memory.take(4 * int64(len(c))) {
					return nil, nil, fmt.Errorf("joinless: the instances of a pattern of size %d (%s) need more than the memory bound: use --algorithm auto, which lists no instances, or raise --memory or --min-prevalence", len(c), strings.Join(j.pts.Names(c), ", "))
				}
			}
		}
	}
	counts := make([]int64, len(c))
	for k, f := range c {
		distinct := make(map[int32]struct{})
		for i := range out.len() {
			distinct[out.row(i)[k]] = struct{}{}
		}
		counts[k] = int64(len(distinct))
		if !prevalent(counts[k], j.total[f], j.MinPrevalence) {
			j.memory.give(4 * int64(len(out.cells)))
			return nil, nil, nil
		}
	}
	return out, counts, nil
}

func (j *joinless) inStar(p, q int32) bool {
	_, ok := slices.BinarySearchFunc(j.star[p], q, func(a, b int32) int {
		if c := cmp.Compare(j.pts.Feature[a], j.pts.Feature[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return ok
}
