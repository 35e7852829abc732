package bucket_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/segments"
)

type note struct {
	ID   string `index:"id"`
	Text string
}

// Two programs open an index at an address, add, replace and delete documents, and find those of
// each other.
func TestOpenAtAnAddress(t *testing.T) {
	ctx := t.Context()
	fetch := func(ctx context.Context, address string, build func(string, segments.Options) error) (segments.Copy, error) {
		return bucket.FetchWith(ctx, address, bucket.Options{Cache: t.TempDir()}, build)
	}
	address := "file://" + filepath.ToSlash(t.TempDir()) + "/notes"
	if _, err := collocate.Open(address, collocate.Options{Like: note{}}); err == nil || !strings.Contains(err.Error(), "Options.Fetch") {
		t.Errorf("an address without Fetch: %v", err)
	}
	if _, err := collocate.Open(address, collocate.Options{Fetch: fetch}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an index that is not there: %v", err)
	}
	var open [2]*collocate.Index
	for i := range open {
		x, err := collocate.Open(address, collocate.Options{Like: note{}, Fetch: fetch})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		open[i] = x
	}
	a, b := open[0], open[1]
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	both := func(query string, want int) {
		t.Helper()
		for i, x := range open {
			_, err := x.Refresh()
			do(err)
			r, err := x.Search(ctx, collocate.Request{Query: query})
			do(err)
			if len(r.Hits) != want {
				t.Errorf("program %d finds %d documents for %s, want %d", i, len(r.Hits), query, want)
			}
		}
	}
	do(a.Add(note{"1", "a fox"}, note{"2", "an owl"}))
	do(b.Add(note{"3", "a fox"}))
	do(a.Commit(ctx))
	do(b.Commit(ctx))
	both("fox", 2)
	do(a.Add(note{"3", "an owl"})) // which b has added
	do(a.Commit(ctx))
	both("fox", 1)
	both("owl", 2)
	do(b.Add(note{"4", "an owl"}))
	do(b.Commit(ctx))
	if n, err := a.DeleteMatching(ctx, "owl"); n != 3 || err != nil { // one is b's
		t.Errorf("%d documents deleted, %v", n, err)
	}
	do(a.Commit(ctx))
	n, err := b.Delete("1", "none")
	if n != 1 || err != nil {
		t.Errorf("%d documents deleted, %v", n, err)
	}
	do(b.Commit(ctx))
	both("fox", 0)
	do(a.Compact(ctx))
	do(b.Add(note{"5", "a fox"}))
	do(b.Commit(ctx))
	both("fox", 1)
}
