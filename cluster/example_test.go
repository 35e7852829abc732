package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/collocate/collocate/cluster"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// Count the words of two parts of a corpus, as two workers would, and merge their streams.
func Example() {
	ctx := context.Background()
	var parts []cluster.Input
	for i, lines := range []string{"a rose is a rose\n", "a daisy\n"} {
		corpus := &text.Corpus{
			Paths: []string{"-"}, Stdin: strings.NewReader(lines), Options: text.Options{Format: text.Lines},
		}
		var stream bytes.Buffer
		share := cluster.Share{Parts: []int{i}, Of: 2}
		end, err := cluster.MapWords(ctx, corpus, share, cooccur.VocabularyOptions{}, nil, &stream)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("part", i, "has", end.Words, "words")
		parts = append(parts, cluster.Input{Name: fmt.Sprint("part ", i), Reader: &stream})
	}
	v, _, err := cluster.MergeWords(ctx, parts, nil, cooccur.VocabularyOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range v.Len() {
		fmt.Printf("%s %d\n", v.Word(i), v.Count(i))
	}
	// Output:
	// part 0 has 5 words
	// part 1 has 2 words
	// a 3
	// rose 2
	// daisy 1
	// is 1
}
