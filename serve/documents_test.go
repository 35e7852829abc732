package serve

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/index"
)

// Of several documents with an ID the first is shown, with their number, also by a root whose
// shards have one each.
func TestDocumentsWithTheSameID(t *testing.T) {
	dir := t.TempDir()
	corpus := filepath.Join(dir, "c.jsonl")
	const docs = `{"id": "a", "contents": "moon"}
{"id": "b", "contents": "sun"}
{"id": "a", "contents": "comet"}
{"id": "c", "contents": "star"}
`
	if err := os.WriteFile(corpus, []byte(docs), 0o644); err != nil {
		t.Fatal(err)
	}
	s := build(t, dir, corpus, index.BuildOptions{StoreText: true, AllowDuplicateIDs: true})
	c := newClusterOf(t, s, 2, 1, RootOptions{})
	for _, h := range []*Server{c.whole, c.root} {
		for id, want := range map[string]int{"a": 2, "b": 0} {
			w := call(h, "/v1/documents/"+id, "")
			got := decode[documentAnswer](t, w.Body.String())
			if w.Code != 200 || got.SameID != want || id == "a" && *got.Text != "moon" {
				t.Errorf("%s: status %d %s, want the first of %d with this ID", id, w.Code, w.Body, want)
			}
		}
	}
}
