package coloc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

// Significance tests each pattern against random relabelling: the features are
// dealt out anew over all points, as many points of each as before, and the
// pattern's index is compared with the one observed. The p-value is the share
// of relabellings, the observed one included, that reach the observed index:
// (1 + hits) / (1 + rounds). The neighbours are found once. Round r draws from
// its own source, seeded by (seed, r): the same on any number of cores.
func (s *Survey) Significance(ctx context.Context, patterns []Pattern, rounds int, seed uint64) ([]float64, error) {
	if rounds < 1 {
		return nil, fmt.Errorf("%d relabellings: want at least 1", rounds)
	}
	g, err := s.graph(ctx)
	if err != nil {
		return nil, err
	}
	var features []int32
	for _, p := range patterns {
		features = append(features, p.Features...)
	}
	slices.Sort(features)
	features = slices.Compact(features)
	hits := make([]atomic.Int64, len(patterns))
	switch n := len(features); {
	case n <= 64:
		err = relabel[[1]uint64](ctx, s, g, patterns, features, rounds, seed, hits)
	case n <= 256:
		err = relabel[[4]uint64](ctx, s, g, patterns, features, rounds, seed, hits)
	case n <= 4096:
		err = relabel[[64]uint64](ctx, s, g, patterns, features, rounds, seed, hits)
	default:
		err = fmt.Errorf("testing patterns of %d features: want at most 4096", n)
	}
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(patterns))
	for i := range hits {
		out[i] = float64(1+hits[i].Load()) / float64(1+rounds)
	}
	return out, nil
}

func relabel[M words](ctx context.Context, s *Survey, g *neighbours, patterns []Pattern, features []int32, rounds int, seed uint64, hits []atomic.Int64) error {
	bit := make([]int16, len(g.total))
	for f := range bit {
		bit[f] = -1
	}
	for b, f := range features {
		bit[f] = int16(b)
	}
	workers := make([]*relabeller[M], s.job.crew.workers)
	return s.job.crew.at("relabelling").each(ctx, rounds, func(w, round int) error {
		if workers[w] == nil {
			r := &relabeller[M]{g: g, bit: bit, label: make([]int32, s.pts.Len()), mask: make([]M, g.len()), state: make([]int8, g.len())}
			r.find = searcher[M]{g: g, mask: r.mask}
			workers[w] = r
		}
		r := workers[w]
		r.deal(s.pts, rand.New(rand.NewPCG(seed, uint64(round))))
		for i, p := range patterns {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.reaches(p.Features, p.Index) {
				hits[i].Add(1)
			}
		}
		return nil
	})
}

// relabeller is one core's relabelled points.
type relabeller[M words] struct {
	g     *neighbours
	bit   []int16
	label []int32
	mask  []M
	state []int8 // of a place in the pattern at hand: 1 takes part, -1 does not
	find  searcher[M]
}

// deal shuffles the features over the points.
func (r *relabeller[M]) deal(pts *Points, source *rand.Rand) {
	copy(r.label, pts.Feature)
	source.Shuffle(len(r.label), func(i, j int) { r.label[i], r.label[j] = r.label[j], r.label[i] })
	for i := range r.mask {
		var m M
		for _, p := range r.g.membersOf(int32(i)) {
			if b := r.bit[r.label[p]]; b >= 0 {
				m = with(m, int(b))
			}
		}
		r.mask[i] = m
	}
}

// reaches tells whether the set's index is at least the given one. It stops as
// soon as that is decided: a feature has lost too many points, or all have
// enough.
func (r *relabeller[M]) reaches(set []int32, index float64) bool {
	var want M
	need := make(map[int32]int64, len(set))  // points that must still take part
	spare := make(map[int32]int64, len(set)) // points that may still fail
	for _, f := range set {
		want = with(want, int(r.bit[f]))
		need[f] = leastCount(r.g.total[f], index)
		spare[f] = r.g.total[f] - need[f]
	}
	open := len(set)
	clear(r.state)
	settle := func(place int32, takesPart bool) (lost bool) {
		for _, p := range r.g.membersOf(place) {
			f := r.label[p]
			if b := r.bit[f]; b < 0 || !has(want, int(b)) {
				continue
			}
			if !takesPart {
				if spare[f]--; spare[f] < 0 {
					lost = true
				}
			} else if need[f]--; need[f] == 0 {
				open--
			}
		}
		return lost
	}
	for i := range r.mask {
		if !overlap(r.mask[i], want) || r.state[i] != 0 {
			continue
		}
		place := int32(i)
		if !r.find.find(place, want) {
			if r.state[i] = -1; settle(place, false) {
				return false
			}
			continue
		}
		r.state[i] = 1
		settle(place, true)
		for _, j := range r.find.clique {
			if r.state[j] == 0 {
				r.state[j] = 1
				settle(j, true)
			}
		}
		if open == 0 {
			return true
		}
	}
	return open == 0
}
