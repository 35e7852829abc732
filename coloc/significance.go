package coloc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/points"
)

// Adjust is the correction of p-values for multiple testing.
type Adjust = points.Adjust

// The adjustments.
const (
	// FDR is the false discovery rate of Benjamini and Hochberg. It counts all sets of features of
	// a pattern's size, found or not. Counting only the patterns found would be wrong, because they
	// were selected by their index. Sizes share the rate equally.
	FDR = points.FDR
	// MaxT is the step-down correction of Westfall and Young. It takes the share of rounds in which
	// the index of any set of the same size reaches the pattern's, times the number of sizes. Found
	// patterns with a larger index do not count. It needs fewer rounds, but mines in each of them.
	MaxT = points.MaxT
)

// Alternative is what a test of patterns looks for.
type Alternative int

// The alternatives. Avoidance is found only among patterns that were mined, so with a small
// Options.MinPrevalence.
const (
	Attraction Alternative = iota // indices that are larger than under the null model
	Avoidance                     // smaller ones
	Both                          // either: p is twice the smaller of both
)

var alternativeNames = choice.New[Alternative]("alternative", "attraction", "avoidance", "both")

// Alternatives lists the names of all alternatives.
func Alternatives() []string { return alternativeNames.List() }

func (a Alternative) String() string { return alternativeNames.Of(a) }

// MarshalText returns the name, so that JSON has it too.
func (a Alternative) MarshalText() ([]byte, error) { return alternativeNames.Text(a) }

// UnmarshalText is the inverse of MarshalText.
func (a *Alternative) UnmarshalText(name []byte) error {
	return alternativeNames.Set(a, string(name))
}

// SignificanceOptions are the options of Survey.Significance.
type SignificanceOptions struct {
	Rounds    int         // random rounds of the null model; 0 means 99
	Null      points.Null // the zero value, Inhomogeneous, keeps own clustering and shared density
	Bandwidth float64     // of the density that all features share; see points.NullOptions
	Seed      uint64      // seed of the rounds; any value will do, the command's default is 1
	Adjust    Adjust      // the zero value is FDR
	// Alternative is what is looked for; the zero value is Attraction. Others need FDR.
	Alternative Alternative

	// Tell, unless it is nil, is called with a short text that says where rounds ran: some rounds
	// of a GPU job may need CPU cores.
	Tell func(where string)
	// Fitted, unless it is nil, is called before the rounds with NullModel.Area and
	// NullModel.Bandwidth of package points.
	Fitted func(area, bandwidth float64)
}

// Significance compares a pattern's index with its distribution under a null model.
type Significance struct {
	Expected float64 // mean index of the rounds
	P        float64 // share of rounds, the observed one included, that reach the index; see Alternative
	Q        float64 // P corrected for all patterns that could have been found
}

