package weigh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// onGPU lets a test use a real GPU if COLLOCATE_TEST_GPU is set, and the PTX interpreter otherwise.
func onGPU(t *testing.T) engine.Device {
	t.Helper()
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		t.Setenv(gpu.EmulateEnv, "emulator")
	}
	return engine.Device{}
}

// onGPUSlowly is onGPU for tests that take some seconds in the interpreter.
func onGPUSlowly(t *testing.T) engine.Device {
	t.Helper()
	if testing.Short() {
		t.Skip("takes seconds in the interpreter")
	}
	return onGPU(t)
}

var onGPUMethods = []Method{Auto, MapReduce, Primitives, Dictionary}

// documentsOf returns documents with the given numbers of words. The words are short, long, common,
// rare and not UTF-8.
func documentsOf(seed uint64, vocabulary int, lengths ...int) []text.Document {
	rng := rand.New(rand.NewPCG(seed, 77))
	pool := []string{"a", "the", "eightbyt", "ninebytes", "exactlyfifteenb", "exactlysixteenbb",
		strings.Repeat("long", 300), "\xff\xfe", "\x00", "naïve"}
	for len(pool) < vocabulary {
		pool = append(pool, fmt.Sprintf("%x", rng.Uint64()>>(4*rng.IntN(16))))
	}
	docs := make([]text.Document, len(lengths))
	for i, n := range lengths {
		var b strings.Builder
		for range n {
			b.WriteString(pool[int(float64(len(pool))*rng.Float64()*rng.Float64()*rng.Float64())])
			b.WriteByte(' ')
		}
		docs[i] = text.Document{ID: fmt.Sprint(i), Text: []byte(b.String())}
	}
	return docs
}

func same(t *testing.T, got, want []weight) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("weight %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d weights, want %d", len(got), len(want))
	}
}

// Every method gives the same bits on the device as the sequential method, for documents of all
// length classes and empty ones.
func TestGPUWeighsTheSame(t *testing.T) {
	device := onGPU(t)
	for name, docs := range map[string][]text.Document{
		"mixed": documentsOf(1, 300, 0, 5, 1, 96, 97, 0, 200, 3, 1024/trials.Every(8), 1025/trials.Every(8), 30),
		"short": documentsOf(2, 50, slices.Repeat([]int{3, 1, 7}, 40/trials.Every(4))...),
		"one":   documentsOf(3, 20, 1),
	} {
		want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
		for _, m := range onGPUMethods {
			t.Run(fmt.Sprintf("%s/%v", name, m), func(t *testing.T) {
				w := weighAll(t, docs, Options{Method: m, Engine: engine.GPU, Device: device,
					Threads: 2, Profile: true}, 2)
				defer w.Close()
				same(t, weightsOf(t, w, 3), want)
				if len(w.Steps()) < 4 {
					t.Errorf("the profile has the steps %v, want at least 4", w.Steps())
				}
			})
		}
	}
}

// Documents with too many words for shared memory are counted in global memory.
func TestGPUCountsHugeDocuments(t *testing.T) {
	device := onGPUSlowly(t)
	docs := documentsOf(4, 6000, 10, 5000, 40_000, 2, 4501)
	want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	same(t, weightsOf(t, weighAll(t, docs, Options{Engine: engine.GPU, Device: device}, 1), 1), want)
}

// Gaps between documents and frequencies that are too large for the compact result are listed
// separately.
func TestGPUJumps(t *testing.T) {
	device := onGPUSlowly(t)
	docs := make([]text.Document, 210_000)
	for _, i := range []int{3, 4, 65_539, 65_540, 131_075, 131_077, 209_999} {
		docs[i].Text = []byte("a b c " + strings.Repeat("d ", i%5*200))
	}
	docs[4].Text, docs[65_540].Text = nil, []byte("b")
	o := Options{Method: Sequential, Threads: 1, Analyzer: analyzer(t, "whitespace")}
	try := func() []weight {
		w, err := weigh(t.Context(), shuffled(docs, o.Threads, 5000, 1), o)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return weightsOf(t, w, 2)
	}
	want := try()
	o.Engine, o.Device = engine.GPU, device
	for _, m := range []Method{Auto, MapReduce} {
		o.Method = m
		same(t, try(), want)
	}
}

// All variants of the formula give the same bits as on the CPU.
func TestGPUFormula(t *testing.T) {
	device := onGPUSlowly(t)
	docs := documentsOf(5, 120, 50, 60, 3, 900, 77, 13)
	for _, name := range bm25.Variants() {
		v, err := bm25.ParseVariant(name)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Params: bm25.Params{K1: 0.9, B: 0.4, Variant: v}}
		o.Method = Sequential
		want := weightsOf(t, weighAll(t, docs, o, 1), 1)
		methods := []Method{Auto}
		if v == bm25.Plus || v == bm25.L { // those that differ most
			methods = append(methods, MapReduce, Primitives)
		}
		for _, m := range methods {
			o.Method, o.Engine, o.Device = m, engine.GPU, device
			same(t, weightsOf(t, weighAll(t, docs, o, 1), 1), want)
			o.Engine = engine.Auto
		}
	}
}

// With a dictionary, known and unknown words are sorted together in byte order; unknown words can
// be merged or dropped.
func TestGPUDictionary(t *testing.T) {
	device := onGPUSlowly(t)
	docs := documentsOf(6, 200, 150, 0, 20, 400)
	all := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	known := []string{"never", "seen"}
	for i, r := range all {
		if i%3 == 0 {
			known = append(known, r.word)
		}
	}
	for _, kind := range []dict.Kind{dict.XBW, dict.XBWPlain, dict.XBWPaper, dict.STT} {
		d := dictionary(t, kind, known...)
		for _, u := range []Unknown{Add, Merge, Drop} {
			if u != Add && kind != dict.XBW {
				continue
			}
			o := Options{Method: Sequential, Dict: d, Unknown: u}
			want := weightsOf(t, weighAll(t, docs, o, 1), 1)
			o.Method, o.Engine, o.Device = Dictionary, engine.GPU, device
			same(t, weightsOf(t, weighAll(t, docs, o, 1), 1), want)
		}
	}
}

