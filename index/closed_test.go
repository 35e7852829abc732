package index

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// After Close, methods that return errors return ErrClosed, and the others do not read the maps.
// The methods of a text field's index do so, too.
func TestClosedReaders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "docs.jsonl")
	if err := os.WriteFile(file, []byte(`{"id": "a", "title": "a fox", "year": 1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{file}, Options: text.Options{Schema: schema}}
	if err := Build(t.Context(), filepath.Join(dir, "i"), corpus, BuildOptions{StoreText: true, Positions: true}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(filepath.Join(dir, "i"))
	if err != nil {
		t.Fatal(err)
	}
	field := r.Field("title")
	word, err := r.Lookup([]byte("fox"))
	if err != nil || word.DF == 0 {
		t.Fatalf("fox: %v %v", word, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Reader{r, field} {
		// Length has no error and panics, as for a wrong document. BestOf knows an empty list.
		trials.Closed(t, r, ErrClosed, "Close", "Length", "BestOf")
		if _, err := r.BestOf(word, new(Cursor)); !errors.Is(err, ErrClosed) {
			t.Errorf("BestOf: error %v", err)
		}
	}
}

// A Writer that has committed, or was aborted, takes no more.
func TestClosedWriters(t *testing.T) {
	for name, end := range map[string]func(*Writer){
		"Abort": (*Writer).Abort,
		"Commit": func(w *Writer) {
			if err := errors.Join(w.SetDocuments(Documents{}), w.Commit()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		w, err := Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		end(w)
		trials.Closed(t, w, ErrClosed, "Abort")
	}
}
