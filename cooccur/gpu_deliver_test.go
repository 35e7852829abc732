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

// Rows that are longer than a batch, and more rows than the device has room for, are delivered
// whole and in order.
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
			g := testGPU(t, 32<<20) // a new one, whose batches have their first size
			o.Threads, o.TempDir = 2, t.TempDir()
			want, _ := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
				o.Engine = engine.Sequential
				return Matrix(t.Context(), corpus, v, o, sink)
			})
			got, _ := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
				return g.Matrix(t.Context(), corpus, v, o, sink)
			})
			if !bytes.Equal(got, want) {
				t.Errorf("file of %d bytes from the GPU, want the %d bytes of the sequential engine", len(got),
					len(want))
			}
			if g.Crossed() == 0 || len(g.large) == 0 {
				t.Errorf("%d bytes crossed the link in %d large batches, want some of both", g.Crossed(),
					len(g.large))
			}
		})
	}
}

// stopping is a sink that calls fail for every batch of rows from the one with this number on.
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

// An error of the sink and a cancelled context end the delivery and are returned; the next job on
// the device succeeds.
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
			t.Errorf("sink that fails at call %d: error %v, want %v", after, err, full)
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := &stopping{after, func() error { cancel(); return nil }}
		if _, err := g.Matrix(ctx, corpus, v, o, stop); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at call %d: error %v, want %v", after, err, context.Canceled)
		}
	}
	want, wantStats := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
		o.Engine = engine.Sequential
		return Matrix(t.Context(), corpus, v, o, sink)
	})
	sameWhenMade(t, g, corpus, v, VocabularyOptions{}, o, want, wantStats)
}
