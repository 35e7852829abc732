package main

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

func TestBeginning(t *testing.T) {
	doc := []byte("The cat sat on the mat with another cat. It slept! See Fig. 2 below.\nNot this.")
	for sentences, want := range map[int]string{
		1: "the cat sat on mat with another",
		2: "the cat sat on mat with another it slept",
		9: "the cat sat on mat with another it slept see fig below not this",
	} {
		if got := beginning(doc, sentences); got != want {
			t.Errorf("%d sentences: got %q, want %q", sentences, got, want)
		}
	}
	if got := beginning([]byte("Too short.\nA B c d e f g h"), 1); got != "" {
		t.Errorf("a title of two words: got %q, want none", got)
	}
}

// TestRun checks that run selects the queries with the lowest numbers, and none of them twice.
func TestRun(t *testing.T) {
	corpus := &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			for i := range 3000 {
				name := strings.Repeat("i", 1+i%500) // every text six times
				doc := text.Document{Text: fmt.Appendf(nil, "A beginning with six words %s.", name)}
				if !yield([]text.Document{doc}, nil) {
					return
				}
			}
		}
	}}
	draw := func(count int) []string {
		var out strings.Builder
		if err := run(t.Context(), corpus, count, &out); err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	few, many := draw(10), draw(500)
	if len(few) != 10 || len(many) != 500 {
		t.Fatalf("%d and %d queries, want 10 and 500", len(few), len(many))
	}
	seen := map[string]bool{}
	for i, q := range many {
		if seen[q] || i < len(few) && few[i] != q {
			t.Fatalf("query %d is %q, which is a duplicate or not among the 10 lowest", i, q)
		}
		seen[q] = true
	}
	if err := run(t.Context(), corpus, 501, &strings.Builder{}); err == nil {
		t.Error("501 of 500 queries: want an error")
	}
}
