package words_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

func corpus(s string) *text.Corpus {
	return &text.Corpus{
		Paths: []string{"-"}, Stdin: strings.NewReader(s), Options: text.Options{Format: text.Lines},
	}
}

// The lines of a concordance.
func ExampleConcord() {
	unicode, err := text.ParseAnalyzer("unicode")
	if err != nil {
		log.Fatal(err)
	}
	q, err := words.ParseQuery("ros*", unicode)
	if err != nil {
		log.Fatal(err)
	}
	c := corpus("A rose is a rose.\nWild roses of the hills.\n")
	found, err := words.Concord(context.Background(), c, q, words.ConcordanceOptions{Window: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Lines {
		fmt.Printf("%10s [%s] %s\n", l.Left, l.Match, l.Right)
	}
	// Output:
	//          A [rose] is a
	//       is a [rose] .
	//       Wild [roses] of the
}

// The measures of the package's example.
func ExampleCounts() {
	c := words.Counts{O: 2, F1: 2, F2: 2, Span: 2, N: 5}
	fmt.Printf("expected %.1f\n", c.Expected())
	for _, m := range []words.Measure{words.MI, words.Dice} {
		fmt.Printf("%s %.2f\n", m, m.Score(c, 1))
	}
	// Output:
	// expected 1.6
	// mi 0.32
	// dice 1.00
}
