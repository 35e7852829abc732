package coloc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/points"
)

// Algorithm is an algorithm for finding patterns. All give the same result.
type Algorithm int

// The algorithms.
const (
	Auto     Algorithm = iota // profiles and witness search, without instance tables
	SGCT                      // sparse graph and condensed trees, splitting from the top
	Joinless                  // star neighbourhoods, level by level (Yoo and Shekhar 2006)
	ICPITree                  // a tree of neighbours, level by level (Wang, Bao and Lu 2009)
	Miner                     // joins of instances, level by level (Shekhar and Huang 2001)
	SGCTRows                  // SGCT on a GPU that writes out and sorts instances, as published
)

var algorithmNames = choice.New[Algorithm]("algorithm", "auto", "sgct", "joinless", "icpi", "miner", "sgct-rows")

// Algorithms lists the names of all algorithms.
func Algorithms() []string { return algorithmNames.List() }

func (a Algorithm) String() string { return algorithmNames.Of(a) }

// MarshalText returns the name, so that JSON has it too.
func (a Algorithm) MarshalText() ([]byte, error) { return algorithmNames.Text(a) }

// UnmarshalText is the inverse of MarshalText.
func (a *Algorithm) UnmarshalText(name []byte) error { return algorithmNames.Set(a, string(name)) }

// Options are the options of Mine and NewSurvey. MinPrevalence and at least one of Distance and KNN
// must be set; all others may be zero.
type Options struct {
	// Distance is the largest distance of neighbours, in the unit of the coordinates or, for
	// longitudes and latitudes, in metres along the great circle. SamePosition makes only points
	// with equal coordinates neighbours; 0 means that KNN alone decides.
	Distance float64
	// KNN > 0 makes two points neighbours if one is among the KNN nearest of the other; points at
	// the same distance as the last of these are included. If Distance is also set, it must not be
	// exceeded.
	KNN int
	// Within > 0 requires that the times of neighbours are at most this many seconds apart. The
	// points must have times.
	Within int64
	// MinPrevalence is the least participation index of a pattern (see Pattern.Index), more than 0
	// and at most 1.
	MinPrevalence float64
	// Geographic says that positions are longitudes and latitudes in degrees. It is not needed if
	// the CRS of the points says so.
	Geographic bool
	// All returns every prevalent pattern, not only the maximal ones.
	All bool

	Algorithm Algorithm    // how patterns are mined, with the same result; the zero value is Auto
	Engine    engine.Kind  // where to compute; the zero value, engine.Auto, chooses by size
	Threads   int          // number of threads; 0 means all cores
	Memory    int64        // bound in bytes; 0 means 2 GB
	Log       *slog.Logger // messages on what a job does; nil means none

	// Device selects the device of the GPU engine, which the job opens and closes. Also are further
	// GPUs, which share the work; with engine.GPU and algorithm Auto only. GPU, if it is not nil,
	// has open devices that are used instead.
	Device engine.Device
	Also   []engine.Device // none means one GPU
	GPU    *GPU            // nil means that Device is opened when the GPU engine runs
	// Progress, unless it is nil, is called with the progress of a step, from any goroutine. The
	// total is 0 if it is not known.
	Progress func(stage string, done, total int64)
	// Trace, unless it is nil, is called at the end of a job on a GPU with the time of each stage,
	// by the device's clock.
	Trace func(stage string, took time.Duration)

	// samePosition replaces a Distance of SamePosition once options were checked; Distance is then
	// 0.
	samePosition bool
	evaluation   *evaluation // for tests, which force profiles or witness search
}

// SamePosition is a Distance: neighbours are points with equal coordinates.
const SamePosition = -1

// Pattern is a set of features whose points are often mutual neighbours.
type Pattern struct {
	Features []int32 // indices into Points.Features, ascending
	Counts   []int64 // points of each feature that occur in an instance
	Index    float64 // the least Counts[i] / total of its feature
}

// Result holds the patterns that were found, ordered by length, then by names.
type Result struct {
	Patterns []Pattern   // the maximal ones, or with Options.All every prevalent one
	Totals   []int64     // points of each feature
	Places   int         // distinct positions; -1 if they were not counted
	Pairs    int64       // neighbouring pairs of places; -1 if they were not counted
	Engine   engine.Kind // where the patterns were mined; never Auto
}