// Significance tests patterns against a null model in which features are independent of each other.
// Round r depends only on the seed and r, so the result is the same on any number of cores and on a
// GPU.
func (s *Survey) Significance(ctx context.Context, patterns []Pattern, o SignificanceOptions) ([]Significance, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	o.Rounds = cmp.Or(o.Rounds, 99)
	if o.Rounds < 1 {
		return nil, fmt.Errorf("%d rounds: want at least 1", o.Rounds)
	}
	if err := o.Adjust.Check(); err != nil {
		return nil, err
	}
	if err := alternativeNames.Check(o.Alternative); err != nil {
		return nil, err
	}
	if o.Adjust == MaxT && o.Alternative != Attraction {
		return nil, fmt.Errorf("coloc.SignificanceOptions.Alternative=%s: coloc.SignificanceOptions.Adjust=max "+
			"compares with the largest index of each round, so it tests attraction only", o.Alternative)
	}
	if o.Null == points.Times && s.job.Within == 0 {
		return nil, errors.New("points.Null=times permutes times, which only matter with coloc.Options.Within")
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	set := *s.pts
	if s.job.Geographic && !set.CRS.Geographic() {
		set.CRS = points.WGS84
	}
	model, err := points.NewNullModel(ctx, &set, points.NullOptions{
		Null: o.Null, Bandwidth: o.Bandwidth, Distance: s.job.Distance})
	if err != nil {
		return nil, err
	}
	if o.Fitted != nil {
		o.Fitted(model.Area(), model.Bandwidth())
	}
	t := &nullTest{survey: s, model: model, o: o, patterns: patterns,
		sums: make([]roundSum, len(patterns))}
	if o.Adjust == MaxT {
		t.steps = newSteps(patterns)
	}
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	sums := t.sums
	out := make([]Significance, len(patterns))
	for i := range out {
		out[i] = Significance{Expected: sums[i].mean(o.Rounds), P: sums[i].p(o)}
	}
	if o.Adjust == MaxT {
		for _, of := range t.steps.bySize {
			for k, q := range of.down.Q() {
				out[of.patterns[k]].Q = min(1, float64(sizesOf(patterns))*q)
			}
		}
		return out, nil
	}
	adjustBySize(out, patterns, s.job.total)
	return out, nil
}

// nullTest is one call of Significance.
type nullTest struct {
	survey   *Survey
	model    *points.NullModel
	o        SignificanceOptions
	patterns []Pattern

	mu    sync.Mutex
	sums  []roundSum // by pattern
	steps *steps     // nil but for MaxT
}

// run computes all rounds.
func (t *nullTest) run(ctx context.Context) error {
	all := make([]int, len(t.patterns))
	for i := range all {
		all[i] = i
	}
	if t.survey.job.engine == engine.GPU {
		return t.onGPU(ctx, all)
	}
	t.tell("%s", t.survey.job.engine)
	return t.onCores(ctx, all)
}

func (t *nullTest) tell(format string, args ...any) {
	if t.o.Tell != nil {
		t.o.Tell(fmt.Sprintf(format, args...))
	}
}

// roundMemory is the least memory of a round besides its points and places.
const roundMemory = 4_000_000

// onCores computes all rounds for some of the patterns, each round on one core.
func (t *nullTest) onCores(ctx context.Context, which []int) error {
	s := t.survey
	one := s.job.Options
	one.Engine, one.Threads, one.Progress, one.GPU, one.Also, one.Log = engine.Sequential, 1, nil, nil, nil, nil
	one.Algorithm, one.All = Auto, false
	// Each core holds the points of its round. If that is too much, fewer cores work.
	need := bytesPerPoint(s.job.Geographic)*int64(s.pts.Len()) + roundMemory
	cores := s.job.cores
	cores.workers = max(1, min(cores.workers, int(s.job.budget/need)))
	if one.Memory = s.job.budget / int64(cores.workers); one.Memory < need {
		return fmt.Errorf("a round of %d points needs %d MB besides the neighbours that were found, more "+
			"than the memory bound leaves: raise coloc.Options.Memory", s.pts.Len(), need/1e6)
	}
	return cores.at("null rounds").each(ctx, t.o.Rounds, func(_, round int) error {
		pts, err := t.model.Draw(ctx, t.o.Seed, round)
		if err != nil {
			return err
		}
		drawn, err := NewSurvey(pts, one)
		if err != nil {
			return err
		}
		return t.coresRound(ctx, drawn, which)
	})
}

// coresRound evaluates and adds one round, given its points.
func (t *nullTest) coresRound(ctx context.Context, drawn *Survey, which []int) error {
	some := t.some(which)
	found, err := drawn.indices(ctx, some)
	if err != nil {
		return err
	}
	if t.steps == nil {
		t.add(which, found, nil)
		return nil
	}
	drawn.job.MinPrevalence, drawn.job.All = leastIndex(some), true
	res, err := drawn.Mine(ctx)
	if err != nil {
		return err
	}
	rest := make(map[int]float64)
	for _, p := range res.Patterns {
		t.steps.other(rest, p.Features, p.Index)
	}
	t.add(which, found, rest)
	return nil
}

func (t *nullTest) some(which []int) []Pattern {
	out := make([]Pattern, len(which))
	for k, i := range which {
		out[k] = t.patterns[i]
	}
	return out
}

// add adds a round: the indices of some of the patterns. For MaxT these are all, and rest has the
// largest index of any other set, by size.
func (t *nullTest) add(which []int, found []float64, rest map[int]float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, i := range which {
		p := t.patterns[i]
		t.sums[i].add(found[k])
		if found[k] >= p.Index {
			t.sums[i].hits++
		}
		if found[k] <= p.Index {
			t.sums[i].under++
		}
	}
	if t.steps != nil {
		t.steps.add(found, rest)
	}
}

// roundSum sums up the rounds of a pattern.
type roundSum struct {
	high, low uint64 // sum of the indices, a 128-bit integer: the order of rounds does not matter
	hits      int    // rounds in which the index reaches the observed one
	under     int    // rounds in which it is at most the observed one
}

// indexUnit is the integer that stands for an index of 1.
const indexUnit = 1 << 60

func (r *roundSum) add(index float64) {
	var carry uint64
	r.low, carry = bits.Add64(r.low, uint64(index*indexUnit), 0)
	r.high += carry
}

// p returns the p-value.
func (r *roundSum) p(o SignificanceOptions) float64 {
	n := r.hits
	switch o.Alternative {
	case Avoidance:
		n = r.under
	case Both:
		return min(1, 2*float64(1+min(r.hits, r.under))/float64(1+o.Rounds))
	}
	return float64(1+n) / float64(1+o.Rounds)
}

func (r *roundSum) mean(rounds int) float64 {
	return (float64(r.high)*(1<<64) + float64(r.low)) / indexUnit / float64(rounds)
}

// adjustBySize computes q-values over all sets of features of each size.
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

// sizesOf returns the number of sizes, from 2 to that of the longest pattern.
func sizesOf(patterns []Pattern) int {
	longest := 2
	for _, p := range patterns {
		longest = max(longest, len(p.Features))
	}
	return longest - 1
}

// LeastMaxQ returns the smallest q that the given number of rounds can give patterns with MaxT, and
// the rounds that are needed before it can be 0.05.
func (s *Survey) LeastMaxQ(rounds int, patterns []Pattern) (least float64, needed int) {
	sizes := sizesOf(patterns)
	return min(1, float64(sizes)/float64(1+rounds)), 20*sizes - 1
}

// TestsAPattern returns the factor from the least p-value to the least q-value of a size: the
// number of sets of that size per pattern found, times the number of sizes.
func (s *Survey) TestsAPattern(size int, patterns []Pattern) float64 {
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
	return float64(sizesOf(patterns)) * float64(setsOf(features, size)) / float64(found)
}

// setsOf returns the number of sets of features of a size, at most 2^53.
func setsOf(features, size int) int {
	n := 1.0
	for k := range size {
		n = n * float64(features-k) / float64(k+1)
	}
	return int(min(math.Round(n), 1<<53))
}

// indices returns the participation indices of patterns of any size.
func (s *Survey) indices(ctx context.Context, patterns []Pattern) ([]float64, error) {
	g, err := s.join(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := countPairs(ctx, g, s.job.cores, s.job.budget/4)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(patterns))
	for i, p := range patterns {
		if len(p.Features) == 2 {
			out[i] = pairIndex(p, g.total, counts.get)
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

// pairIndex returns the index of a pattern of two features. near(a, b) is the number of points of a
// that have a neighbour of b.
func pairIndex(p Pattern, total []int64, near func(a, b int32) int64) float64 {
	a, b := p.Features[0], p.Features[1]
	return min(float64(near(a, b))/float64(total[a]), float64(near(b, a))/float64(total[b]))
}

// shownIndex returns the index of a pattern, given its participating places.
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

func leastIndex(patterns []Pattern) float64 {
	least := 1.0
	for _, p := range patterns {
		least = min(least, p.Index)
	}
	return least
}
