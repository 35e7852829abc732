package eval

import (
	"context"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }

// Searcher is an engine on an index of the tests.
type Searcher struct{ e *Engine }

func (s *Searcher) Search(ctx context.Context, r ask.Request) (*ask.Result, error) {
	return s.e.Search(ctx, &r)
}

func (s *Searcher) Close() error { return s.e.Index.Close() }

func Open(dir string) (*Searcher, error) {
	r, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	e, err := NewEngine(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	return &Searcher{e}, nil
}

// open opens an index until the test ends.
func open(t testing.TB, dir string) *Searcher {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// write writes an index and opens it.
func write(t testing.TB, p *searchtest.Plain, dir string) *Searcher {
	t.Helper()
	p.Write(t, dir)
	return open(t, dir)
}

func openELife(t testing.TB) *Searcher {
	t.Helper()
	return open(t, searchtest.ElifeIndex(t))
}

func buildLines(t testing.TB, analyzer string, lines ...string) *Searcher {
	t.Helper()
	return open(t, searchtest.IndexLines(t, analyzer, lines...))
}
