package search_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

const papers = `{"id": "droplets", "text": "Lipid droplets are storage organelles; droplets store lipid."}
{"id": "membranes", "text": "A membrane is made of lipid."}
{"id": "bacteria", "text": "Bacteria move through water."}
`

// From text to the best documents for a query.
func Example() {
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "papers.jsonl")
	if err := os.WriteFile(path, []byte(papers), 0o644); err != nil {
		log.Fatal(err)
	}
	analyzer, err := text.ParseAnalyzer("english")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	folder := filepath.Join(dir, "papers.index")
	corpus := &text.Corpus{Paths: []string{path}}
	if err := index.Build(ctx, folder, corpus, index.BuildOptions{Analyzer: analyzer}); err != nil {
		log.Fatal(err)
	}

	s, err := search.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	result, err := s.Search(ctx, search.Request{Text: "lipid droplet", K: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range result.Hits {
		id, err := s.ID(hit.Doc)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.4f\n", id, hit.Score)
	}
	// Output:
	// droplets 1.8908
	// membranes 0.4055
}
