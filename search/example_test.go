package search_test

import (
	"context"
	"fmt"
	"log"
	"math"
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

// A model of one's own: the logarithm of the frequency, times how rare the word is.
func ExampleOwn() {
	s, done := open(papers)
	defer done()
	ours := &search.Own{
		Name:      "log",
		Monotonic: true, // more occurrences never lower the score, and the length does not matter
		Word: func(w search.WordStats) func(tf, length uint32) float64 {
			rare := math.Log(1 + float64(w.All)/float64(w.Documents))
			return func(tf, _ uint32) float64 { return math.Log1p(float64(tf)) * rare }
		},
	}
	result, err := s.Search(context.Background(), search.Request{Text: "lipid droplet", Model: ours})
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
	// droplets 2.5296
	// membranes 0.6351
}

// A second phase of ranking: of the best documents, those come first that have most of the query's
// words, and among these the ones in which they are most frequent.
func ExampleSearcher_Rerank() {
	s, done := open(papers)
	defer done()
	ctx, request := context.Background(), search.Request{Text: "lipid droplets membrane", K: 100}
	result, err := s.Search(ctx, request)
	if err != nil {
		log.Fatal(err)
	}
	hits, err := s.Rerank(ctx, request, result.Hits,
		func(hit search.Hit, features *search.Explanation) (float32, error) {
			found, occurrences := float32(0), uint32(0)
			for _, w := range features.Words {
				if occurrences += w.TF; w.TF > 0 {
					found++
				}
			}
			return found + float32(occurrences)/float32(features.Length), nil
		})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range hits {
		id, err := s.ID(hit.Doc)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %.2f\n", id, hit.Score)
	}
	// Output:
	// droplets 2.50
	// membranes 2.33
}

// open builds an index of documents and opens it.
func open(documents string) (s *search.Searcher, done func()) {
	dir, err := os.MkdirTemp("", "search-")
	if err != nil {
		log.Fatal(err)
	}
	path, folder := filepath.Join(dir, "papers.jsonl"), filepath.Join(dir, "papers.index")
	if err := os.WriteFile(path, []byte(documents), 0o644); err != nil {
		log.Fatal(err)
	}
	analyzer, err := text.ParseAnalyzer("english")
	if err != nil {
		log.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{path}}
	if err := index.Build(context.Background(), folder, corpus, index.BuildOptions{Analyzer: analyzer}); err != nil {
		log.Fatal(err)
	}
	if s, err = search.Open(folder); err != nil {
		log.Fatal(err)
	}
	return s, func() { s.Close(); os.RemoveAll(dir) }
}

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
