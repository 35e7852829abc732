package coloc

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/collocate/collocate/internal/gpu"
)

// mineGPU is mineAuto on the device: it joins places, counts pairs of features, and computes
// profiles, bit columns and the lattice there. The graph of features is on the host. CPU cores
// search a universe that is too large for the device: one with more than 64 features, or with
// places whose profiles are too long.
//
// Several devices each have all points, and join them likewise. They share the profiles by places,
// then the lattice by the pairs of features that its nodes begin with, then the patterns to count.
func (s *Survey) mineGPU(ctx context.Context, res *Result) (patterns []found, err error) {
	err = onGPUs(ctx, s.job, func(all gpuRuns) error {
		patterns, err = newGPUMiner(ctx, s, all).mine(res)
		return err
	})
	return patterns, err
}

type gpuMiner struct {
	ctx    context.Context
	runs   gpuRuns
	job    *job
	survey *Survey
	scenes []*gpuScene // by device
	host   sync.Mutex  // held while the host makes profiles
}

func newGPUMiner(ctx context.Context, s *Survey, all gpuRuns) *gpuMiner {
	return &gpuMiner{ctx: ctx, runs: all, job: all[0].job, survey: s, scenes: make([]*gpuScene, len(all))}
}

func (m *gpuMiner) mine(res *Result) ([]found, error) {
	j, pts := m.job, m.survey.pts
	if pts.Len() == 0 {
		res.Places, res.Pairs = 0, 0
		return nil, nil
	}
	counts, err := m.join()
	if err != nil {
		return nil, err
	}
	res.Places, res.Pairs = m.scenes[0].places, m.scenes[0].edges/2
	j.logf("%d points at %d places, %d neighbouring pairs of places on the GPU", pts.Len(),
		res.Places, res.Pairs)
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
		if !errors.Is(err, errHard) {
			return nil, err
		}
		j.logf("%v: the CPU cores search the patterns", err)
		return m.onCPU(fg, st, order, -1)
	}
	return m.byFeature(fg, st, order)
}

// join finds neighbours and counts pairs of features. It does so on the device if neighbours are
// defined by distance, features fit a mask, and no cell is crowded.
func (m *gpuMiner) join() (*pairCounts, error) {
	j := m.job
	if j.KNN == 0 && len(m.survey.pts.Features) <= 64 {
		limit, side := j.reach()
		counts, crowded := make([]*pairCounts, len(m.runs)), make([]bool, len(m.runs))
		err := m.runs.each(m.ctx, func(i int, r *gpuRun) error {
			s, in := uploadPoints(r, m.survey.pts, limit, side)
			crowded[i] = gpu.Get(r, s.join(in), 1)[0] != 0
			if r.Err() == nil && !crowded[i] {
				m.scenes[i], counts[i] = s, s.count()
			}
			return nil
		})
		if err != nil || !crowded[0] { // all devices have the same points
			return counts[0], err
		}
		for _, r := range m.runs {
			r.Fail(r.Arena.Release(0))
		}
		j.logf("crowded positions: the CPU cores join the points")
	}
	g, err := m.survey.join(m.ctx)
	if err != nil {
		return nil, err
	}
	counts, err := countPairs(m.ctx, g, j.cores, j.budget/4)
	if err != nil {
		return nil, err
	}
	if err := g.list(m.ctx, j.cores, math.MaxInt64); err != nil {
		return nil, err
	}
	return counts, m.runs.each(m.ctx, func(i int, r *gpuRun) error {
		m.scenes[i] = hostScene(r, g, len(j.total))
		return nil
	})
}

// reach returns the squared distance of neighbours, and the side of cells such that neighbours are
// in adjacent cells.
func (j *job) reach() (limit, side float64) {
	if j.Geographic {
		limit = chordLimit(j.Distance)
		return limit, math.Sqrt(limit)
	}
	return j.Distance * j.Distance, j.Distance
}

