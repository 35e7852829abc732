package gpubench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// weighJob compares and measures the weights of words.
var weighJob = Job{
	Name: "weigh",
	Suites: []check.Suite{
		{Name: "weigh: ours", Run: tryWeigh(weigh.Auto, false)},
		{Name: "weigh: mapreduce", Run: tryWeigh(weigh.MapReduce, false)},
		{Name: "weigh: primitives", Run: tryWeigh(weigh.Primitives, false)},
		{Name: "weigh: dictionary", Run: tryWeigh(weigh.Dictionary, false)},
		{Name: "weigh: given dictionary", Run: tryWeigh(weigh.Dictionary, true)},
	},
	Measure: measureWeigh,
}

// textFile writes a text of the papers' law to a file in dir.
func textFile(ctx context.Context, dir string, size int64) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%d.txt", size))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = datagen.Text(ctx, f, datagen.TextOptions{Bytes: size, Seed: 1})
	return path, errors.Join(err, f.Close())
}

// papersText is the corpus of a file of datagen's: documents between blank lines.
func papersText(path string) *text.Corpus {
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Blank}}
}

func whitespace() (text.Analyzer, error) { return text.ParseAnalyzer("whitespace") }

// tempDir runs f with a folder that is removed afterwards.
func tempDir(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "collocate-gpu-*")
	if err != nil {
		return err
	}
	return errors.Join(f(dir), os.RemoveAll(dir))
}

// tryWeigh compares a method with the sequential one, to the bit.
func tryWeigh(m weigh.Method, given bool) func(t *check.Trial) error {
	return func(t *check.Trial) error {
		return tempDir(func(dir string) error {
			for _, n := range t.Sizes {
				if n > 100_003 && m != weigh.Auto {
					continue
				}
				if err := tryWeighOf(t, dir, m, given, max(1, int64(4*n))); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func tryWeighOf(t *check.Trial, dir string, m weigh.Method, given bool, size int64) (err error) {
	path, err := textFile(t.Ctx, dir, size)
	if err != nil {
		return err
	}
	an, err := whitespace()
	if err != nil {
		return err
	}
	want, err := weigh.Weigh(t.Ctx, papersText(path), weigh.Options{Analyzer: an, Method: weigh.Sequential})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, want.Close()) }()
	o := weigh.Options{Analyzer: an, Method: m}
	if given {
		if o.Dict, err = dictionaryOf(t.Ctx, want, 2); err != nil {
			return err
		}
	}
	corpus, err := weigh.PinCorpus(t.Ctx, t.Dev, papersText(path), an, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, corpus.Free()) }()
	w, err := weigh.NewWeigher(t.Dev, corpus, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Free()) }()
	for range 2 { // the second time with the memory of the first
		if err := w.Weigh(t.Ctx); err != nil {
			return err
		}
	}
	return sameWeights(t, fmt.Sprintf("%v of %d bytes", m, size), w.Weights(), want)
}

// columns are weights as four lists: words with a newline behind each, then for all
// pairs document, frequency and bits of the weight.
func columns(ctx context.Context, w *weigh.Weights) (words []byte, numbers []uint32, err error) {
	for x, err := range w.Terms(ctx) {
		if err != nil {
			return nil, nil, err
		}
		words = append(append(words, x.Word...), '\n')
		for i, d := range x.Docs {
			numbers = append(numbers, d, x.TFs[i], math.Float32bits(x.Weights[i]))
		}
	}
	return words, numbers, nil
}

func sameWeights(t *check.Trial, what string, got, want *weigh.Weights) error {
	gotWords, gotNumbers, err := columns(t.Ctx, got)
	if err != nil {
		return err
	}
	wantWords, wantNumbers, err := columns(t.Ctx, want)
	if err != nil {
		return err
	}
	if err := check.Same(t, what+": words", gotWords, wantWords); err != nil {
		return err
	}
	return check.Same(t, what+": weights", gotNumbers, wantNumbers)
}

// dictionaryOf makes an xbw of every n-th word of a corpus.
func dictionaryOf(ctx context.Context, w *weigh.Weights, every int) (*dict.File, error) {
	words := &dict.Words{}
	i, left := 0, 0
	for x, err := range w.Terms(ctx) {
		if err != nil {
			return nil, err
		}
		if left == 0 {
			left = x.DF
			if i%every == 0 {
				if err := words.Add(x.Word); err != nil {
					return nil, err
				}
			}
			i++
		}
		left -= len(x.Docs)
	}
	var b bytes.Buffer
	if err := dict.Build(ctx, words, dict.Options{Kind: dict.XBW}, &b); err != nil {
		return nil, err
	}
	return dict.Parse(b.Bytes())
}

// wanted makes a bench with a bound on its seconds.
func wanted(name string, items int, seconds, median, most float64, text string) check.Bench {
	met := seconds <= most
	return check.Bench{Name: name, Items: items, Seconds: seconds, Median: median, Wanted: text, Met: &met}
}

// atLeast makes a bench of how many times faster one thing is than another.
func atLeast(name string, seconds, of, times float64) check.Bench {
	met := of >= times*seconds
	return check.Bench{Name: fmt.Sprintf("%s: %.1fx", name, of/seconds), Seconds: seconds, Wanted: fmt.Sprintf("%gx", times), Met: &met}
}

// measureWeigh measures the figures of the weights: 500 MB from CPU memory to CPU
// memory, and an index.
func measureWeigh(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	size, rounds := int64(500e6), 5
	if quick {
		size, rounds = 20e3, 1
	}
	err = tempDir(func(dir string) (err error) {
		path, err := textFile(ctx, dir, size)
		if err != nil {
			return err
		}
		an, err := whitespace()
		if err != nil {
			return err
		}
		corpus, err := weigh.PinCorpus(ctx, dev, papersText(path), an, 0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, corpus.Free()) }()
		m := weighMeasure{ctx: ctx, dev: dev, corpus: corpus, rounds: rounds}
		ours, oursMedian, err := m.time(weigh.Options{})
		if err != nil {
			return err
		}
		ppd, ppdMedian, err := m.time(weigh.Options{Method: weigh.Dictionary, Dict: m.dict})
		if err != nil {
			return err
		}
		m.rounds = min(rounds, 2)
		pp, ppMedian, err := m.time(weigh.Options{Method: weigh.Primitives})
		if err != nil {
			return err
		}
		auto, err := timeAuto(ctx, path, an)
		if err != nil {
			return err
		}
		items := corpus.Words()
		out = append(out,
			wanted("weigh 500 MB: ours", items, ours, oursMedian, 0.060, "60 ms"),
			wanted("weigh 500 MB: dictionary (PPD)", items, ppd, ppdMedian, 0.120, "120 ms"),
			check.Bench{Name: "weigh 500 MB: primitives (PP)", Items: items, Seconds: pp, Median: ppMedian},
			atLeast("weigh: PPD against PP", ppd, pp, 3),
			check.Bench{Name: fmt.Sprintf("weigh 500 MB: CPU auto, %d threads", runtime.GOMAXPROCS(0)), Items: items, Seconds: auto},
			atLeast("weigh: ours against CPU auto", ours, auto, 25))
		build, err := timeIndex(ctx, dir, path, an)
		if err != nil {
			return err
		}
		out = append(out, wanted("index from text to files, GPU", int(size), build, 0, float64(size)/1e9, "1 GB/s"))
		return nil
	})
	return out, err
}

