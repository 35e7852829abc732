package text_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/text"
)

// Read the documents of a file, one per line.
func ExampleCorpus_All() {
	dir, err := os.MkdirTemp("", "text-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "news.txt")
	if err := os.WriteFile(path, []byte("Cats sleep.\nDogs bark.\n"), 0o644); err != nil {
		log.Fatal(err)
	}

	corpus := &text.Corpus{Paths: []string{path}}
	for doc, err := range corpus.All(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s\n", doc.ID, doc.Text)
	}
	// Output:
	// news.txt:1: Cats sleep.
	// news.txt:2: Dogs bark.
}

// Analyze a sentence with four analyzers.
func ExampleParseAnalyzer() {
	var words text.Tokens // reused for all documents
	for _, name := range []string{"whitespace", "ascii", "unicode", "english+stop"} {
		analyzer, err := text.ParseAnalyzer(name)
		if err != nil {
			log.Fatal(err)
		}
		if err := analyzer.Analyze([]byte("The Cat's 2 paws"), &words); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-13s", name)
		for i := range words.Words {
			fmt.Printf(" %s", words.Word(i))
		}
		fmt.Println()
	}
	// Output:
	// whitespace    The Cat's 2 paws
	// ascii         the cat s paws
	// unicode       the cat's 2 paws
	// english+stop  cat 2 paw
}