// universe mines the patterns of up to 64 features. It returns errHard if a profile is too long.
func (m *gpuMiner) universe(fg *featureGraph, features []int32, root int32) ([]found, error) {
	n := len(m.runs)
	features = slices.Clone(features)
	slices.Sort(features)
	us, sets := make([]*gpuUniverse, n), make([]gpuSets, n)
	possible := make([]bool, n)
	err := m.runs.each(m.ctx, func(i int, r *gpuRun) error {
		us[i] = newGPUUniverse(m.scenes[i], fg, m.job.total, features, root, m.job.MinPrevalence)
		lo, hi := gpu.Share(m.scenes[i].places, i, n)
		sets[i], possible[i] = us[i].profiles(lo, hi, func(places []uint32) ([][]uint64, bool) {
			return m.hostProfiles(fg, us[i], root, places)
		})
		if n > 1 && r.Err() == nil && possible[i] {
			sets[i].fetch(r, lo, hi)
			r.on.Log(m.job.Log, "places", hi-lo, "sets", sets[i].total)
		}
		return nil
	})
	if err == nil && n > 1 && !slices.Contains(possible, false) {
		whole := joinSets(sets)
		err = m.runs.each(m.ctx, func(i int, r *gpuRun) error {
			sets[i] = whole.put(r)
			return nil
		})
	}
	if err == nil && !slices.Contains(possible, false) {
		err = m.runs.each(m.ctx, func(i int, r *gpuRun) error {
			possible[i] = us[i].fill(sets[i])
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(possible, false) {
		return nil, errHard
	}
	return m.patterns(us)
}

// patterns searches the lattice of a universe and counts the patterns.
func (m *gpuMiner) patterns(us []*gpuUniverse) ([]found, error) {
	n := len(m.runs)
	lattices, parts := make([]*gpuLattice, n), make([][]uint64, n)
	err := m.runs.each(m.ctx, func(i int, r *gpuRun) error {
		lattices[i], parts[i] = us[i].search(i, n)
		if n > 1 {
			r.on.Log(m.job.Log, "patterns", len(parts[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	patterns := parts[0]
	if n > 1 {
		if patterns = slices.Concat(parts...); !m.job.All { // one may contain that of another device
			patterns = maximalSets(patterns)
		}
		sortSetsByName(patterns, m.job.cores)
	}
	counted := make([][]found, n)
	err = m.runs.each(m.ctx, func(i int, r *gpuRun) error {
		lo, hi := gpu.Share(len(patterns), i, n)
		counted[i] = lattices[i].participation(patterns[lo:hi])
		return nil
	})
	return slices.Concat(counted...), err
}

// hostSteps is the limit of steps on the host for a place whose profile was too long for a warp.
const hostSteps = 64 * profileSteps

// hostProfiles computes profiles of places of the scene on CPU cores, which first join the points.
func (m *gpuMiner) hostProfiles(fg *featureGraph, u *gpuUniverse, root int32,
	places []uint32) ([][]uint64, bool) {
	m.host.Lock()
	defer m.host.Unlock()
	r := u.s.r
	g, err := m.survey.graph(r.Ctx)
	if err != nil {
		r.Fail(err)
		return nil, false
	}
	numbers, err := hostNumbers(u.s, g, places)
	if err != nil {
		r.Fail(err)
		return nil, false
	}
	host := newUniverse[[1]uint64](g, fg, u.features, root, r.job.MinPrevalence, r.job.cores)
	profilers := make([]*profiler[[1]uint64], r.job.cores.workers)
	out := make([][]uint64, len(places))
	err = r.job.cores.each(r.Ctx, len(places), func(w, i int) error {
		if profilers[w] == nil {
			profilers[w] = &profiler[[1]uint64]{u: host, limit: hostSteps}
		}
		sets, ok := profilers[w].profile(numbers[i])
		if !ok {
			return errHard
		}
		for _, set := range sets {
			out[i] = append(out[i], set[0])
		}
		return nil
	})
	if err != nil && !errors.Is(err, errHard) {
		r.Fail(err)
	}
	return out, err == nil
}

// hostNumbers returns the numbers that places of the scene have on the host, found by position.
func hostNumbers(s *gpuScene, g *neighbours, places []uint32) ([]int32, error) {
	r := s.r
	numbers := make([]int32, len(places))
	if s.hosted.Len() > 0 {
		for i, p := range places {
			numbers[i] = int32(p)
		}
		return numbers, nil
	}
	x, y := gpu.Get(r, s.x, s.places), gpu.Get(r, s.y, s.places)
	z := gpu.Get(r, s.z, min(s.places, s.z.Len()))
	position := func(x, y, z []float64, i int) (at [3]float64) {
		at[0], at[1] = x[i], y[i]
		if len(z) > 0 {
			at[2] = z[i]
		}
		return at
	}
	wanted := make(map[[3]float64]int, len(places))
	for i, p := range places {
		wanted[position(x, y, z, int(p))] = i
	}
	for k := range g.len() {
		if i, ok := wanted[position(g.x, g.y, g.z, k)]; ok {
			numbers[i] = int32(k)
		}
	}
	return numbers, r.Err()
}

// byFeature mines a universe for every feature, which has the feature and its later neighbours.
func (m *gpuMiner) byFeature(fg *featureGraph, st *store, order []int32) ([]found, error) {
	err := eachUniverse(fg, st, m.job.All, order, func(universe []int32, f int32) error {
		if len(universe) > 64 {
			_, err := m.onCPU(fg, st, universe, f)
			return err
		}
		found, err := m.universe(fg, universe, f)
		if errors.Is(err, errHard) {
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

// onCPU mines a universe on CPU cores.
func (m *gpuMiner) onCPU(fg *featureGraph, st *store, universe []int32,
	root int32) ([]found, error) {
	j := m.job
	g, err := m.survey.join(m.ctx)
	if err != nil {
		return nil, err
	}
	if err := g.list(m.ctx, j.cores, j.budget/4); err != nil {
		return nil, err
	}
	if err := mineWide(m.ctx, g, fg, st, j, universe, root); err != nil {
		return nil, err
	}
	return st.patterns, st.failure()
}
