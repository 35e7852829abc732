package coloc

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/points"
)

// onGPU computes all rounds for some of the patterns on the device. For patterns of two features in
// a plane, the kernels of package points count hundreds of rounds at once. For others, CPU cores
// draw the rounds, and the device joins and profiles the points of one round after the other. CPU
// cores evaluate rounds that are too crowded for the device.
func (t *nullTest) onGPU(ctx context.Context, which []int) error {
	j := t.survey.job
	var pairs, others []int
	atOnce := !j.Geographic && j.KNN == 0 && j.Distance > 0 && t.o.Adjust != MaxT
	for _, i := range which {
		if atOnce && len(t.patterns[i].Features) == 2 {
			pairs = append(pairs, i)
		} else {
			others = append(others, i)
		}
	}
	if len(pairs) > 0 {
		if err := t.pairsOnGPU(ctx, pairs); err != nil {
			return err
		}
	}
	features := t.features(others)
	switch {
	case len(others) == 0:
		t.tell("%s", engine.GPU)
	case len(features) > 64:
		t.tell("%s; patterns of %d features in all on the cores, as the GPU takes up to 64",
			engine.GPU, len(features))
		return t.onCores(ctx, others)
	default:
		return t.roundsOnGPU(ctx, others, features)
	}
	return nil
}

