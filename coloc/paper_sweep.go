package coloc

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"
)

// pairEmitter receives a pair of neighbouring points of different features,
// the one of the lower feature first. Calls of one worker do not overlap.
type pairEmitter func(worker int, a, b int32) error

// sweepPairs finds all neighbouring pairs of points as the thesis does. It sorts the points along x
// and compares each with the following ones, until these are too far away in x alone. Pairs of
// nearest neighbours come from the neighbour graph instead.
func (j *job) sweepPairs(ctx context.Context, pts *Points, emit pairEmitter) error {
	if j.KNN > 0 {
		return j.graphPairs(ctx, pts, emit)
	}
	n := pts.Len()
	x, y, z := positions(pts, j.Geographic, j.cores)
	limit := j.Distance * j.Distance
	if j.Geographic {
		limit = chordLimit(j.Distance)
	}
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := cmp.Compare(x[a], x[b]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	const chunk = 256
	return j.cores.at("finding neighbours").each(ctx, (n+chunk-1)/chunk, func(w, c int) error {
		for s := c * chunk; s < min(n, (c+1)*chunk); s++ {
			p := order[s]
			for _, q := range order[s+1:] {
				dx := x[q] - x[p]
				dx2 := float64(dx * dx)
				if dx2 > limit {
					break
				}
				if pts.Feature[p] == pts.Feature[q] {
					continue
				}
				dy := y[q] - y[p]
				d2 := dx2 + float64(dy*dy)
				if z != nil {
					dz := z[q] - z[p]
					d2 += float64(dz * dz)
				}
				if d2 > limit || j.Within > 0 && !near(pts.Time[p], pts.Time[q], j.Within) {
					continue
				}
				a, b := p, q
				if pts.Feature[a] > pts.Feature[b] {
					a, b = b, a
				}
				if err := emit(w, a, b); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// graphPairs expands the neighbour graph of places to pairs of points.
func (j *job) graphPairs(ctx context.Context, pts *Points, emit pairEmitter) error {
	g, err := j.join(ctx, pts)
	if err != nil {
		return err
	}
	return j.cores.each(ctx, g.len(), func(w, item int) error {
		i := int32(item)
		list, _ := g.of(i, nil)
		for _, a := range g.membersOf(i) {
			for _, b := range g.membersOf(i) {
				if pts.Feature[a] < pts.Feature[b] {
					if err := emit(w, a, b); err != nil {
						return err
					}
				}
			}
			for _, k := range list {
				for _, b := range g.membersOf(k) {
					if pts.Feature[a] < pts.Feature[b] {
						if err := emit(w, a, b); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	})
}

// meter counts bytes against a bound, across cores.
type meter struct {
	used  atomic.Int64
	bound int64
}

// take counts further bytes and reports whether they fit.
func (m *meter) take(bytes int64) bool {
	return m.used.Add(bytes) <= m.bound
}

func (m *meter) give(bytes int64) { m.used.Add(-bytes) }

func newMeter(bound int64) *meter {
	if bound <= 0 {
		bound = math.MaxInt64 / 2
	}
	return &meter{bound: bound}
}
