package segments

import (
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// After Close, methods that return errors return index.ErrClosed, and the others do not read the
// maps.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(dir, Options{StoreText: true, Analyzer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} { // a segment each
		if err := w.Add(text.Document{ID: id, Text: []byte("a fox")}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	trials.Closed(t, w, index.ErrClosed, "Close", "Wait") // no merge is left to wait for
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	segment := r.Segments()[0].Reader
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	trials.Closed(t, r, index.ErrClosed, "Close")
	trials.Closed(t, segment, index.ErrClosed, "Close", "Length", "BestOf")
}
