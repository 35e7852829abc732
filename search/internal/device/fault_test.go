package device

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// cutIndex opens an index of some hundred words. The function cut truncates one of its files.
func cutIndex(t *testing.T) (s *Searcher, cut func(file string)) {
	t.Helper()
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("a b c%d d%d", i%700, i%3))
	}
	dir := searchtest.IndexLines(t, "whitespace", lines...)
	return open(t, dir), func(file string) {
		t.Helper()
		if err := os.Truncate(filepath.Join(dir, file), 0); err != nil {
			t.Fatal(err)
		}
	}
}

func wantFault(t *testing.T, file string, err error) {
	t.Helper()
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), file) {
		t.Errorf("%s was truncated: error %v, want one that names it", file, err)
	}
}

// A file that is truncated while the index is loaded onto a device is an error.
func TestCutWhileOpening(t *testing.T) {
	for _, file := range []string{"postings", "terms", "documents"} {
		s, cut := cutIndex(t)
		dev, _ := gputest.Device(t)
		cut(file)
		g, err := openOn(t.Context(), s.e, dev, Options{})
		if err == nil {
			g.Close()
		}
		wantFault(t, file, err)
	}
}

// A file that is truncated later is an error of the requests that need it: those with words that
// were not looked up before, and those that the device leaves to the cores. Others are answered.
func TestCutWhileSearching(t *testing.T) {
	s, cut := cutIndex(t)
	use(t, s, Options{})
	known := ask.Request{Text: "a d1", Parallel: onDevice}
	before, err := s.Search(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	cut("terms")
	cut("postings")
	b := ask.Batch{Engine: engine.GPU}
	for name, r := range map[string]ask.Request{
		"a word that is new": {Text: "c5"},
		"many answers":       {Text: "c7 c8", K: 2500},
		"weights":            {Words: []ask.Word{{Text: "c6", Weight: 2}}},
	} {
		var last error
		for _, err := range s.SearchBatch(context.Background(), slices.Values([]ask.Request{r}), b) {
			last = err
		}
		if !errors.Is(last, syscall.EIO) {
			t.Errorf("%s, in a batch: error %v, want EIO", name, last)
		}
		r.Parallel = onDevice
		if _, err := s.Search(t.Context(), r); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: error %v, want EIO", name, err)
		}
	}
	for after, err := range s.SearchBatch(context.Background(), slices.Values([]ask.Request{{Text: "a d1"}}), b) {
		if err != nil || !slices.Equal(after.Hits, before.Hits) {
			t.Errorf("known words: %v, %v; want %v", after, err, before.Hits)
		}
	}
}