// A corpus that does not fit the device is processed in chunks, whose pairs are merged.
func TestGPUChunks(t *testing.T) {
	device := onGPUSlowly(t)
	docs := documentsOf(7, 400, slices.Repeat([]int{40, 0, 130, 7}, 30)...)
	want := weightsOf(t, weighAll(t, docs, Options{Method: Sequential}, 1), 1)
	for _, m := range onGPUMethods {
		device.Memory = gpuMethods[MapReduce].need(0, 0, 0) + 400_000
		if m == Auto {
			device.Memory += 200_000
		}
		w := weighAll(t, docs, Options{Method: m, Engine: engine.GPU, Device: device, Threads: 3, TempDir: t.TempDir()}, 3)
		v, ok := w.source.(*inverted)
		if !ok || len(v.v.runs) < 3 {
			t.Fatalf("%v: the corpus was not spilled in 3 or more chunks", m)
		}
		same(t, weightsOf(t, w, 4), want)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Inverting on the device gives the words, documents and counts of Invert.
func TestGPUInverts(t *testing.T) {
	device := onGPU(t)
	docs := documentsOf(8, 300, 0, 70, 200, 5, 0, 1200, 3)
	want, lengths := invertPlainly(t, docs, analyzer(t, "whitespace"))
	defer func(n uint64) { gpuBlock = n }(gpuBlock)
	gpuBlock = 3 // some words have more postings
	for _, memory := range []int64{0, gpuMethods[Inverting].need(0, 0, 0) + 800_000} {
		device.Memory = memory
		v, err := invertGPU(t.Context(), shuffled(docs, 2, 2, 4), &InvertOptions{
			Analyzer: analyzer(t, "whitespace"), Threads: 2, Memory: defaultMemory, Engine: engine.GPU, Device: device,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, v, 3); !slices.Equal(got, want) || !slices.Equal(v.Lengths(), lengths) {
			t.Errorf("memory %d: %d rows, or lengths, differ from the expected %d rows", memory, len(got),
				len(want))
		}
		frequent := func(df int) bool { return df > 1 }
		var kept []row
		for _, part := range v.PartsWith(t.Context(), 3, frequent) {
			for term, err := range part {
				if err != nil {
					t.Fatal(err)
				}
				for i, d := range term.Docs {
					kept = append(kept, row{string(term.Word), term.DF, d, term.TFs[i]})
				}
			}
		}
		some := slices.DeleteFunc(slices.Clone(want), func(r row) bool { return !frequent(r.df) })
		if len(some) == 0 || len(some) == len(want) || !slices.Equal(kept, some) {
			t.Errorf("memory %d: %d rows of frequent words, want %d", memory, len(kept), len(some))
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A corpus without documents or without words has no weights, and is no error.
func TestGPUWeighsNothing(t *testing.T) {
	device := onGPU(t)
	for _, docs := range [][]text.Document{nil, texts("", "  ")} {
		for _, m := range onGPUMethods {
			w := weighAll(t, docs, Options{Method: m, Engine: engine.GPU, Device: device}, 1)
			if got := weightsOf(t, w, 2); len(got) != 0 || w.Docs() != len(docs) {
				t.Errorf("%v: weights %v and %d documents, want none and %d", m, got, w.Docs(), len(docs))
			}
		}
	}
}

// Errors name their cause.
func TestGPUErrors(t *testing.T) {
	device := onGPU(t)
	docs := texts("a b", "c")
	try := func(ctx context.Context, o Options) error {
		o.Engine, o.Threads = engine.GPU, 1
		if o.Analyzer == nil {
			o.Analyzer = analyzer(t, "whitespace")
		}
		_, err := weigh(ctx, shuffled(docs, 1, 9, 1), o)
		return err
	}
	if err := try(t.Context(), Options{Method: Sequential, Device: device}); err == nil ||
		!strings.Contains(err.Error(), "no GPU engine") {
		t.Errorf("sequential: error %v, want one with \"no GPU engine\"", err)
	}
	if err := try(t.Context(), Options{Device: device, Analyzer: blanks{}}); !errors.Is(err, errSeparators) {
		t.Errorf("words with blanks: error %v, want %v", err, errSeparators)
	}
	if err := try(t.Context(), Options{Device: engine.Device{Ordinal: 99}}); !errors.Is(err, engine.ErrNoGPU) {
		t.Errorf("device 99: error %v, want %v", err, engine.ErrNoGPU)
	}
	if err := try(t.Context(), Options{Method: Dictionary, Dict: dictionary(t, dict.Hash, "a"),
		Device: device}); err == nil {
		t.Error("a hash dictionary on the GPU: no error")
	}
	docs[0].Text = bytes.Repeat([]byte("x"), mostWord)
	if err := try(t.Context(), Options{Device: device, Analyzer: whole{}}); err == nil ||
		!strings.Contains(err.Error(), "a word of 16777216 bytes") {
		t.Errorf("a word of 16 MiB: error %v, want one with its length", err)
	}
	docs[0].Text = []byte("a b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := try(ctx, Options{Device: device}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want %v", err, context.Canceled)
	}
}

// whole makes each document one word.
type whole struct{}

func (whole) Name() string { return "whole" }
func (whole) Analyze(doc []byte, t *text.Tokens) error {
	t.Bytes, t.Words = doc, []text.Span{{Start: 0, End: uint32(len(doc))}}
	return nil
}
