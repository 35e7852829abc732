package weigh

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// Several devices share the documents and give the bits of one core: whether a device gets nothing,
// a word is in the documents of one device or of all, or one device must spill.
func TestSeveralGPUsWeigh(t *testing.T) {
	device := onGPU(t)
	little := engine.Device{Memory: gpuMethods[Inverting].need(0, 0, 0) + 300_000}
	defer func(n uint64) { gpuBlock = n }(gpuBlock)
	gpuBlock = 3 // some words have more postings
	for _, c := range []struct {
		name    string
		docs    []text.Document
		also    []engine.Device
		spilled int // least number of runs in files
	}{
		{"two", documentsOf(31, 90, slices.Repeat([]int{9, 0, 30, 2}, 8/trials.Every(4))...), []engine.Device{device}, 0},
		{"one document", documentsOf(32, 20, 7), []engine.Device{device}, 0},
		{"no documents", nil, []engine.Device{device}, 0},
		{"no words", texts("", " ", ""), []engine.Device{device}, 0},
		{"one has little memory", documentsOf(33, 400, slices.Repeat([]int{40, 0, 130, 7}, 24)...),
			[]engine.Device{little, device}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.spilled > 0 {
				t.Skip("many documents in the interpreter")
			}
			want := weightsOf(t, weighAll(t, c.docs, Options{Method: Sequential}, 1), 1)
			methods := []Method{Auto}
			if c.name == "two" {
				methods = onGPUMethods
			}
			for _, m := range methods {
				w := weighAll(t, c.docs, Options{Method: m, Engine: engine.GPU, Device: device, Also: c.also,
					Threads: 3, Profile: true, TempDir: t.TempDir()}, 5)
				same(t, weightsOf(t, w, 3), want)
				same(t, weightsOf(t, w, 1), want) // they can be read again
				if len(want) > 0 && len(w.Steps()) < 4 {
					t.Errorf("%v: the profile has the steps %v, want at least 4", m, w.Steps())
				}
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
			rows, lengths := invertPlainly(t, c.docs, analyzer(t, "whitespace"))
			var said strings.Builder
			v, err := invertGPU(t.Context(), shuffled(c.docs, 2, 2, 4), &InvertOptions{
				Analyzer: analyzer(t, "whitespace"), Threads: 2, Memory: defaultMemory, Engine: engine.GPU, Device: device,
				Also: c.also, TempDir: t.TempDir(), log: slog.New(slog.NewTextHandler(&said, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := collect(t, v, 3); !slices.Equal(got, rows) || !slices.Equal(v.Lengths(), lengths) {
				t.Errorf("%d rows, or lengths, differ from the expected %d rows", len(got), len(rows))
			}
			spilled := 0
			for _, r := range v.runs {
				if r.spilled != nil {
					spilled++
				}
			}
			if spilled < c.spilled || c.spilled == 0 && spilled > 0 {
				t.Errorf("%d of %d runs are in files, want %d", spilled, len(v.runs), c.spilled)
			}
			// The log says what each device did. Together that is everything.
			filled, words := 0, 0
			for _, line := range strings.Split(strings.TrimSpace(said.String()), "\n") {
				var docs, some int
				if _, err := fmt.Sscanf(line[strings.Index(line, "documents="):], "documents=%d words=%d", &docs, &some); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				filled, words = filled+docs, words+some
			}
			for _, n := range lengths {
				if n > 0 {
					filled--
				}
				words -= int(n)
			}
			if strings.Count(said.String(), "\n") != 1+len(c.also) || filled != 0 || words != 0 {
				t.Errorf("the log is %q: %d documents and %d words too many", said.String(), filled, words)
			}
			if err := v.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Words that are passed over because they are too rare may fill whole blocks of postings.
func TestReadersPassOverBlocks(t *testing.T) {
	device := onGPU(t)
	defer func(n uint64) { gpuBlock = n }(gpuBlock)
	gpuBlock = 2
	docs := texts("a b c d e f g h z", "z", "a z")
	v, err := invertGPU(t.Context(), shuffled(docs, 1, 1, 4), &InvertOptions{Analyzer: analyzer(t, "whitespace"),
		Threads: 1, Memory: defaultMemory, Engine: engine.GPU, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var got []string
	for term, err := range v.PartsWith(t.Context(), 1, func(df int) bool { return df > 1 })[0] {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(string(term.Word), term.Docs))
	}
	if want := []string{"a[0 2]", "z[0]", "z[1 2]"}; !slices.Equal(got, want) {
		t.Errorf("the words are %q, want %q", got, want)
	}
}

// The first error, of the corpus or a device, ends the work on all devices and says which it is.
func TestSeveralGPUsFailToWeigh(t *testing.T) {
	device := onGPU(t)
	docs := documentsOf(34, 50, 9, 4, 0, 30)
	try := func(ctx context.Context, each batches, o Options) error {
		o.Engine, o.Threads, o.Analyzer, o.Device = engine.GPU, 2, analyzer(t, "whitespace"), device
		w, err := weigh(ctx, each, o)
		if err == nil {
			w.Close()
		}
		return err
	}
	all := shuffled(docs, 2, 1, 1)
	for text, also := range map[string]engine.Device{
		"GPU 99: no GPU":       {Ordinal: 99},
		"GPU 0: method invert": {Memory: 1 << 10},
	} {
		if err := try(t.Context(), all, Options{Also: []engine.Device{also}}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want an error with %q", err, text)
		}
		if _, err := invertGPU(t.Context(), all, &InvertOptions{Analyzer: analyzer(t, "whitespace"), Threads: 2,
			Memory: defaultMemory, Engine: engine.GPU, Device: device, Also: []engine.Device{also}}); err == nil ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("inverted: %v, want an error with %q", err, text)
		}
	}
	failed := errors.New("failed")
	broken := func(ctx context.Context, fn func(int, *text.Batch) error) error {
		return errors.Join(all(ctx, fn), failed)
	}
	if err := try(t.Context(), broken, Options{Also: []engine.Device{device}}); !errors.Is(err, failed) {
		t.Errorf("a corpus that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := func(ctx context.Context, fn func(int, *text.Batch) error) error {
		defer cancel()
		return all(ctx, fn)
	}
	if err := try(ctx, cancelled, Options{Also: []engine.Device{device}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	corpus := &text.Corpus{Paths: []string{"none"}}
	if _, err := Weigh(t.Context(), corpus, Options{Also: []engine.Device{device}}); err == nil ||
		!strings.Contains(err.Error(), "several devices need engine gpu, not auto") {
		t.Errorf("several devices with auto: %v", err)
	}
	if _, err := Invert(t.Context(), corpus, InvertOptions{Engine: engine.Multicore, Also: []engine.Device{device}}); err == nil ||
		!strings.Contains(err.Error(), "several devices need engine gpu, not multicore") {
		t.Errorf("several devices with multicore: %v", err)
	}
}
