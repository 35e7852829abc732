package search_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Indexes documents from memory, and searches for a phrase within some of them, with another b of
// BM25.
func Example_phrase() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	corpus := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			yield([]text.Document{
				{ID: "d1", Text: []byte("A solar eclipse: the moon covers the sun.")},
				{ID: "d2", Text: []byte("After the lunar eclipse came a storm.")},
				{ID: "d3", Text: []byte("Bacteria move through water.")},
			}, nil)
		}
	}}
	folder := filepath.Join(dir, "sky.index")
	if err := index.Build(ctx, folder, corpus, index.BuildOptions{Positions: true}); err != nil {
		log.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	q, err := query.Parse(`"solar eclipse" #id:(d1 d2)`, query.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := s.Search(ctx, search.Request{Query: q, Model: search.BM25{B: 0.4}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range result.Hits {
		id, err := s.ID(hit.Doc)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.4f %v\n", id, hit.Score, result.Stats.Strategy)
	}
	// Output: d1 1.4224 tree-phrase
}
