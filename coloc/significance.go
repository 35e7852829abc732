package coloc

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/points"
)

// Adjust is how p-values of many patterns are made fit to be read together.
type Adjust string

const (
	// FDR is the false discovery rate of Benjamini and Hochberg, over all sets of
	// features of a pattern's size, whether they were found or not: those that were
	// found were chosen for their index, so it would be wrong to count them alone.
	// Sizes share the rate equally.
	FDR Adjust = "fdr"
	// MaxT is Westfall and Young's: the share of rounds in which the largest index of
	// any set of the same size reaches the pattern's, times the number of sizes. It
	// needs fewer rounds and mines every one.
	MaxT Adjust = "max"
)

// SignificanceOptions say how patterns are tested.
type SignificanceOptions struct {
	Rounds    int         // of the null; at least 1
	Null      points.Null // "": points.Shift, which keeps each feature's own clustering
	Bandwidth float64     // of points.Inhomogeneous
	Seed      uint64
	Adjust    Adjust // "": FDR
}

// Significance is a pattern's index compared with that under a null.
type Significance struct {
	Expected float64 // mean index of the rounds
	P        float64 // share of rounds, the observed one included, that reach the index
	Q        float64 // P adjusted for all that could have been found
}

// Significance tests patterns against a null under which features do not depend
// on one another. Round r is a function of the seed and r: the same on any number
// of cores.
func (s *Survey) Significance(ctx context.Context, patterns []Pattern, o SignificanceOptions) ([]Significance, error) {
	if o.Rounds < 1 {
		return nil, fmt.Errorf("%d rounds: want at least 1", o.Rounds)
	}
	if o.Null == "" {
		o.Null = points.Shift
	}
	if o.Adjust != "" && o.Adjust != FDR && o.Adjust != MaxT {
		return nil, fmt.Errorf("adjustment %q: want fdr or max", o.Adjust)
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	set := *s.pts
	if s.job.Geographic && !set.CRS.Geographic() {
		set.CRS = points.WGS84
	}
	model, err := points.NewNullModel(&set, o.Null, o.Bandwidth)
	if err != nil {
		return nil, err
	}
	sums := make([]roundSum, len(patterns))
	var mu sync.Mutex
	workers := s.job.crew.workers
	one := s.job.Options
	one.Engine, one.Threads, one.Progress, one.Device, one.Log = engine.Sequential, 1, nil, nil, nil
	one.Algorithm, one.All = Auto, false
	one.Memory = max(16e6, s.job.budget/int64(workers)-100*int64(s.pts.Len()))
	err = s.job.crew.at("null rounds").each(ctx, o.Rounds, func(_, round int) error {
		t, err := NewSurvey(model.Draw(o.Seed, round), one)
		if err != nil {
			return err
		}
		found, err := t.indices(ctx, patterns)
		if err != nil {
			return err
		}
		var largest map[int]float64 // by size
		if o.Adjust == MaxT {
			if largest, err = t.largest(ctx, patterns); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i, p := range patterns {
			sums[i].add(found[i])
			if found[i] >= p.Index {
				sums[i].hits++
			}
			if largest[len(p.Features)] >= p.Index {
				sums[i].beaten++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Significance, len(patterns))
	for i := range out {
		out[i] = Significance{Expected: sums[i].mean(o.Rounds), P: float64(1+sums[i].hits) / float64(1+o.Rounds)}
		if o.Adjust == MaxT {
			out[i].Q = min(1, float64(sizesOf(patterns))*float64(1+sums[i].beaten)/float64(1+o.Rounds))
		}
	}
	if o.Adjust == MaxT {
		return out, nil
	}
	adjustBySize(out, patterns, s.job.total)
	return out, nil
}

// roundSum is what the rounds so far say of a pattern. Indices are added up as
// integers of 128 bits, so that the order of rounds does not matter.
type roundSum struct {
	high, low    uint64
	hits, beaten int
}

// indexUnit is the integer of an index of 1.
const indexUnit = 1 << 60

func (r *roundSum) add(index float64) {
	var carry uint64
	r.low, carry = bits.Add64(r.low, uint64(index*indexUnit), 0)
	r.high += carry
}

func (r *roundSum) mean(rounds int) float64 {
	return (float64(r.high)*(1<<64) + float64(r.low)) / indexUnit / float64(rounds)
}

// adjustBySize makes q-values over all sets of features of each size.
func adjustBySize(out []Significance, patterns []Pattern, total []int64) {
	features := 0
	for _, n := range total {
		if n > 0 {
			features++
		}
	}
	bySize := make(map[int][]int)
	for i, p := range patterns {
		bySize[len(p.Features)] = append(bySize[len(p.Features)], i)
	}
	for size, list := range bySize {
		ps := make([]float64, len(list))
		for k, i := range list {
			ps[k] = out[i].P
		}
		for k, q := range points.BenjaminiHochberg(ps, setsOf(features, size)) {
			out[list[k]].Q = min(1, q*float64(sizesOf(patterns)))
		}
	}
}

// sizesOf is the number of sizes up to that of the longest pattern.
func sizesOf(patterns []Pattern) int {
	longest := 2
	for _, p := range patterns {
		longest = max(longest, len(p.Features))
	}
	return longest - 1
}

// LeastQ is the smallest q that so many rounds can give the patterns of a size.
func (s *Survey) LeastQ(rounds, size int, patterns []Pattern) float64 {
	found := 0
	for _, p := range patterns {
		if len(p.Features) == size {
			found++
		}
	}
	features := 0
	for _, n := range s.job.total {
		if n > 0 {
			features++
		}
	}
	return min(1, float64(sizesOf(patterns))*float64(setsOf(features, size))/float64(found)/float64(1+rounds))
}

// setsOf is the number of sets of a size, at most 2^53.
func setsOf(features, size int) int {
	n := 1.0
	for k := range size {
		n = n * float64(features-k) / float64(k+1)
	}
	return int(min(math.Round(n), 1<<53))
}

// indices are the participation indices of patterns, whatever their size.
func (s *Survey) indices(ctx context.Context, patterns []Pattern) ([]float64, error) {
	g, err := s.join(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := countPairs(ctx, g, s.job.crew, s.job.budget/4)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(patterns))
	for i, p := range patterns {
		if len(p.Features) == 2 {
			a, b := p.Features[0], p.Features[1]
			out[i] = min(float64(counts.get(a, b))/float64(g.total[a]), float64(counts.get(b, a))/float64(g.total[b]))
			continue
		}
		shown, err := s.show(ctx, p)
		if err != nil {
			return nil, err
		}
		out[i] = shownIndex(g, p, shown)
	}
	return out, nil
}

// shownIndex is the index of a pattern whose participating places are known.
func shownIndex(g *neighbours, p Pattern, shown *showing) float64 {
	part := make([]int64, len(p.Features))
	for place, takes := range shown.part {
		if !takes {
			continue
		}
		for k, f := range p.Features {
			if e, ok := g.entry(int32(place), f); ok {
				part[k] += int64(g.weight[e])
			}
		}
	}
	index := math.Inf(1)
	for k, f := range p.Features {
		index = min(index, float64(part[k])/float64(g.total[f]))
	}
	return index
}

// largest mines and gives the largest index of any set of each size that reaches
// the least of the patterns'.
func (s *Survey) largest(ctx context.Context, patterns []Pattern) (map[int]float64, error) {
	least := 1.0
	for _, p := range patterns {
		least = min(least, p.Index)
	}
	s.job.MinPrevalence, s.job.All = least, true
	res, err := s.Mine(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[int]float64)
	for _, p := range res.Patterns {
		out[len(p.Features)] = max(out[len(p.Features)], p.Index)
	}
	return out, nil
}
