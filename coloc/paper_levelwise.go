package coloc

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// levelwise is the common part of the algorithms before SGCT. Level by level, the candidates are
// the sets all of whose subsets are prevalent, and the clique instances of a candidate are found
// from those of the previous level. The algorithms differ in how they find them.
type levelwise struct {
	*job
	name   string // for errors
	pts    *Points
	total  []int64
	stars  *stars
	memory *meter
	seen   [][]uint32 // of each worker: point -> stamp
	stamp  []uint32

	// expand calls do with every clique instance of c; level has the instances of the sets with one
	// feature fewer, by setKey. The row is valid until do returns.
	expand func(ctx context.Context, j *levelwise, c []int32, level map[string]*rows,
		do func(row []int32)) error
}

// rows are the clique instances of a set, each with one point per feature, in ascending order.
type rows struct {
	width int
	cells []int32
}

func (r *rows) row(i int) []int32 { return r.cells[i*r.width : (i+1)*r.width] }
func (r *rows) len() int          { return len(r.cells) / r.width }

// starting returns the range of rows whose first point is p.
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

func mineLevelwise(ctx context.Context, pts *Points, job *job) ([]found, error) {
	j := &levelwise{job: job, name: job.Algorithm.String(), pts: pts, total: pts.Totals(),
		memory: newMeter(job.budget)}
	switch job.Algorithm {
	case Joinless:
		j.expand = expandStars
	case Miner:
		j.expand = expandByJoin
	case ICPITree:
		j.expand = expandTree
	}
	j.seen, j.stamp = make([][]uint32, job.cores.workers), make([]uint32, job.cores.workers)
	var err error
	if j.stars, err = newStars(ctx, pts, job, j.memory, j.name); err != nil {
		return nil, err
	}
	var out []found
	level := make(map[string]*rows) // clique instances of the prevalent sets of one size
	var sets [][]int32
	for f := range pts.Features {
		set := []int32{int32(f)}
		sets = append(sets, set)
		lo, hi := j.stars.points(int32(f))
		own := &rows{1, make([]int32, 0, hi-lo)}
		for p := lo; p < hi; p++ {
			own.cells = append(own.cells, p)
		}
		level[setKey(set)] = own
	}
	for size := 2; len(sets) > 1; size++ {
		candidates := apriori(sets, func(set []int32) bool { return level[setKey(set)] != nil })
		tables := make([]*rows, len(candidates))
		counts := make([][]int64, len(candidates))
		err := j.cores.at(fmt.Sprintf("instances of size %d", size)).each(ctx, len(candidates),
			func(w, i int) error {
				var err error
				tables[i], counts[i], err = j.instances(ctx, w, candidates[i], level)
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

// apriori joins sets that differ in their last feature and keeps those whose
// subsets are all known. sets are in ascending order.
func apriori(sets [][]int32, known func(set []int32) bool) [][]int32 {
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
				ok = known(slices.Delete(slices.Clone(c), drop, drop+1))
			}
			if ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// instances counts the points of c in its clique instances and, if c is prevalent, lists these; it
// returns no counts if it is not. The instances are found twice: first to count them, then to keep
// those of a prevalent set, for which the memory is then known.
func (j *levelwise) instances(ctx context.Context, w int, c []int32,
	level map[string]*rows) (*rows, []int64, error) {
	if j.seen[w] == nil {
		j.seen[w] = make([]uint32, j.pts.Len())
	}
	j.stamp[w]++
	seen, stamp := j.seen[w], j.stamp[w]
	counts := make([]int64, len(c))
	many := int64(0)
	count := func(row []int32) {
		many++
		for k, q := range row {
			if seen[q] != stamp {
				seen[q] = stamp
				counts[k]++
			}
		}
	}
	if err := j.expand(ctx, j, c, level, count); err != nil {
		return nil, nil, err
	}
	for k, f := range c {
		if !prevalent(counts[k], j.total[f], j.MinPrevalence) {
			return nil, nil, nil
		}
	}
	cells := many * int64(len(c))
	if !j.memory.take(4 * cells) {
		return nil, nil, fmt.Errorf("%s: the %d instances of a pattern of size %d (%s) need more "+
			"than the memory bound: use coloc.Options.Algorithm=auto, which lists no instances, or raise "+
			"coloc.Options.Memory or coloc.Options.MinPrevalence", j.name, many, len(c),
			strings.Join(j.pts.Names(c), ", "))
	}
	out := &rows{len(c), make([]int32, 0, cells)}
	err := j.expand(ctx, j, c, level, func(row []int32) { out.cells = append(out.cells, row...) })
	return out, counts, err
}
