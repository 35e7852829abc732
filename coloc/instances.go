package coloc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// walker lists cliques with one item per feature, in ascending order of items, features in the
// given order. An item is a point, or a feature entry of a place that represents all of its points.
// After every choice the lists of the remaining features are restricted to its neighbours; a choice
// that empties one is abandoned at once.
type walker struct {
	g        *neighbours
	features []int32
	place    func(item int32) int32
	items    func(place, feature int32, out []int32) []int32
	lists    [][][]int32 // level, feature
	buf      []int32
	chosen   []int32
	steps    int64 // remaining; below zero the search is abandoned
	ctx      context.Context
}

var errTooManySteps = errors.New("too many instances")

// from visits all cliques that start with the item; yield returns false to stop.
func (w *walker) from(item int32, yield func(clique []int32) bool) (bool, error) {
	n := len(w.features)
	for len(w.lists) < n {
		w.lists = append(w.lists, make([][]int32, n))
	}
	at := w.place(item)
	var list []int32
	list, w.buf = w.g.of(at, w.buf)
	for k := 1; k < n; k++ {
		out := w.items(at, w.features[k], w.lists[0][k][:0])
		for _, j := range list {
			out = w.items(j, w.features[k], out)
		}
		slices.Sort(out)
		w.lists[0][k] = out
		if len(out) == 0 {
			return true, nil
		}
	}
	w.chosen = append(w.chosen[:0], item)
	return w.walk(1, yield)
}

func (w *walker) walk(level int, yield func([]int32) bool) (bool, error) {
	if level == len(w.features) {
		return yield(w.chosen), nil
	}
choices:
	for _, item := range w.lists[level-1][level] {
		if w.steps--; w.steps < 0 {
			return false, errTooManySteps
		}
		if w.steps&0xffff == 0 && w.ctx.Err() != nil {
			return false, w.ctx.Err()
		}
		at := w.place(item)
		for k := level + 1; k < len(w.features); k++ {
			out := w.lists[level][k][:0]
			for _, other := range w.lists[level-1][k] {
				if p := w.place(other); p == at || w.g.adjacent(p, at) {
					out = append(out, other)
				}
			}
			w.lists[level][k] = out
			if len(out) == 0 {
				continue choices
			}
		}
		w.chosen = append(w.chosen[:level], item)
		if more, err := w.walk(level+1, yield); !more || err != nil {
			return more, err
		}
	}
	return true, nil
}

// instanceSteps bounds a search to some seconds.
const instanceSteps = 100_000_000

// Instances returns the first n instances of a pattern, ordered by the number of the first
// feature's point in the input, then of the second's, and so on. Each instance has one point for
// each feature of the pattern, in its order.
func (s *Survey) Instances(ctx context.Context, p Pattern, n int) ([][]int32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, err
	}
	placeOf := g.placeOf(s.pts.Len())
	w := walker{
		g: g, features: p.Features, steps: instanceSteps, ctx: ctx,
		place: func(item int32) int32 { return placeOf[item] },
		items: func(place, f int32, out []int32) []int32 {
			if k, ok := g.entry(place, f); ok {
				out = append(out, g.pointsOf(k)...)
			}
			return out
		},
	}
	var out [][]int32
	for i, f := range s.pts.Feature {
		if f != p.Features[0] {
			continue
		}
		if len(out) >= n {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := w.from(int32(i), func(c []int32) bool {
			out = append(out, slices.Clone(c))
			return len(out) < n
		})
		if err != nil {
			return nil, fmt.Errorf("list instances of a pattern of size %d (%s): %w",
				len(p.Features), strings.Join(s.pts.Names(p.Features), ", "), err)
		}
	}
	return out, nil
}

// entry returns the entry of a feature at a place.
func (p *places) entry(place, feature int32) (int32, bool) {
	lo, hi := p.first[place], p.first[place+1]
	k, ok := slices.BinarySearch(p.feat[lo:hi], feature)
	return lo + int32(k), ok
}
