package search

import (
	"context"
	"reflect"
	"strings"
	"testing"
)

// Several documents at once give what each gives alone, in whatever order they are asked for.
func TestSnippetsAndExplanationsOfMany(t *testing.T) {
	s := buildLines(t, "english", "Black bears attack.", "a bear, a hiker and a bear", "nothing", "the hiker ran")
	r := Request{Text: "bear hiker zebra"}
	docs := []uint32{3, 0, 2, 1, 3}
	snippets, err := s.Snippets(context.Background(), r, docs, 20)
	if err != nil {
		t.Fatal(err)
	}
	explanations, err := s.Explanations(context.Background(), r, docs)
	if err != nil {
		t.Fatal(err)
	}
	for i, doc := range docs {
		snippet, err := s.Snippet(context.Background(), r, doc, 20)
		if err != nil || !reflect.DeepEqual(snippets[i], snippet) {
			t.Errorf("snippet of %d: %+v, alone %+v, %v", doc, snippets[i], snippet, err)
		}
		explanation, err := s.Explain(context.Background(), r, doc)
		if err != nil || !reflect.DeepEqual(explanations[i], explanation) {
			t.Errorf("explanation of %d: %+v, alone %+v, %v", doc, explanations[i], explanation, err)
		}
	}
}

// A snippet shows no more than was asked for, even of a word without end, and reads no more than
// the first megabyte of a document.
func TestSnippetIsBounded(t *testing.T) {
	word := strings.Repeat("é", 5000)
	far := "bear " + strings.Repeat("filler ", snippetReach/7+100) + "hiker"
	s := buildLines(t, "whitespace", "before "+word+" after", far)
	sn, err := s.Snippet(context.Background(), Request{Text: word}, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	if len(sn.Text) > 100 || len(sn.Marks) != 1 || int(sn.Marks[0].End) != len(sn.Text) || !sn.After {
		t.Errorf("%d bytes, marks %v, after %v", len(sn.Text), sn.Marks, sn.After)
	}
	sn, err = s.Snippet(context.Background(), Request{Text: "hiker bear"}, 1, 50)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(sn.Text, "bear filler") || len(sn.Marks) != 1 || !sn.After {
		t.Errorf("%+v", sn)
	}
}

// Nobody waits for a snippet that nobody wants any more.
func TestSnippetsAreCancelled(t *testing.T) {
	s := buildLines(t, "english", "Black bears attack.")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Snippets(ctx, Request{Text: "bear"}, []uint32{0}, 20); err == nil {
		t.Error("it was made")
	}
	if _, err := s.Explanations(ctx, Request{Text: "bear"}, []uint32{0}); err == nil {
		t.Error("it was explained")
	}
}
