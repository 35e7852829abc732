package search

import (
	"iter"
	"testing"

	_ "github.com/collocate/collocate/search/gpu"
	"github.com/collocate/collocate/search/internal/searchtest"
)

func TestMain(m *testing.M) { searchtest.Main(m) }

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
