package index_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// Build an index of the package's example, and read the list of a word.
func Example() {
	dir, err := os.MkdirTemp("", "index-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "roses.txt")
	if err := os.WriteFile(path, []byte("a rose is a rose\na daisy\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	analyzer, err := text.ParseAnalyzer("unicode")
	if err != nil {
		log.Fatal(err)
	}
	folder := filepath.Join(dir, "roses.index")
	corpus := &text.Corpus{Paths: []string{path}}
	if err := index.Build(context.Background(), folder, corpus, index.BuildOptions{Analyzer: analyzer}); err != nil {
		log.Fatal(err)
	}

	r, err := index.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	term, err := r.Lookup([]byte("a"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("DF", term.DF, "CF", term.CF)
	var c index.Cursor
	if err := r.Open(term, &c); err != nil {
		log.Fatal(err)
	}
	for d := c.Doc(); d != index.End; d = c.Next() {
		fmt.Println("document", d, "frequency", c.TF(), "length", r.Lengths()[d])
	}
	if err := c.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// DF 2 CF 3
	// document 0 frequency 2 length 5
	// document 1 frequency 1 length 2
}
