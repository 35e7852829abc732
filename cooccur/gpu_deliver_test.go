package cooccur

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
)

// Rows that are longer than a batch, more of them than the device has room for at a
// time, come whole and in order.
func TestGPULongRows(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	corpus := corpusOf(t, zipfText(700, 250, 2))
	v, _, err := sequentialWords(t, corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range []Options{
		{Window: 10, Weighting: Count, gpuHead: 4, gpuSums: 3000},
		{Window: 10, gpuHead: 256, gpuSums: 6000},
		{Window: 30, Side: Left, gpuHead: 16, gpuSums: 9000},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			g := testGPU(t, 32<<20) // with batches of its own
			o.Threads, o.TempDir = 2, t.TempDir()
			want, _ := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
				o.Engine = engine.Sequential
				return Matrix(t.Context(), corpus, v, o, sink)
			})
			got, _ := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
				return g.Matrix(t.Context(), corpus, v, o, sink)
			})
			if !bytes.Equal(got, want) {
				t.Error("the files differ")
			}
			if g.Crossed() == 0 || len(g.large) == 0 {
				t.Errorf("%d bytes crossed the link, and %d batches were large", g.Crossed(), len(g.large))
			}
		})
	}
}

// stopping is a sink that gives up.
type stopping struct {
	after int
	fail  func() error
}

func (f *stopping) Rows(*Rows) error {
	if f.after--; f.after > 0 {
		return nil
	}
	return f.fail()
}

// When the sink fails, or nobody wants the rows any more, delivery ends, with the
// reason; and the next job finds the device as it was.
func TestGPUDeliveryEnds(t *testing.T) {
	g := testGPU(t, 32<<20)
	corpus := corpusOf(t, zipfText(700, 250, 2))
	v, _, err := sequentialWords(t, corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Window: 3, Weighting: Count, Threads: 1, gpuHead: 4, gpuSums: 12_000, TempDir: t.TempDir()}
	full := errors.New("the disk is full")
	for _, after := range []int{1, 4} {
		if _, err := g.Matrix(t.Context(), corpus, v, o,
			&stopping{after, func() error { return full }}); !errors.Is(err, full) {
			t.Errorf("after %d rows: %v", after, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := &stopping{after, func() error { cancel(); return nil }}
		if _, err := g.Matrix(ctx, corpus, v, o, stop); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d rows: %v", after, err)
		}
	}
	want, wantStats := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
		o.Engine = engine.Sequential
		return Matrix(t.Context(), corpus, v, o, sink)
	})
	sameWhenMade(t, g, corpus, v, VocabularyOptions{}, o, want, wantStats)
}
