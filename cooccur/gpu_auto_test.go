package cooccur

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// The estimate of the cores' time exceeds twice the time to open a device only for large jobs.
func TestAutoTakesTheGPUWhereItWins(t *testing.T) {
	for _, c := range []struct {
		bytes   int64
		count   bool
		window  int
		threads int
		pays    bool
	}{
		{1e6, true, 15, 1, false},
		{100e6, true, 15, 16, false},
		{100e6, true, 15, 1, true},
		{1e9, true, 0, 16, false}, // counting words is quick
		{1e9, true, 2, 16, false},
		{2e9, true, 2, 16, true},
		{1e9, true, 15, 16, true},
		{4e9, true, 0, 16, false},
		{20e9, true, 0, 16, true},
	} {
		took := coresTime(c.bytes, c.count, c.window, c.threads)
		if (took > 2*gpuOpening) != c.pays {
			t.Errorf("%+v: the cores' estimated time is %v, opening a GPU %v; GPU pays: want %v", c, took,
				gpuOpening, c.pays)
		}
	}
}

// Auto considers a GPU only if the size of the corpus is known and the device can find its words.
func TestAutoKnowsWhatTheGPUCanDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.txt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Repeat("words of text\n", textfile.HeadSize/8))
	if err := errors.Join(err, f.Truncate(100e9), f.Close()); err != nil { // a sparse file
		t.Fatal(err)
	}
	if !gpuPays(linesOf(path), nil, true, 2, 16) || !gpuPays(linesOf(path), analyzerNamed(t, "ascii"), false, 2, 16) {
		t.Error("100 GB of lines: auto takes the cores, want the GPU")
	}
	if gpuPays(linesOf(path), analyzerNamed(t, "english"), true, 2, 16) {
		t.Error("an analyzer that stems, which runs on the CPU: auto takes the GPU, want the cores")
	}
	if gpuPays(linesOf("-"), nil, true, 2, 16) {
		t.Error("standard input, whose size is unknown: auto takes the GPU, want the cores")
	}
	for _, c := range []struct {
		opt  Options
		pays bool
	}{
		{Options{Window: 2}, true}, {Options{Window: deviceWindow}, true},
		{Options{Window: deviceWindow + 1}, false}, {Options{Window: 2, Subsample: 1e-3}, false},
	} {
		j, err := newJob(vocabularyOf("a"), c.opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.paysOnGPU(linesOf(path), true); got != c.pays {
			t.Errorf("window %d, subsampling %v: auto takes the GPU: %v, want %v", c.opt.Window, c.opt.Subsample,
				got, c.pays)
		}
	}
	documents := linesOf(path)
	documents.Options.Format = text.Blank
	if gpuPays(documents, nil, true, 2, 16) {
		t.Error("paragraphs, which are found on the CPU: auto takes the GPU, want the cores")
	}
}

// If the GPU that auto chose is too small, auto logs it and the job runs on the cores. Auto never
// chooses the interpreter of kernels.
func TestAutoFallsBackToTheCores(t *testing.T) {
	t.Setenv("COLLOCATE_GPU", "emulator")
	corpus := corpusOf(t, zipfText(500, 60, 4))
	for name, c := range map[string]struct {
		auto   bool
		memory int64
		want   engine.Kind
		failed int // jobs that were tried on the GPU and failed
	}{
		"fits":        {true, 32 << 20, engine.GPU, 0},
		"too small":   {true, 1 << 10, engine.Multicore, 3},
		"interpreter": {false, 32 << 20, engine.Multicore, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			corpus.Options.Log = slog.New(slog.NewTextHandler(&log, nil))
			device := engine.Device{Memory: c.memory}
			vopt := VocabularyOptions{Threads: 1, Device: device, gpuAuto: c.auto}
			opt := Options{Window: 2, Threads: 1, Device: device, gpuAuto: c.auto}
			v, vs, err := CountWords(t.Context(), corpus, vopt)
			if err != nil {
				t.Fatal(err)
			}
			definition := opt
			definition.Engine = engine.Sequential
			want, wantStats := matrixFile(t, v, definition, func(o Options, sink Sink) (Stats, error) {
				return Matrix(t.Context(), corpus, v, o, sink)
			})
			got, stats := matrixFile(t, v, opt, func(o Options, sink Sink) (Stats, error) {
				return Matrix(t.Context(), corpus, v, o, sink)
			})
			made, madeStats := matrixFile(t, v, opt, func(o Options, sink Sink) (Stats, error) {
				_, stats, err := Make(t.Context(), corpus, vopt, o,
					func(*Vocabulary) (Sink, error) { return sink, nil })
				return stats, err
			})
			if vs.Engine != c.want || stats.Engine != c.want || madeStats.Engine != c.want {
				t.Errorf("auto took %v for CountWords, %v for Matrix and %v for Make, want %v",
					vs.Engine, stats.Engine, madeStats.Engine, c.want)
			}
			if n := strings.Count(log.String(), `"not on a GPU" error="`); n != c.failed {
				t.Errorf("%d jobs on the GPU are logged as failed, want %d: %s", n, c.failed, log.String())
			}
			stats.Engine, madeStats.Engine = wantStats.Engine, wantStats.Engine
			if !bytes.Equal(got, want) || !bytes.Equal(made, want) || stats != wantStats || madeStats != wantStats {
				t.Errorf("Matrix: same file %v, %+v; Make: same file %v, %+v; want %+v", bytes.Equal(got, want), stats,
					bytes.Equal(made, want), madeStats, wantStats)
			}
		})
	}
}
