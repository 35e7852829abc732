package cooccur_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// printed is a Sink that prints the cells.
type printed struct{ words *cooccur.Vocabulary }

func (p printed) Rows(r *cooccur.Rows) error {
	for i := range r.Ends {
		cols, values := r.Row(i)
		for k, col := range cols {
			fmt.Printf("%s %s %g\n", p.words.Word(r.First+i), p.words.Word(int(col)), values[k])
		}
	}
	return nil
}

// Compute the matrix of the package's example.
func ExampleMatrix() {
	dir, err := os.MkdirTemp("", "cooccur-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "aba.txt")
	if err := os.WriteFile(path, []byte("a b a\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	corpus := &text.Corpus{Paths: []string{path}}
	words, _, err := cooccur.CountWords(ctx, corpus, cooccur.VocabularyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	stats, err := cooccur.Matrix(ctx, corpus, words, cooccur.Options{Window: 2}, printed{words})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(stats.Entries, "entries")
	// Output:
	// a a 1
	// a b 2
	// b a 2
	// 3 entries
}
