package weigh

import (
	"reflect"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/trials"
)

// Weights and IDs are the same when lengths and IDs of documents are in files.
func TestWeightsWithDocumentsInFiles(t *testing.T) {
	docs := randomDocs(5, 3000/trials.Every(6), 400, 20)
	for _, p := range []bm25.Params{{}, {Variant: bm25.L}} {
		o := Options{Method: Inverting, Threads: 2, Analyzer: analyzer(t, "whitespace"), Params: p,
			TempDir: t.TempDir()}
		want, err := weigh(t.Context(), shuffled(docs, 2, 9, 1), o)
		if err != nil {
			t.Fatal(err)
		}
		defer want.Close()
		o.Memory = 1
		got, err := weigh(t.Context(), shuffled(docs, 2, 9, 2), o)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if got.docs.records == nil || want.docs.records != nil {
			t.Fatalf("documents are in files: %v with 1 byte of memory, %v with 2 GB; want true, false",
				got.docs.records != nil, want.docs.records != nil)
		}
		if !reflect.DeepEqual(weightsOf(t, got, 3), weightsOf(t, want, 3)) {
			t.Errorf("%v: weights differ", p)
		}
		for i := range docs {
			if got.ID(i) != want.ID(i) || got.Lengths()[i] != want.Lengths()[i] {
				t.Fatalf("document %d: %s of %d words, want %s of %d", i, got.ID(i),
					got.Lengths()[i], want.ID(i), want.Lengths()[i])
			}
		}
	}
}