// features returns all features of some patterns, in ascending order.
func (t *nullTest) features(which []int) (all []int32) {
	for _, i := range which {
		all = append(all, t.patterns[i].Features...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pairsOnGPU counts hundreds of rounds at once.
func (t *nullTest) pairsOnGPU(ctx context.Context, which []int) (err error) {
	j := t.survey.job
	if j.GPU != nil { // free what mining keeps, as package points needs the memory
		for _, g := range append([]*GPU{j.GPU}, j.GPU.others...) {
			if err := g.session.Trim(); err != nil {
				return err
			}
		}
	}
	g, err := points.OpenGPU(j.Device, j.Also...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	cores := j.cores.at("null rounds")
	return g.CountNear(ctx, t.model, t.o.Seed, t.o.Rounds, j.cores.workers, j.Distance,
		func(round int, near func(a, b int32) int64) {
			cores.tell(int64(round), int64(t.o.Rounds))
			found := make([]float64, len(which))
			for k, i := range which {
				found[k] = pairIndex(t.patterns[i], j.total, near)
			}
			t.add(which, found, nil)
		})
}

// roundsOnGPU computes one round after the other. Several devices share the rounds.
func (t *nullTest) roundsOnGPU(ctx context.Context, which []int, features []int32) error {
	j := t.survey.job
	opt := j.Options
	opt.Engine, opt.Algorithm, opt.All, opt.Progress, opt.Log = engine.GPU, Auto, false, nil, nil
	var done, crowded atomic.Int64 // rounds; those that CPU cores evaluate
	err := onGPUs(ctx, j, func(all gpuRuns) error {
		return all.each(ctx, func(part int, r *gpuRun) error {
			cores := j.cores
			cores.workers = max(1, cores.workers/len(all))
			lo, end := gpu.Share(t.o.Rounds, part, len(all))
			if len(all) > 1 {
				r.on.Log(j.Log, "rounds", end-lo)
			}
			for ; lo < end; lo += cores.workers {
				drawn := make([]*Points, min(cores.workers, end-lo))
				err := cores.each(r.Ctx, len(drawn), func(_, i int) error {
					var err error
					drawn[i], err = t.model.Draw(r.Ctx, t.o.Seed, lo+i)
					return err
				})
				if err != nil {
					return err
				}
				for _, pts := range drawn {
					cores.at("null rounds").tell(done.Add(1)-1, int64(t.o.Rounds))
					s, err := NewSurvey(pts, opt)
					if err != nil {
						return err
					}
					r.job = s.job
					err = t.roundOnGPU(r, s, which, features)
					if errors.Is(err, errHard) {
						crowded.Add(1)
						s.job.engine = onCores(pts.Len(), cores.workers)
						err = t.coresRound(r.Ctx, s, which)
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	if crowded := crowded.Load(); crowded > 0 {
		t.tell("%s; %d rounds on the cores, too crowded for the GPU", engine.GPU, crowded)
	} else {
		t.tell("%s", engine.GPU)
	}
	return err
}

// roundOnGPU evaluates and adds one round, given a survey of its points.
func (t *nullTest) roundOnGPU(r *gpuRun, s *Survey, which []int, features []int32) error {
	some := t.some(which)
	var rest map[int]float64
	if t.steps != nil {
		s.job.MinPrevalence, s.job.All = leastIndex(some), true
		m := newGPUMiner(r.Ctx, s, gpuRuns{r})
		sets, err := m.mine(&Result{})
		if err != nil {
			return err
		}
		rest = make(map[int]float64)
		for _, p := range sets {
			t.steps.other(rest, p.features, participationIndex(p, s.job.total))
		}
		s.job.All = false
		r.clear()
	}
	m := newGPUMiner(r.Ctx, s, gpuRuns{r})
	found, err := m.indices(some, features)
	r.clear()
	if err := errors.Join(err, r.Err()); err != nil {
		return err
	}
	t.add(which, found, rest)
	return nil
}

// clear frees all arenas for the next round.
func (r *gpuRun) clear() {
	r.Sync()
	for i := range r.arenas {
		r.Fail(r.arenas[i].Clear())
	}
}

// indices returns the participation indices of patterns. features are those of all patterns. It
// returns errHard if a profile is too long for the device.
func (m *gpuMiner) indices(patterns []Pattern, features []int32) ([]float64, error) {
	r := m.runs[0]
	counts, err := m.join()
	if err != nil {
		return nil, err
	}
	scene := m.scenes[0]
	out := make([]float64, len(patterns))
	u := &gpuUniverse{s: scene, features: features, bit: make([]uint32, len(r.job.total)),
		pairs: make([]uint64, len(features))}
	for f := range u.bit {
		u.bit[f] = 64
	}
	for b, f := range features {
		u.bit[f] = uint32(b)
	}
	// Only features of the same pattern have to be in a profile together.
	sets := make(map[uint64]float64)
	for i, p := range patterns {
		if out[i] = pairIndexOf(p, r.job.total, counts); len(p.Features) == 2 || out[i] == 0 {
			continue // without a pair there is no instance
		}
		set := u.set(p.Features)
		sets[set] = 0
		for m := set; m != 0; m &= m - 1 {
			b := bits.TrailingZeros64(m)
			u.pairs[b] |= set &^ (1 << b)
		}
	}
	if len(sets) == 0 {
		return out, r.Err()
	}
	profiles, ok := u.profiles(0, scene.places, func([]uint32) ([][]uint64, bool) { return nil, false })
	if r.Err() == nil && ok {
		ok = u.fill(profiles)
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	if !ok {
		return nil, errHard
	}
	var asked []uint64
	for set := range sets {
		asked = append(asked, set)
	}
	l := &gpuLattice{u: u, found: gpu.Make[uint64](r, min(countPart, len(asked)))}
	for _, p := range l.participation(asked) {
		sets[u.set(p.features)] = participationIndex(p, r.job.total)
	}
	for i, p := range patterns {
		if index, ok := sets[u.set(p.Features)]; ok {
			out[i] = index
		}
	}
	return out, r.Err()
}

// set returns features as bits.
func (u *gpuUniverse) set(features []int32) (set uint64) {
	for _, f := range features {
		set |= 1 << u.bit[f]
	}
	return set
}

// pairIndexOf returns the least index of any two features of a pattern.
func pairIndexOf(p Pattern, total []int64, counts *pairCounts) float64 {
	index := 1.0
	for i, a := range p.Features {
		for _, b := range p.Features[:i] {
			index = min(index, pairIndex(Pattern{Features: []int32{b, a}}, total, counts.get))
		}
	}
	return index
}