// job is a validated call.
type job struct {
	Options
	cores      cores
	budget     int64   // bytes besides the points and places
	total      []int64 // points of each feature
	engine     engine.Kind
	evaluation evaluation
	distinct   bool // the patterns found are already maximal
}

func (j *job) logf(format string, args ...any) {
	if j.Log != nil {
		j.Log.Info(fmt.Sprintf(format, args...))
	}
}

// smallJob is the number of points up to which one core is used: 3,000 points
// take half a millisecond.
const smallJob = 3000

// bytesPerPoint is the memory that the points themselves, places, grid and sorting take per point.
// On the sphere positions have three coordinates, and cells are sorted by keys.
func bytesPerPoint(geographic bool) int64 {
	if geographic {
		return 144
	}
	return 96
}

func newJob(pts *Points, opt Options) (*job, error) {
	opt.Geographic = opt.Geographic || pts.CRS.Geographic()
	if opt.Distance == SamePosition {
		if opt.KNN > 0 {
			return nil, errors.New("SamePosition and KNN: set only one of them")
		}
		opt.Distance, opt.samePosition = 0, true
	}
	j := &job{Options: opt, budget: opt.Memory, evaluation: evaluation{steps: profileSteps}}
	switch {
	case opt.Distance == 0 && opt.KNN == 0 && !opt.samePosition:
		return nil, errors.New("neither Distance nor KNN says which points are neighbours: " +
			"set at least one")
	case opt.KNN < 0:
		return nil, fmt.Errorf("nearest neighbours %d: want at least 1", opt.KNN)
	case math.IsNaN(opt.Distance) || opt.Distance < 0 || opt.Distance > points.MaxCoordinate:
		return nil, fmt.Errorf("distance %v: want more than 0 and at most %g", opt.Distance,
			points.MaxCoordinate)
	case opt.Distance > 0 && opt.Distance < 1/points.MaxCoordinate:
		return nil, fmt.Errorf("distance %v: want at least %g", opt.Distance,
			1/points.MaxCoordinate)
	}
	if opt.Within > 0 {
		switch {
		case len(pts.Time) != pts.Len():
			return nil, fmt.Errorf("points have no times: name their column with points.ReadOptions.Time")
		case opt.KNN > 0:
			return nil, fmt.Errorf("coloc.Options.Within needs coloc.Options.Distance, not coloc.Options.KNN")
		case opt.Engine == engine.GPU:
			return nil, fmt.Errorf("coloc.Options.Within has no GPU engine: use coloc.Options.Engine=multicore")
		}
	}
	if err := errors.Join(algorithmNames.Check(opt.Algorithm), gpu.CheckSeveral(opt.Engine, opt.Also)); err != nil {
		return nil, err
	}
	if several := len(opt.Also) > 0 || opt.GPU != nil && len(opt.GPU.others) > 0; several &&
		opt.Engine == engine.GPU && opt.Algorithm != Auto {
		return nil, fmt.Errorf("%s works on one GPU: leave out coloc.Options.Also, or use "+
			"coloc.Options.Algorithm=auto", opt.Algorithm)
	}
	if opt.evaluation != nil {
		j.evaluation = *opt.evaluation
	}
	if j.budget <= 0 {
		j.budget = 2e9
	}
	need := bytesPerPoint(opt.Geographic) * int64(pts.Len())
	if need > j.budget {
		return nil, fmt.Errorf("%d points need %d MB before the first pattern of size 2, more "+
			"than the memory bound of %d MB: raise coloc.Options.Memory", pts.Len(), need/1e6, j.budget/1e6)
	}
	j.budget = max(j.budget-need, j.budget/8) // for lists, counts, sets and cliques
	threads := opt.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	if opt.Algorithm == SGCTRows && opt.Engine != engine.GPU {
		return nil, errors.New("sgct-rows has only a GPU engine: use coloc.Options.Engine=gpu, or coloc.Options.Algorithm=sgct")
	}
	j.engine = opt.Engine
	switch opt.Engine {
	case engine.Auto:
		j.engine = onCores(pts.Len(), threads)
		if j.Algorithm == Auto && gpuPays(pts, opt, threads) {
			j.engine = engine.GPU
		}
	case engine.GPU:
		if j.Algorithm != Auto && j.Algorithm != SGCT && j.Algorithm != SGCTRows {
			return nil, fmt.Errorf("%s has no GPU engine: use coloc.Options.Algorithm=auto or sgct, or "+
				"coloc.Options.Engine=multicore", j.Algorithm)
		}
	}
	j.cores = cores{workers: threads, progress: opt.Progress}
	if j.engine == engine.Sequential {
		j.cores.workers = 1
	}
	var err error
	j.total, err = checkPoints(pts, opt.Geographic, j.cores)
	return j, err
}