type weighMeasure struct {
	ctx    context.Context
	dev    *gpu.Device
	corpus *weigh.PinnedCorpus
	rounds int
	dict   *dict.File // of all words, made by the first measurement
	steps  func(o weigh.Options, steps []weigh.Step)
}

// time weighs the corpus several times.
func (m *weighMeasure) time(o weigh.Options) (best, median float64, err error) {
	o.Profile = m.steps != nil
	w, err := weigh.NewWeigher(m.dev, m.corpus, o)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, w.Free()) }()
	var all []float64
	for i := range m.rounds + 1 {
		start := time.Now()
		if err := w.Weigh(m.ctx); err != nil {
			return 0, 0, err
		}
		if i > 0 { // the first one makes the buffers
			all = append(all, time.Since(start).Seconds())
		}
	}
	if m.steps != nil {
		m.steps(o, w.Steps())
	}
	if m.dict == nil {
		if m.dict, err = dictionaryOf(m.ctx, w.Weights(), 1); err != nil {
			return 0, 0, err
		}
	}
	best, median = bestAndMedian(all)
	return best, median, nil
}

// timeAuto weighs a file on the CPU's cores and reads all weights.
func timeAuto(ctx context.Context, path string, an text.Analyzer) (best float64, err error) {
	best = math.Inf(1)
	for range 2 {
		start := time.Now()
		w, err := weigh.Weigh(ctx, papersText(path), weigh.Options{Analyzer: an, Memory: 32e9})
		if err != nil {
			return 0, err
		}
		parts := w.Parts(ctx, 4*runtime.GOMAXPROCS(0))
		errs := make([]error, len(parts))
		var wg sync.WaitGroup
		for i, part := range parts {
			wg.Go(func() {
				for _, err := range part {
					if err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		wg.Wait()
		best = min(best, time.Since(start).Seconds())
		if err := errors.Join(append(errs, w.Close())...); err != nil {
			return 0, err
		}
	}
	return best, nil
}

// timeIndex builds an index of a file by way of the GPU.
func timeIndex(ctx context.Context, dir, path string, an text.Analyzer) (best float64, err error) {
	best = math.Inf(1)
	for range 2 {
		start := time.Now()
		err := index.Build(ctx, filepath.Join(dir, "index"), papersText(path), index.BuildOptions{
			Analyzer: an, Memory: 32e9, Engine: engine.GPU,
		})
		if err != nil {
			return 0, err
		}
		best = min(best, time.Since(start).Seconds())
	}
	return best, nil
}
