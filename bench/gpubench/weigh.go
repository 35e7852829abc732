package gpubench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/bench/weighbench"
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

// tryWeigh compares the weights of a method with the sequential ones, to the bit.
func tryWeigh(m weigh.Method, given bool) func(t *check.Trial) error {
	return func(t *check.Trial) error {
		return weighbench.Folder(func(dir string) error {
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
	path, err := weighbench.TextFile(t.Ctx, dir, size, 0)
	if err != nil {
		return err
	}
	an, err := weighbench.Analyzer()
	if err != nil {
		return err
	}
	want, err := weigh.Weigh(t.Ctx, weighbench.Corpus(path), weigh.Options{Analyzer: an, Method: weigh.Sequential})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, want.Close()) }()
	o := weigh.Options{Analyzer: an, Method: m}
	if given {
		if o.Dict, err = weighbench.DictionaryOf(t.Ctx, want, dict.XBW, 2); err != nil {
			return err
		}
	}
	corpus, err := weigh.PinCorpus(t.Ctx, weighbench.Corpus(path),
		weigh.Options{Analyzer: an, Threads: 2, Device: t.Dev.Which(0)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, corpus.Free()) }()
	w, err := weigh.NewWeigher(corpus, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Free()) }()
	for range 2 { // the second run reuses the memory of the first
		if err := w.Weigh(t.Ctx); err != nil {
			return err
		}
	}
	return sameWeights(t, fmt.Sprintf("%v of %d bytes", m, size), w.Weights(), want)
}

// columns returns weights as lists: the words, each with a newline after it, and three numbers for
// each pair: document, frequency and bits of the weight.
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

// wanted returns a figure with a bound on its seconds.
func wanted(name string, items int, seconds, median, most float64, text string) check.Bench {
	met := seconds <= most
	return check.Bench{Name: name, Items: items, Seconds: seconds, Median: median, Wanted: text, Met: &met}
}

// atLeast returns a figure of a speedup, with a lower bound.
func atLeast(name string, seconds, of, times float64) check.Bench {
	met := of >= times*seconds
	return check.Bench{Name: fmt.Sprintf("%s: %.1fx", name, of/seconds), Seconds: seconds,
		Wanted: fmt.Sprintf("%gx", times), Met: &met}
}

