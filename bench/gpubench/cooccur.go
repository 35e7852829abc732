package gpubench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/collocate/collocate/bench/cooccurbench"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/text"
)

// cooccurJob compares and measures vocabularies and matrices of co-occurrence.
var cooccurJob = Job{
	Name: "cooccur",
	Suites: []check.Suite{
		{Name: "cooccur: counts", Run: tryCooccur(cooccur.Options{Window: 2, Weighting: cooccur.Count})},
		{Name: "cooccur: distances", Run: tryCooccur(cooccur.Options{Window: 10})},
		{Name: "cooccur: wide sums", Run: tryCooccur(cooccur.Options{Window: 40, Side: cooccur.Right})},
		{Name: "cooccur: windows beyond shared memory",
			Run: tryCooccur(cooccur.Options{Window: 3000, Weighting: cooccur.Count})},
		{Name: "cooccur: the paper's method",
			Run: tryCooccur(cooccur.Options{Window: 3, Weighting: cooccur.Count,
				Method: cooccur.Paper})},
	},
	Measure: measureCooccur,
}

// tryCooccur compares the GPU with the sequential engine, to the bit.
func tryCooccur(opt cooccur.Options) func(t *check.Trial) error {
	return func(t *check.Trial) (err error) {
		memory := int64(0)
		if t.Dev.Info().Emulated { // where clearing memory is slow
			memory = 32 << 20
		}
		g, err := cooccur.OpenGPU(t.Dev.Which(memory))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		dir, err := os.MkdirTemp("", "collocate-check-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		for _, n := range t.Sizes {
			path := filepath.Join(dir, "corpus.txt")
			if _, err := cooccurbench.Generate(t.Ctx, path, int64(min(n, 1_000_003))+1, 0); err != nil {
				return err
			}
			corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
			for _, minimum := range []uint64{1, 3} {
				vopt := cooccur.VocabularyOptions{MinCount: minimum}
				var want, got entries
				opt.Engine = engine.Sequential
				if _, _, err := cooccur.Make(t.Ctx, corpus, vopt, opt, want.begin); err != nil {
					return err
				}
				if _, _, err := g.Make(t.Ctx, corpus, vopt, opt, got.begin); err != nil {
					return err
				}
				if err := got.same(t, fmt.Sprintf("%d words at least %d times", n, minimum), &want); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// entries is a sink that keeps a vocabulary and a matrix.
type entries struct {
	words  []byte
	cols   []uint32
	values []float64
	ends   []int
}

func (e *entries) begin(v *cooccur.Vocabulary) (cooccur.Sink, error) {
	for id := range v.Len() {
		e.words = fmt.Appendf(append(e.words, v.Word(id)...), " %d\n", v.Count(id))
	}
	return e, nil
}

// Rows implements cooccur.Sink.
func (e *entries) Rows(r *cooccur.Rows) error {
	for _, end := range r.Ends {
		e.ends = append(e.ends, len(e.cols)+end)
	}
	e.cols = append(e.cols, r.Cols...)
	e.values = append(e.values, r.Values...)
	return nil
}

func (e *entries) same(t *check.Trial, what string, want *entries) error {
	ends := func(list []int) (out []int64) {
		for _, end := range list {
			out = append(out, int64(end))
		}
		return out
	}
	return errors.Join(
		check.Same(t, what+": vocabulary", e.words, want.words),
		check.Same(t, what+": rows", ends(e.ends), ends(want.ends)),
		check.Same(t, what+": columns", e.cols, want.cols), check.Same(t, what+": values", e.values, want.values))
}

// The size of the paper's corpus, and the time on its GPU without writing, as in our measurement.
const (
	paperTokens  = 719_000_000
	paperSeconds = 15.210
)

// measureCooccur measures whole jobs, from text in the page cache to the vocabulary and all rows in
// the host's memory.
func measureCooccur(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	// The best of many rounds counts: the host's part, reading pages and dividing rows, varies by
	// 20%.
	o := cooccurbench.Options{
		Tokens: paperTokens, Windows: []int{2}, Engines: []cooccurbench.Engine{cooccurbench.GPU, cooccurbench.Paper},
		Rounds: 12, Threads: runtime.GOMAXPROCS(0), Memory: 48e9, Weighting: cooccur.Count, Device: dev.Which(0),
	}
	if quick {
		o.Tokens, o.Rounds, o.Memory, o.Device.Memory = 2000, 1, 1e9, 32<<20
	}
	link, err := linkSpeed(ctx, dev, quick)
	if err != nil {
		return nil, err
	}
	rows, err := cooccurbench.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	once := o // a single round, as the cores take 50 times as long
	once.Engines, once.Rounds = []cooccurbench.Engine{cooccurbench.Multicore}, 1
	cpu, err := cooccurbench.Run(ctx, once)
	if err != nil {
		return nil, err
	}
	rows = append(rows, cpu...)
	o.Windows, o.Engines = []int{10}, o.Engines[:1]
	more, err := cooccurbench.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	rows = append(rows, more...)
	at := map[string]cooccurbench.Row{}
	for _, r := range rows {
		at[fmt.Sprint(r.Engine, r.Window)] = r
	}
	tokens := int(o.Tokens)
	for _, w := range []struct {
		window int
		most   float64
	}{{2, 1}, {10, 3}} {
		r := at[fmt.Sprint(cooccurbench.GPU, w.window)]
		out = append(out, wanted(fmt.Sprintf("cooccur: %d words, window %d", tokens, w.window),
			tokens, r.Seconds, 0, w.most, fmt.Sprintf("at most %g s", w.most)))
	}
	ours, paper, cores := at[fmt.Sprint(cooccurbench.GPU, 2)],
		at[fmt.Sprint(cooccurbench.Paper, 2)], at[fmt.Sprint(cooccurbench.Multicore, 2)]
	out = append(out,
		atLeast(fmt.Sprintf("cooccur: window 2 against %d cores", o.Threads), ours.Seconds, cores.Seconds, 15),
		atLeast("cooccur: the paper's method against the paper, both without writing", paper.Mean, paperSeconds, 10))
	speed := float64(ours.Crossed) / ours.Seconds
	met := speed >= link/2
	return append(out, check.Bench{
		Name: fmt.Sprintf("cooccur: window 2, text and rows that crossed, of the link's speed: %.0f%%", 100*speed/link), Seconds: ours.Seconds,
		Bytes: ours.Crossed, GBs: float64(int(speed/1e8)) / 10, Wanted: "at least 50%", Met: &met,
	}), nil
}

// linkSpeed measures the speed of a copy from pinned memory to the device, in bytes a second.
func linkSpeed(ctx context.Context, dev *gpu.Device, quick bool) (_ float64, err error) {
	size := 64 << 20
	if quick {
		size = 1 << 20
	}
	s, err := dev.NewStream()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Free()) }()
	from, err1 := gpu.AllocPinned[uint8](dev, size)
	defer func() { err = errors.Join(err, from.Free()) }()
	to, err2 := gpu.Alloc[uint8](dev, size)
	defer func() { err = errors.Join(err, to.Free()) }()
	if err := errors.Join(err1, err2); err != nil {
		return 0, err
	}
	best := time.Hour
	for range 5 {
		start := time.Now()
		if err := errors.Join(to.CopyIn(s, from), s.Sync(ctx)); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return float64(size) / best.Seconds(), nil
}
