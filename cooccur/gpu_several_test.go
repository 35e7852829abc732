package cooccur

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/text"
)

// batches returns a corpus of documents in memory, of several batches; then fail, unless it is nil.
func batches(n int, fail error) *text.Corpus {
	rng := rand.New(rand.NewPCG(8, uint64(n)))
	var all [][]text.Document
	for b := range n {
		var docs []text.Document
		for d := range 1 + rng.IntN(4) {
			var words []string
			for range rng.IntN(30) {
				words = append(words, "w"+strconv.Itoa(int(rng.ExpFloat64()*6)))
			}
			docs = append(docs, text.Document{ID: strconv.Itoa(b*10 + d), Text: []byte(strings.Join(words, " "))})
		}
		all = append(all, docs)
	}
	return &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			for _, docs := range all {
				if !yield(docs, nil) {
					return
				}
			}
			if fail != nil {
				yield(nil, fail)
			}
		}
	}}
}

// Two devices share the documents, and give the bytes of one core.
func TestSeveralGPUs(t *testing.T) {
	gputest.Named(t)
	device := engine.Device{Memory: 32 << 20}
	for _, c := range []struct {
		batches int
		vopt    VocabularyOptions
		opt     Options
	}{
		{7, VocabularyOptions{}, Options{Window: 3}},
		{5, VocabularyOptions{MinCount: 2}, Options{Window: 2, Weighting: Count}},
		{1, VocabularyOptions{MaxSize: 9}, Options{Window: 4, Side: Right}}, // one device gets nothing
		{3, VocabularyOptions{MinCount: 1000}, Options{Window: 2}},          // an empty vocabulary
	} {
		corpus := batches(c.batches, nil)
		c.vopt.Engine = engine.Sequential
		v, wantWords, err := CountWords(t.Context(), corpus, c.vopt)
		if err != nil {
			t.Fatal(err)
		}
		want, wantStats := matrixFile(t, v, c.opt, func(o Options, sink Sink) (Stats, error) {
			o.Engine = engine.Sequential
			return Matrix(t.Context(), corpus, v, o, sink)
		})
		c.vopt.Engine, c.opt.Engine = engine.GPU, engine.GPU
		c.vopt.Device, c.vopt.Also = device, []engine.Device{device}
		c.opt.Device = device
		// One device reads documents from memory, too, not only files.
		one, _ := matrixFile(t, v, c.opt, func(o Options, sink Sink) (Stats, error) {
			return Matrix(t.Context(), corpus, v, o, sink)
		})
		if !bytes.Equal(one, want) {
			t.Errorf("%d batches: one device gives another file than one core", c.batches)
		}
		c.opt.Also = []engine.Device{device}
		made, words, err := CountWords(t.Context(), corpus, c.vopt)
		if err != nil {
			t.Fatal(err)
		}
		if wantWords.Engine = engine.GPU; words != wantWords || !bytes.Equal(made.lines(), v.lines()) {
			t.Errorf("%d batches: vocabulary %+v of %q, want %+v of %q", c.batches, words, made.lines(), wantWords, v.lines())
		}
		got, stats := matrixFile(t, v, c.opt, func(o Options, sink Sink) (Stats, error) {
			return Matrix(t.Context(), corpus, v, o, sink)
		})
		if stats.Engine = wantStats.Engine; !bytes.Equal(got, want) || stats != wantStats {
			t.Errorf("%d batches: same file %v, stats %+v; want true, %+v", c.batches, bytes.Equal(got, want), stats, wantStats)
		}
		got, _ = matrixFile(t, v, c.opt, func(o Options, sink Sink) (Stats, error) {
			_, stats, err := Make(t.Context(), corpus, c.vopt, o, func(*Vocabulary) (Sink, error) { return sink, nil })
			return stats, err
		})
		if !bytes.Equal(got, want) {
			t.Errorf("%d batches: Make gives another file", c.batches)
		}
	}
}

// The first error of a corpus, a sink or a device ends the jobs of all devices, and is returned.
func TestSeveralGPUsFail(t *testing.T) {
	gputest.Named(t)
	device := engine.Device{Memory: 32 << 20}
	opt := Options{Window: 2, Engine: engine.GPU, Device: device, Also: []engine.Device{device}}
	v := vocabularyOf("w0", "w1", "w2")
	failed := errors.New("failed")
	if _, err := Matrix(t.Context(), batches(4, failed), v, opt, sinkFunc(func(*Rows) error { return nil })); !errors.Is(err, failed) {
		t.Errorf("a corpus that fails: %v", err)
	}
	if _, err := Matrix(t.Context(), batches(4, nil), v, opt, sinkFunc(func(*Rows) error { return failed })); !errors.Is(err, failed) {
		t.Errorf("a sink that fails: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Matrix(ctx, batches(4, nil), v, opt, sinkFunc(func(*Rows) error { return nil })); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for text, o := range map[string]Options{
		"need engine gpu": {Engine: engine.Multicore},
		"subsampling":     {Engine: engine.GPU, Subsample: 1e-3},
		"at most 18":      {Engine: engine.GPU, Window: 19},
		"on one device":   {Engine: engine.GPU, Method: Paper, Weighting: Count},
		"no GPU":          {Engine: engine.GPU, Device: engine.Device{Ordinal: 5}},
	} {
		if o.Window == 0 {
			o.Window = 2
		}
		o.Also = []engine.Device{device}
		if _, err := Matrix(t.Context(), batches(2, nil), v, o, sinkFunc(func(*Rows) error { return nil })); err == nil ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// sinkFunc is a function as a sink.
type sinkFunc func(*Rows) error

func (f sinkFunc) Rows(r *Rows) error { return f(r) }
