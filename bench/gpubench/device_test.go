package gpubench

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/weigh"
)

// BenchmarkWeighSteps prints the times of the steps of every method of weigh on a real GPU, by
// events, for a text of COLLOCATE_PROFILE_MB megabytes (default 500).
func BenchmarkWeighSteps(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	dev, _ := gputest.Device(b)
	size := int64(500e6)
	if mb := os.Getenv("COLLOCATE_PROFILE_MB"); mb != "" {
		var n int64
		if _, err := fmt.Sscan(mb, &n); err != nil {
			b.Fatal(err)
		}
		size = n * 1e6
	}
	start := time.Now()
	lap := func(what string) {
		b.Logf("(%s: %.2f s)", what, time.Since(start).Seconds())
		start = time.Now()
	}
	path, err := weighbench.TextFile(b.Context(), b.TempDir(), size, 0)
	if err != nil {
		b.Fatal(err)
	}
	lap("text")
	an, err := weighbench.Analyzer()
	if err != nil {
		b.Fatal(err)
	}
	corpus, err := weigh.PinCorpus(b.Context(), weighbench.Corpus(path), weigh.Options{Analyzer: an, Device: dev.Which(0)})
	if err != nil {
		b.Fatal(err)
	}
	defer corpus.Free()
	lap("pinned")
	b.Logf("%d words", corpus.Words())
	var words *dict.File
	for _, c := range []struct {
		name  string
		o     weigh.Options
		given bool
	}{
		{"ours", weigh.Options{}, false}, {"dictionary, none given", weigh.Options{Method: weigh.Dictionary}, false},
		{"dictionary", weigh.Options{Method: weigh.Dictionary}, true},
		{"primitives", weigh.Options{Method: weigh.Primitives}, false},
		{"mapreduce", weigh.Options{Method: weigh.MapReduce}, false},
	} {
		c.o.Profile = true
		if c.given {
			c.o.Dict = words
		}
		best, steps, err := weighbench.OnGPU(b.Context(), corpus, c.o, 3, func(w *weigh.Weigher) (err error) {
			if words == nil {
				words, err = weighbench.DictionaryOf(b.Context(), w.Weights(), dict.XBW, 1)
			}
			return err
		})
		if err != nil {
			b.Errorf("%s: %v", c.name, err)
			continue
		}
		b.Logf("%s: best %.3f ms, median %.3f ms", c.name, best.Best*1e3, best.Median*1e3)
		for _, s := range steps {
			b.Logf("    %-14s %8.3f ms", s.Name, s.Time.Seconds()*1e3)
		}
		lap(c.name)
	}
	auto, err := weighbench.OnCPU(b.Context(), path,
		weigh.Options{Analyzer: an, Threads: runtime.GOMAXPROCS(0), Memory: 32e9}, 2)
	if err != nil {
		b.Error(err)
	}
	b.Logf("CPU auto: %.1f ms", auto.Best*1e3)
	lap("auto")
	size *= 6
	if path, err = weighbench.TextFile(b.Context(), b.TempDir(), size, 0); err != nil {
		b.Fatal(err)
	}
	build, err := timeIndex(b.Context(), b.TempDir(), path, an)
	if err != nil {
		b.Error(err)
	}
	b.Logf("index: %.1f ms, %.2f GB/s", build*1e3, float64(size)/build/1e9)
	lap("index")
}

// BenchmarkLookUps prints the times of look-ups on a real GPU.
func BenchmarkLookUps(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	dev, _ := gputest.Device(b)
	n, lookups := 10_000_000, 100_000_000
	if v := os.Getenv("COLLOCATE_PROFILE_WORDS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	lap := func(what string) {
		b.Logf("(%s: %.2f s)", what, time.Since(start).Seconds())
		start = time.Now()
	}
	w, err := weighbench.Words(n)
	if err != nil {
		b.Fatal(err)
	}
	lap("words")
	freq, unif := weighbench.DrawText(w, lookups, 1, true), weighbench.DrawText(w, lookups, 1, false)
	lap("texts")
	kinds := []dict.Kind{dict.XBW, dict.XBWPlain}
	if n <= 1_000_000 {
		kinds = append(kinds, dict.XBWPaper, dict.STT)
	}
	for _, k := range kinds {
		d, err := built(b.Context(), w, k)
		if err != nil {
			b.Log(err)
			continue
		}
		lap("build")
		g, err := d.OpenGPU(dev.Which(0))
		if err != nil {
			b.Fatal(err)
		}
		for name, text := range map[string]*dict.Text{"frequent": freq, "uniform": unif} {
			l, err := g.Time(b.Context(), text, lookups)
			if err != nil {
				b.Fatal(err)
			}
			b.Logf("%v %s: %v, with cache %v", k, name, l.Plain, l.Cached)
		}
		if err := g.Close(); err != nil {
			b.Fatal(err)
		}
		lap(k.String())
	}
}

// BenchmarkVectors prints the figures of vectors on a real GPU.
func BenchmarkVectors(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	dev, _ := gputest.Device(b)
	list, err := measureVectors(b.Context(), dev, false)
	for _, x := range list {
		b.Logf("%-60s %s %.4f s", x.Name, x.Rate(), x.Seconds)
	}
	if err != nil {
		b.Fatal(err)
	}
}
