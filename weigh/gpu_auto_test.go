package weigh

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// Opening a device takes longer than weighing a small corpus on CPU cores, or a larger one on many.
func TestAutoTakesTheGPUWhereItWins(t *testing.T) {
	for _, c := range []struct {
		bytes   int64
		threads int
		pays    bool
	}{
		{10e6, 1, false}, {80e6, 1, false}, {200e6, 1, true}, {100e6, 4, false}, {1e9, 4, true},
		{500e6, 16, false}, {1e9, 16, false}, {5e9, 16, true}, {5e9, 64, false}, {500e9, 1, true},
	} {
		if got := gpuPays(c.bytes, c.threads); got != c.pays {
			t.Errorf("%+v: the GPU pays: %v; estimated %v on the cores and %v on the GPU", c, got,
				coresTime(c.bytes, c.threads), gpuTime(c.bytes, c.threads))
		}
	}
}

// The choice depends on the size of the files. Auto uses the cores if a size is unknown, or if the
// user names an engine or a method.
func TestAutoKnowsTheCorpus(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "inner"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "inner/b.txt"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(100e9), f.Close()); err != nil { // sparse: takes no space
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		paths  []string
		engine engine.Kind
		method Method
		want   bool
	}{
		{[]string{dir}, engine.Auto, Auto, true},
		{[]string{filepath.Join(dir, "a.txt")}, engine.Auto, Auto, true},
		{[]string{dir}, engine.Multicore, Auto, false},
		{[]string{dir}, engine.Auto, MapReduce, false},
		{[]string{dir, "-"}, engine.Auto, Auto, false},
		{[]string{os.DevNull}, engine.Auto, Auto, false},
		{nil, engine.Auto, Auto, false},
	} {
		if got := autoGPU(c.engine, c.method, &text.Corpus{Paths: c.paths}, 1); got != c.want {
			t.Errorf("%+v: uses the GPU: %v", c, got)
		}
	}
	if bytes, _ := corpusBytes(&text.Corpus{Paths: []string{dir}}); bytes != 200e9 {
		t.Errorf("the folder has %d bytes, want 200e9", bytes)
	}
}

// If the GPU fails, auto logs why and uses the cores. It never uses the PTX interpreter by itself.
func TestAutoFallsBackToTheCores(t *testing.T) {
	device := onGPU(t)
	defer func() { autoEmulated = false }()
	docs := documentsOf(21, 60, 20, 0, 7, 40)
	want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	rows, _ := invertPlainly(t, docs, analyzer(t, "whitespace"))
	for _, c := range []struct {
		emulated bool
		device   engine.Device
		engine   engine.Kind
		why      string // part of each of the two messages
	}{
		{true, device, engine.GPU, ""},
		{false, device, engine.Multicore, "interpreter"},
		{true, engine.Device{Ordinal: 99}, engine.Multicore, "no GPU"},
		{true, engine.Device{Memory: 1 << 10}, engine.Multicore, "GPU"},
	} {
		if os.Getenv("COLLOCATE_TEST_GPU") != "" && !c.emulated {
			continue // a real GPU is used
		}
		autoEmulated = c.emulated
		var said strings.Builder
		log := slog.New(slog.NewTextHandler(&said, nil))
		w := weighAll(t, docs, Options{Device: c.device, gpuAuto: true, log: log}, 1)
		same(t, weightsOf(t, w, 2), want)
		if w.Engine() != c.engine {
			t.Errorf("%+v: weighed by %v, want %v", c, w.Engine(), c.engine)
		}
		seen := 0
		v, err := invertBy(t.Context(), shuffled(docs, 1, 2, 4), &InvertOptions{
			Analyzer: analyzer(t, "whitespace"), Threads: 1, Memory: defaultMemory, Device: c.device, gpuAuto: true, log: log,
			Visit: func(int, *text.Batch) error { seen++; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		onDevice := v.runs[0].device != nil
		if got := collect(t, v, 2); !slices.Equal(got, rows) || seen == 0 ||
			onDevice != (c.engine == engine.GPU) {
			t.Errorf("%+v: %d rows, want %d; %d batches seen; on the device: %v", c, len(got),
				len(rows), seen, onDevice)
		}
		messages := strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		isReason := func(m string) bool {
			return strings.Contains(m, "not on a GPU") && strings.Contains(m, c.why)
		}
		if c.why == "" && said.Len() > 0 ||
			c.why != "" && (len(messages) != 2 || !isReason(messages[0]) || !isReason(messages[1])) {
			t.Errorf("%+v: the log is %q, want %q once for Weigh and once for Invert", c, messages, c.why)
		}
		if err := errors.Join(v.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}
}
