package coloc

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Survey is a set of points with their neighbours. It mines patterns and answers further questions
// about them. The neighbours are found once, when they are first needed. Only one goroutine at a
// time may use a Survey.
type Survey struct {
	pts *Points
	job *job
	g   *neighbours
}

// NewSurvey checks the points and options.
func NewSurvey(pts *Points, opt Options) (*Survey, error) {
	j, err := newJob(pts, opt)
	if err != nil {
		return nil, err
	}
	return &Survey{pts: pts, job: j}, nil
}

// join returns the neighbour graph, which it builds on the first call.
func (s *Survey) join(ctx context.Context) (*neighbours, error) {
	if s.g == nil {
		g, err := s.job.join(ctx, s.pts)
		if err != nil {
			return nil, fmt.Errorf("find neighbours: %w", err)
		}
		s.g = g
	}
	return s.g, nil
}

// graph returns the neighbour graph with lists of neighbours, if these fit the memory bound.
func (s *Survey) graph(ctx context.Context) (*neighbours, error) {
	g, err := s.join(ctx)
	if err != nil {
		return nil, err
	}
	return g, g.list(ctx, s.job.cores, s.job.budget/4)
}

// Best returns up to n patterns, ranked for display: longest first, then by descending index, then
// by names.
func (r *Result) Best(n int) []Pattern {
	best := slices.Clone(r.Patterns)
	slices.SortStableFunc(best, func(a, b Pattern) int {
		if c := cmp.Compare(len(b.Features), len(a.Features)); c != 0 {
			return c
		}
		return cmp.Compare(b.Index, a.Index)
	})
	return best[:min(n, len(best))]
}

// placeOf returns the place of each of the n points.
func (p *places) placeOf(n int) []int32 {
	out := make([]int32, n)
	for i := range int32(p.len()) {
		for _, m := range p.membersOf(i) {
			out[m] = i
		}
	}
	return out
}

// membersOf returns the points of a place, by their numbers in the input.
func (p *places) membersOf(place int32) []int32 {
	from := int32(0)
	if k := p.first[place]; k > 0 {
		from = p.memberEnd[k-1]
	}
	return p.members[from:p.memberEnd[p.first[place+1]-1]]
}

// showing has the places that take part in a pattern, and cliques that prove it: every such place
// is in at least one of them.
type showing struct {
	part    []bool
	cliques [][]int32
}

// show finds the places that take part in a pattern.
func (s *Survey) show(ctx context.Context, p Pattern) (*showing, error) {
	g, err := s.graph(ctx)
	if err != nil {
		return nil, err
	}
	switch n := len(p.Features); {
	case n <= 64:
		return showPattern[[1]uint64](ctx, g, p.Features)
	case n <= 256:
		return showPattern[[4]uint64](ctx, g, p.Features)
	case n <= 4096:
		return showPattern[[64]uint64](ctx, g, p.Features)
	default:
		return nil, fmt.Errorf("a pattern of %d features is too large to show: want at most 4096", n)
	}
}

func showPattern[M words](ctx context.Context, g *neighbours, features []int32) (*showing, error) {
	mask := make([]M, g.len())
	bit := make(map[int32]int, len(features))
	var want M
	for b, f := range features {
		bit[f] = b
		want = with(want, b)
	}
	for i := range mask {
		for _, f := range g.feat[g.first[i]:g.first[i+1]] {
			if b, ok := bit[f]; ok {
				mask[i] = with(mask[i], b)
			}
		}
	}
	out := &showing{part: make([]bool, g.len())}
	find := searcher[M]{g: g, mask: mask}
	for i := range mask {
		if i&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if empty(mask[i]) || out.part[i] || !find.find(int32(i), want) {
			continue
		}
		clique := append([]int32{int32(i)}, find.clique...)
		for _, j := range clique {
			out.part[j] = true
		}
		out.cliques = append(out.cliques, clique)
	}
	return out, nil
}
