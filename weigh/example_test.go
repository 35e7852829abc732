package weigh_test

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// The weights of the package's example.
func ExampleWeigh() {
	dir, err := os.MkdirTemp("", "weigh-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "roses.txt")
	if err := os.WriteFile(path, []byte("a rose is a rose\na thorn\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		log.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{path}}
	weights, err := weigh.Weigh(context.Background(), corpus, weigh.Options{Analyzer: analyzer})
	if err != nil {
		log.Fatal(err)
	}
	defer weights.Close()
	if _, err := weights.Write(context.Background(), os.Stdout, weigh.TSV, 1); err != nil {
		log.Fatal(err)
	}
	// Output:
	// term	document	tf	weight
	// a	roses.txt:1	2	0
	// a	roses.txt:2	1	0
	// is	roses.txt:1	1	0.5897495
	// rose	roses.txt:1	2	0.8505551
	// thorn	roses.txt:2	1	0.8405092
}
