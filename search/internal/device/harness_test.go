package device

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/batch"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }

// Searcher is an index of the tests, on the cores and on a device.
type Searcher struct {
	e   *eval.Engine
	gpu *Index
}

func (s *Searcher) Search(ctx context.Context, r ask.Request) (*ask.Result, error) {
	if !ask.WantsGPU(r.Parallel) {
		return s.e.Search(ctx, &r)
	}
	if s.gpu == nil {
		return nil, errors.New("not on a GPU")
	}
	return s.gpu.Answer(ctx, r)
}

func (s *Searcher) SearchBatch(ctx context.Context, requests iter.Seq[ask.Request],
	b ask.Batch) iter.Seq2[*ask.Result, error] {
	keep := func(_ int, found *ask.Result) (*ask.Result, error) { return found, nil }
	return mapBatch(ctx, s, requests, b, false, keep)
}

func MapBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[ask.Request], b ask.Batch,
	do func(i int, found *ask.Result) (T, error)) iter.Seq2[T, error] {
	return mapBatch(ctx, s, requests, b, true, do)
}

func mapBatch[T any](ctx context.Context, s *Searcher, requests iter.Seq[ask.Request], b ask.Batch,
	reuse bool, do func(i int, found *ask.Result) (T, error)) iter.Seq2[T, error] {
	if b.Threads == 0 {
		b.Threads = runtime.GOMAXPROCS(0)
	}
	return func(yield func(T, error) bool) {
		if b.Engine == engine.GPU || b.Engine == engine.Auto {
			Batch(ctx, s.gpu, requests, b, reuse, do, yield)
		} else {
			batch.OnCores(ctx, s.e, requests, b, reuse, nil, do, yield)
		}
	}
}

func (s *Searcher) closeGPU() error {
	if s.gpu == nil {
		return nil
	}
	err := s.gpu.Close()
	s.gpu = nil
	return err
}

// open opens an index until the test ends.
func open(t testing.TB, dir string) *Searcher {
	t.Helper()
	r, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	e, err := eval.NewEngine(r)
	if err != nil {
		t.Fatal(err)
	}
	return &Searcher{e: e}
}

// write writes an index and opens it.
func write(t testing.TB, p *searchtest.Plain, dir string) *Searcher {
	t.Helper()
	p.Write(t, dir)
	return open(t, dir)
}

func buildLines(t testing.TB, analyzer string, lines ...string) *Searcher {
	t.Helper()
	return open(t, searchtest.IndexLines(t, analyzer, lines...))
}

// collect gathers what a batch yields.
func collect[T any](t *testing.T, all iter.Seq2[T, error]) (got []T) {
	t.Helper()
	for x, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, x)
	}
	return got
}