// Mine finds the co-location patterns of the points.
func Mine(ctx context.Context, pts *Points, opt Options) (*Result, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	s, err := NewSurvey(pts, opt)
	if err != nil {
		return nil, err
	}
	return s.Mine(ctx)
}

// Mine finds the co-location patterns of the survey's points.
func (s *Survey) Mine(ctx context.Context) (*Result, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	res := &Result{Totals: slices.Clone(s.job.total), Places: -1, Pairs: -1, Engine: s.job.engine}
	return s.conclude(res, func() ([]found, error) { return s.mine(ctx, res) })
}

// conclude makes the result from the patterns that mine finds, which may also set fields of res.
func (s *Survey) conclude(res *Result, mine func() ([]found, error)) (*Result, error) {
	if p := s.job.MinPrevalence; !(p > 0 && p <= 1) {
		return nil, fmt.Errorf("minimum prevalence %v: want more than 0 and at most 1", p)
	}
	patterns, err := mine()
	if err != nil {
		return nil, fmt.Errorf("mine co-locations: %w", err)
	}
	if !s.job.All && !s.job.distinct {
		patterns = maximal(patterns)
	}
	sortFound(patterns)
	res.Patterns = make([]Pattern, len(patterns))
	for i, p := range patterns {
		res.Patterns[i] = Pattern{p.features, p.counts, participationIndex(p, res.Totals)}
	}
	return res, nil
}

func participationIndex(p found, total []int64) float64 {
	index := math.Inf(1)
	for i, f := range p.features {
		index = min(index, float64(p.counts[i])/float64(total[f]))
	}
	return index
}

func (s *Survey) mine(ctx context.Context, res *Result) (patterns []found, err error) {
	j, pts := s.job, s.pts
	switch j.Algorithm {
	case SGCT, SGCTRows:
		mine := mineSGCT
		if j.engine == engine.GPU {
			mine = mineSGCTOnGPU
		}
		return mine(ctx, pts, j)
	case Joinless, ICPITree, Miner:
		return mineLevelwise(ctx, pts, j)
	}
	err = j.choice().Run(ctx, func() (err error) {
		patterns, err = s.mineGPU(ctx, res)
		return err
	}, func() error {
		if j.engine == engine.GPU { // which has failed
			j.engine, j.distinct = onCores(pts.Len(), j.cores.workers), false
			res.Engine = j.engine
		}
		g, err := s.join(ctx)
		if err != nil {
			return err
		}
		patterns, err = mineAuto(ctx, g, j)
		res.Places, res.Pairs = g.len(), g.edges/2
		j.logf("%d neighbouring pairs of places", res.Pairs)
		return err
	})
	return patterns, err
}

// choice is the choice of the engine, which newJob has made.
func (j *job) choice() gpu.Choice {
	return gpu.Choice{Kind: j.Engine, Pays: func() bool { return j.engine == engine.GPU },
		Log: j.Log}
}

// join builds the neighbour graph that the options describe.
func (j *job) join(ctx context.Context, pts *Points) (*neighbours, error) {
	limit, side := j.Distance*j.Distance, j.Distance
	if j.Geographic {
		limit = chordLimit(j.Distance)
		side = math.Sqrt(limit)
	}
	if j.KNN > 0 {
		if side = 0; j.Distance == 0 {
			limit = math.Inf(1)
		}
	}
	var time []int64
	if j.Within > 0 {
		time = pts.Time
	}
	p := newPlaces(pts, time, j.Geographic, side, j.cores)
	p.total = j.total
	j.logf("%d points at %d places, %d features", pts.Len(), p.len(), len(pts.Features))
	if j.KNN > 0 {
		return joinNearest(ctx, p, j.KNN, limit, j.cores, j.budget/2)
	}
	g := joinDistance(p, limit)
	g.within = j.Within
	return g, nil
}