// measureWeigh measures the weights of 500 MB of text, from CPU memory to CPU memory, and building
// an index.
func measureWeigh(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	size, rounds := int64(500e6), 5
	sizeName, largeName := "500 MB", "3 GB" // sizes in the names of figures
	if quick {
		size, rounds = 20e3, 1
		sizeName, largeName = "20 kB", "120 kB"
	}
	err = weighbench.Folder(func(dir string) (err error) {
		path, err := weighbench.TextFile(ctx, dir, size, 0)
		if err != nil {
			return err
		}
		an, err := weighbench.Analyzer()
		if err != nil {
			return err
		}
		corpus, err := weigh.PinCorpus(ctx, weighbench.Corpus(path), weigh.Options{Analyzer: an, Device: dev.Which(0)})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, corpus.Free()) }()
		var words *dict.File
		var read weighbench.Time
		threads := runtime.GOMAXPROCS(0)
		ours, _, err := weighbench.OnGPU(ctx, corpus, weigh.Options{}, rounds, func(w *weigh.Weigher) (err error) {
			if read, err = weighbench.Reading(ctx, w.Weights(), threads, rounds); err != nil {
				return err
			}
			words, err = weighbench.DictionaryOf(ctx, w.Weights(), dict.XBW, 1)
			return err
		})
		if err != nil {
			return err
		}
		ppd, ppdSteps, err := weighbench.OnGPU(ctx, corpus,
			weigh.Options{Method: weigh.Dictionary, Dict: words, Profile: true}, rounds, nil)
		if err != nil {
			return err
		}
		pp, ppSteps, err := weighbench.OnGPU(ctx, corpus,
			weigh.Options{Method: weigh.Primitives, Profile: true}, min(rounds, 3), nil)
		if err != nil {
			return err
		}
		published, err := publishedPPD(ctx, dev, corpus, words, min(rounds, 3))
		if err != nil {
			return err
		}
		mrm, _, err := weighbench.OnGPU(ctx, corpus, weigh.Options{Method: weigh.MapReduce}, 1, nil)
		if err != nil {
			return err
		}
		mrp, err := weighbench.OnCPU(ctx, path,
			weigh.Options{Analyzer: an, Engine: engine.Multicore, Method: weigh.MapReduce,
				Threads: threads, Memory: 32e9}, min(rounds, 3))
		if err != nil {
			return err
		}
		auto, err := weighbench.OnCPU(ctx, path,
			weigh.Options{Analyzer: an, Engine: engine.Multicore, Threads: threads, Memory: 32e9},
			min(rounds, 3))
		if err != nil {
			return err
		}
		items := corpus.Words()
		out = append(out,
			wanted("weigh "+sizeName+": ours", items, ours.Best, ours.Median, 0.060, "60 ms"),
			wanted("weigh "+sizeName+": dictionary (PPD)", items, ppd.Best, ppd.Median, 0.120, "120 ms"),
			check.Bench{Name: "weigh " + sizeName + ": primitives (PP)", Items: items, Seconds: pp.Best, Median: pp.Median},
			check.Bench{Name: "weigh " + sizeName + ": PPD as published", Items: items,
				Seconds: published.Best, Median: published.Median},
			check.Bench{Name: "weigh " + sizeName + ": MapReduce on the GPU (MRM)", Items: items,
				Seconds: mrm.Best, Median: mrm.Median},
			check.Bench{Name: fmt.Sprintf("weigh %s: MapReduce on %d threads (MRP)", sizeName, threads),
				Items: items, Seconds: mrp.Best, Median: mrp.Median},
			check.Bench{Name: fmt.Sprintf("weigh: PPD as published against MRP: %.1fx (paper 5.0 to 5.1)", mrp.Best/published.Best), Items: items, Seconds: published.Best},
			check.Bench{Name: fmt.Sprintf("weigh: PPD as published against CPU auto: %.1fx", auto.Best/published.Best), Items: items, Seconds: published.Best},
			check.Bench{Name: fmt.Sprintf("weigh: PPD as published against PP: %.1fx (paper 3.8 to 4.5)", pp.Best/published.Best), Items: items, Seconds: published.Best},
			atLeast("weigh: PPD against PP", ppd.Best, pp.Best, 3),
			check.Bench{Name: fmt.Sprintf("weigh: PPD against PP without copies: %.1fx",
				onDevice(ppSteps)/onDevice(ppdSteps)), Items: items, Seconds: onDevice(ppdSteps)},
			check.Bench{Name: fmt.Sprintf("weigh %s: CPU auto, %d threads, which make the weights as they are read", sizeName, threads), Items: items, Seconds: auto.Best, Median: auto.Median},
			check.Bench{Name: fmt.Sprintf("weigh %s: reading the weights that ours left, %d threads", sizeName, threads), Items: items, Seconds: read.Best, Median: read.Median},
			atLeast("weigh: ours against CPU auto", ours.Best, auto.Best, 25))
		// Large enough that opening the device takes a small part of the time.
		large := 6 * size
		if path, err = weighbench.TextFile(ctx, dir, large, 0); err != nil {
			return err
		}
		build, err := timeIndex(ctx, dir, path, an)
		if err != nil {
			return err
		}
		b := wanted("index "+largeName+" from text to files", int(large), build, 0, float64(large)/1e9, "1 GB/s")
		b.Bytes, b.GBs = large, math.Round(float64(large)/build/1e7)/100
		out = append(out, b)
		return nil
	})
	return out, err
}

// publishedPPD measures PPD as published: in one piece, sorted by merging, with the papers'
// dictionary, which is copied to the device with the text.
func publishedPPD(ctx context.Context, dev *gpu.Device, corpus *weigh.PinnedCorpus,
	words *dict.File, rounds int) (t weighbench.Time, err error) {
	list := &dict.Words{}
	sorted := make([][]byte, words.Len())
	for id := range sorted {
		sorted[id] = words.Word(nil, uint32(id))
	}
	slices.SortFunc(sorted, bytes.Compare)
	for _, w := range sorted {
		if err := list.Add(w); err != nil {
			return t, err
		}
	}
	d, err := built(ctx, list, dict.XBWPaper)
	if err != nil {
		return t, err
	}
	return weighbench.Published(ctx, dev, corpus, d, rounds)
}

// onDevice returns the time of all steps except copies.
func onDevice(steps []weigh.Step) (seconds float64) {
	for _, s := range steps {
		if !strings.HasPrefix(s.Name, "copy") && !s.Beside {
			seconds += s.Time.Seconds()
		}
	}
	return seconds
}

// timeIndex measures building an index of a file with the GPU.
func timeIndex(ctx context.Context, dir, path string, an text.Analyzer) (best float64, err error) {
	best = math.Inf(1)
	for range 2 {
		start := time.Now()
		err := index.Build(ctx, filepath.Join(dir, "index"), weighbench.Corpus(path), index.BuildOptions{
			Analyzer: an, Memory: 60e9, Engine: engine.GPU,
		})
		if err != nil {
			return 0, err
		}
		best = min(best, time.Since(start).Seconds())
	}
	return best, nil
}
