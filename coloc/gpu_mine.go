package coloc

import (
	"context"
	"errors"
	"math"
	"slices"
)

// mineGPU is our search on the device: join, pairs of features, profiles, bit
// columns, lattice. The host keeps the graph of features. What a warp's memory
// cannot hold (profiles of very crowded places, more than 64 features around one)
// is left to the CPU's engine, for the universe it occurs in.
func (s *Survey) mineGPU(ctx context.Context, res *Result) (patterns []found, err error) {
	err = onGPU(ctx, s.job, func(r *gpuRun) error {
		m := &gpuMiner{r: r, survey: s}
		patterns, err = m.mine(res)
		return err
	})
	return patterns, err
}

type gpuMiner struct {
	r      *gpuRun
	survey *Survey
	scene  *gpuScene
}

func (m *gpuMiner) mine(res *Result) ([]found, error) {
	j, pts := m.r.job, m.survey.pts
	if pts.Len() == 0 {
		res.Places, res.Pairs = 0, 0
		return nil, nil
	}
	counts, err := m.join()
	if err != nil {
		return nil, err
	}
	res.Places, res.Pairs = m.scene.places, m.scene.edges/2
	j.logf("%d points at %d places, %d neighbouring pairs of places on the GPU", pts.Len(), res.Places, res.Pairs)
	fg := newFeatureGraph(counts, j.total, j.MinPrevalence)
	st := newStore(j.budget / 4)
	if !fg.hasTriangle() {
		fg.addPairs(st)
		return st.patterns, st.failure()
	}
	order, _ := degeneracyOrder(fg.adj)
	order = slices.DeleteFunc(order, func(f int32) bool { return len(fg.adj[f]) == 0 })
	if len(order) <= 64 && !j.evaluation.byFeature {
		found, err := m.universe(fg, order, -1)
		if err == nil {
			j.distinct = !j.All
			return found, nil
		}
		if _, hard := err.(errHard); !hard {
			return nil, err
		}
		j.logf("%v: the CPU cores search the patterns", err)
		return m.onCPU(fg, st, order, -1)
	}
	return m.byFeature(fg, st, order)
}

// join finds neighbours and counts pairs of features: on the device where there
// is one distance and features fit a mask.
func (m *gpuMiner) join() (*pairCounts, error) {
	r, j := m.r, m.r.job
	if j.KNN == 0 && len(m.survey.pts.Features) <= 64 {
		limit, side := j.reach()
		s, in := uploadPoints(r, m.survey.pts, limit, side)
		crowded := get(r, s.join(in), 1)[0] != 0
		if r.err != nil {
			return nil, r.err
		}
		if !crowded {
			m.scene = s
			counts := s.count()
			return counts, r.err
		}
		r.fail(r.arena.Release(0))
		j.logf("crowded positions: the CPU cores join the points")
	}
	g, err := m.survey.join(r.ctx)
	if err != nil {
		return nil, err
	}
	counts, err := countPairs(r.ctx, g, j.crew, j.budget/4)
	if err != nil {
		return nil, err
	}
	if err := g.list(r.ctx, j.crew, math.MaxInt64); err != nil {
		return nil, err
	}
	m.scene = hostScene(r, g, len(j.total))
	return counts, r.err
}

// reach is the squared distance of neighbours, and the side of cells that have
// them next to one another.
func (j *job) reach() (limit, side float64) {
	if j.Geographic {
		limit = chordLimit(j.Distance)
		return limit, math.Sqrt(limit)
	}
	return j.Distance * j.Distance, j.Distance
}

// universe mines the patterns of up to 64 features; its error is an errHard for
// places that the device gives up on.
func (m *gpuMiner) universe(fg *featureGraph, features []int32, root int32) ([]found, error) {
	r := m.r
	features = slices.Clone(features)
	slices.Sort(features)
	u := newGPUUniverse(m.scene, fg, r.job.total, features, root, r.job.MinPrevalence)
	sets, hard := u.profiles()
	if r.err == nil && hard > 0 {
		return nil, errHard(hard)
	}
	if r.err == nil && !u.fill(sets) && r.err == nil {
		return nil, errHard(1)
	}
	l, patterns := u.search()
	found := l.participation(patterns)
	return found, r.err
}

// byFeature takes every feature with its later neighbours as a universe.
func (m *gpuMiner) byFeature(fg *featureGraph, st *store, order []int32) ([]found, error) {
	err := eachUniverse(fg, st, m.r.job.All, order, func(universe []int32, f int32) error {
		if len(universe) > 64 {
			_, err := m.onCPU(fg, st, universe, f)
			return err
		}
		found, err := m.universe(fg, universe, f)
		if _, hard := err.(errHard); hard {
			_, err := m.onCPU(fg, st, universe, f)
			return err
		}
		for _, p := range found {
			st.add(p.features, p.counts)
		}
		return errors.Join(err, st.failure())
	})
	return st.patterns, err
}

// onCPU mines a universe with the CPU's engine.
func (m *gpuMiner) onCPU(fg *featureGraph, st *store, universe []int32, root int32) ([]found, error) {
	r, j := m.r, m.r.job
	g, err := m.survey.join(r.ctx)
	if err != nil {
		return nil, err
	}
	if err := g.list(r.ctx, j.crew, j.budget/4); err != nil {
		return nil, err
	}
	if err := mineWide(r.ctx, g, fg, st, j, universe, root); err != nil {
		return nil, err
	}
	return st.patterns, st.failure()
}
