package gpubench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/collocate/collocate/bench/cooccurbench"
	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// severalJob compares jobs that two devices share with the CPU, and measures them beside one
// device. Two contexts on one GPU stand for two devices: that shows what sharing costs, not what a
// second GPU gains.
var severalJob = Job{
	Name:    "several GPUs",
	Suites:  severalSuites(),
	Measure: measureSeveral,
}

// sharedJob is a job that several devices can share.
type sharedJob struct {
	name  string
	most  int // items of the largest comparison on a device
	items int // to measure
	// prepare makes an input of n items, with files in dir. The job runs on cores if there are no
	// devices. It returns its result if that is wanted, as it is for comparisons.
	prepare func(ctx context.Context, dir string, n int) (func(on sharers, wanted bool) ([]byte, error), error)
}

// sharers are the devices of a job.
type sharers []engine.Device

func (s sharers) engine() engine.Kind {
	if len(s) == 0 {
		return engine.Multicore
	}
	return engine.GPU
}

func (s sharers) first() (d engine.Device) {
	if len(s) > 0 {
		d = s[0]
	}
	return d
}

func (s sharers) also() []engine.Device {
	if len(s) < 2 {
		return nil
	}
	return s[1:]
}

// onContexts returns n contexts on one device as devices. Each has a share of most of its memory.
func onContexts(dev *gpu.Device, n int) (sharers, error) {
	memory := int64(64 << 20)
	if !dev.Info().Emulated {
		free, _, err := dev.MemInfo()
		if err != nil {
			return nil, err
		}
		memory = free / 10 * 8 / int64(n)
	}
	all := make(sharers, n)
	for i := range all {
		all[i] = dev.Which(memory)
	}
	return all, nil
}

var sharedJobs = []sharedJob{
	{"cooccur", 1_000_003, 100_000_000, shareCooccur},
	{"weigh", 1_000_003, 100_000_000, shareWeigh},
	{"index", 1_000_003, 100_000_000, shareIndex},
	{"places", 100_003, 200_000, sharePlaces},
	{"curves", 10_000, 50_000, shareCurves},
	{"co-occurrence of points", 100_003, 1_000_000, shareCoOccurrence},
	{"enrichment", 30_000, 1_000_000, shareEnrichment},
	{"dict", 1_000_003, 100_000_000, shareDict},
}

func severalSuites() (list []check.Suite) {
	for _, j := range sharedJobs {
		list = append(list, check.Suite{Name: "several GPUs: " + j.name, Run: func(t *check.Trial) error {
			return weighbench.Folder(func(dir string) error {
				for _, n := range t.Sizes {
					if err := j.compare(t, dir, min(n, j.most)); err != nil {
						return err
					}
				}
				return nil
			})
		}})
	}
	return list
}

// compare compares the result of two devices with that of the cores.
func (j *sharedJob) compare(t *check.Trial, dir string, n int) error {
	run, err := j.prepare(t.Ctx, dir, n)
	if err != nil {
		return err
	}
	want, err := run(nil, true)
	if err != nil {
		return err
	}
	two, err := onContexts(t.Dev, 2)
	if err != nil {
		return err
	}
	got, err := run(two, true)
	if err != nil {
		return err
	}
	return check.Same(t, fmt.Sprintf("%s of %d items", j.name, n), got, want)
}

// measureSeveral measures each job on one context and on two that share it, with the time to open
// the device.
func measureSeveral(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	err = weighbench.Folder(func(dir string) error {
		for _, j := range sharedJobs {
			n, rounds := j.items, 3
			if quick {
				n, rounds = min(j.items, 300), 1
			}
			run, err := j.prepare(ctx, dir, n)
			if err != nil {
				return err
			}
			var seconds [2]float64
			for i := range seconds {
				on, err := onContexts(dev, 1+i)
				if err != nil {
					return err
				}
				seconds[i] = math.Inf(1)
				for range rounds {
					start := time.Now()
					if _, err := run(on, false); err != nil {
						return fmt.Errorf("%s: %w", j.name, err)
					}
					seconds[i] = min(seconds[i], time.Since(start).Seconds())
				}
			}
			out = append(out,
				check.Bench{Name: fmt.Sprintf("several GPUs: %s of %d items, 1 context", j.name, n), Items: n, Seconds: seconds[0]},
				check.Bench{Name: fmt.Sprintf("several GPUs: %s of %d items, 2 contexts: %.2fx", j.name, n,
					seconds[0]/seconds[1]), Items: n, Seconds: seconds[1]})
		}
		return nil
	})
	return out, err
}

// sharedText writes a text of n words and returns it as a corpus of lines.
func sharedText(ctx context.Context, dir string, n int) (*text.Corpus, error) {
	path := filepath.Join(dir, "shared.txt")
	if _, err := cooccurbench.Generate(ctx, path, int64(n)+1, 0); err != nil {
		return nil, err
	}
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}, nil
}

// sharedMemory is the bound on the host's memory in all jobs.
const sharedMemory = 16e9

func shareCooccur(ctx context.Context, dir string, n int) (func(sharers, bool) ([]byte, error), error) {
	corpus, err := sharedText(ctx, dir, n)
	return func(on sharers, wanted bool) ([]byte, error) {
		vocabulary := cooccur.VocabularyOptions{MinCount: 2, Memory: sharedMemory,
			Engine: on.engine(), Device: on.first(), Also: on.also()}
		o := cooccur.Options{Window: 5, Memory: sharedMemory, Engine: on.engine(), Device: on.first(), Also: on.also()}
		var got entries
		_, _, err := cooccur.Make(ctx, corpus, vocabulary, o, func(v *cooccur.Vocabulary) (cooccur.Sink, error) {
			if wanted {
				return got.begin(v)
			}
			return noRows{}, nil
		})
		return fmt.Appendln(got.words, got.ends, got.cols, got.values), err
	}, err
}

// noRows is a sink that keeps nothing.
type noRows struct{}

func (noRows) Rows(*cooccur.Rows) error { return nil }

func shareWeigh(ctx context.Context, dir string, n int) (func(sharers, bool) ([]byte, error), error) {
	corpus, err := sharedText(ctx, dir, n)
	return func(on sharers, wanted bool) (_ []byte, err error) {
		w, err := weigh.Weigh(ctx, corpus, weigh.Options{Memory: sharedMemory, Engine: on.engine(),
			Device: on.first(), Also: on.also()})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		if !wanted { // only read
			_, err := w.Write(ctx, io.Discard, weigh.None, runtime.GOMAXPROCS(0))
			return nil, err
		}
		words, numbers, err := columns(ctx, w)
		return fmt.Append(words, numbers), err
	}, err
}

func shareIndex(ctx context.Context, dir string, n int) (func(sharers, bool) ([]byte, error), error) {
	corpus, err := sharedText(ctx, dir, n)
	return func(on sharers, wanted bool) (all []byte, err error) {
		out := filepath.Join(dir, "shared.index")
		err = index.Build(ctx, out, corpus, index.BuildOptions{Memory: sharedMemory, Engine: on.engine(),
			Device: on.first(), Also: on.also()})
		if err != nil || !wanted {
			return nil, err
		}
		for _, name := range []string{"terms", "postings"} {
			file, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				return nil, err
			}
			all = append(all, file...)
		}
		return all, nil
	}, err
}

// shareDict looks up n words in a dictionary of at most a million.
func shareDict(ctx context.Context, _ string, n int) (func(sharers, bool) ([]byte, error), error) {
	w, err := weighbench.Words(min(n, 1_000_000) + 1)
	if err != nil {
		return nil, err
	}
	d, err := built(ctx, w, dict.XBW)
	text := weighbench.DrawText(w, n, 1, true)
	return func(on sharers, wanted bool) (_ []byte, err error) {
		if len(on) == 0 {
			ids, err := d.IDs(ctx, text, dict.LookUpOptions{})
			return fmt.Append(nil, ids), err
		}
		g, err := d.OpenGPU(on[0], on[1:]...)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, g.Close()) }()
		ids, err := g.IDs(ctx, text)
		if err != nil || !wanted {
			return nil, err
		}
		return fmt.Append(nil, ids), nil
	}, err
}

// sharedPoints returns n points of 12 features, of which each has about 8 neighbours within 1.
func sharedPoints(n int) *points.Set {
	return placesbench.Clustered(n, 12, placesbench.SideFor(max(n, 1), 8, 1))
}

// sharedStatistic is a job of package points.
func sharedStatistic(n int, do func(pts *points.Set, on points.Engine) (any, error)) func(sharers, bool) ([]byte, error) {
	pts := sharedPoints(max(n, 100)) // curves need some extent
	return func(on sharers, _ bool) ([]byte, error) {
		got, err := do(pts, points.Engine{Kind: on.engine(), Device: on.first(), Also: on.also()})
		return fmt.Appendf(nil, "%b", got), err
	}
}

func sharePlaces(ctx context.Context, _ string, n int) (func(sharers, bool) ([]byte, error), error) {
	pts := sharedPoints(n)
	return func(on sharers, _ bool) ([]byte, error) {
		got, err := coloc.Mine(ctx, pts, coloc.Options{Distance: 1.2, MinPrevalence: 0.1, Memory: sharedMemory,
			Engine: on.engine(), Device: on.first(), Also: on.also()})
		if err != nil {
			return nil, err
		}
		return fmt.Append(nil, patternNumbers(got)), nil
	}, nil
}

func shareCurves(ctx context.Context, _ string, n int) (func(sharers, bool) ([]byte, error), error) {
	rounds := 399
	if n < 5000 {
		rounds = 3
	}
	return sharedStatistic(n, func(pts *points.Set, on points.Engine) (any, error) {
		return points.Curves(ctx, pts, points.CurveOptions{Most: 1.2, Bins: 20, Rounds: rounds, Engine: on})
	}), nil
}

func shareCoOccurrence(ctx context.Context, _ string, n int) (func(sharers, bool) ([]byte, error), error) {
	return sharedStatistic(n, func(pts *points.Set, on points.Engine) (any, error) {
		got, err := points.CoOccurrences(ctx, pts, points.CoOccurrenceOptions{Most: 6, Steps: 25, Engine: on,
			Memory: sharedMemory})
		if err != nil {
			return nil, err
		}
		return *got, nil
	}), nil
}

func shareEnrichment(ctx context.Context, _ string, n int) (func(sharers, bool) ([]byte, error), error) {
	rounds := 99
	if n < 5000 {
		rounds = 3
	}
	return sharedStatistic(n, func(pts *points.Set, on points.Engine) (any, error) {
		got, err := points.Enrich(ctx, pts, points.EnrichmentOptions{KNN: 6, Rounds: rounds, Engine: on,
			Memory: sharedMemory})
		if err != nil {
			return nil, err
		}
		return *got, nil
	}), nil
}
