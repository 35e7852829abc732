package search

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// A second phase sees the features of each hit's words, and its scores decide the order; equal ones
// keep that of the first phase.
func TestRerank(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "a a c", "b c c", "c")
	r := Request{Text: "c b c", K: 10}
	found, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var lengths []uint32
	hits, err := s.Rerank(t.Context(), r, found.Hits, func(h Hit, e *Explanation) (float32, error) {
		if e.Score != h.Score || len(e.Words) != 2 {
			t.Errorf("document %d: %+v, want the features of two words and score %v", h.Doc, e, h.Score)
		}
		lengths = append(lengths, e.Length)
		return -float32(e.Words[0].TF), nil // fewest c first
	})
	if err != nil {
		t.Fatal(err)
	}
	var before, after []uint32
	for i := range hits {
		before, after = append(before, found.Hits[i].Doc), append(after, hits[i].Doc)
	}
	if want := []uint32{2, 3, 0, 1}; !slices.Equal(before, want) {
		t.Fatalf("the first phase gives %v, want %v", before, want)
	}
	if want := []uint32{0, 3, 1, 2}; !slices.Equal(after, want) {
		t.Errorf("the second phase gives %v, want %v", after, want)
	}
	if want := []uint32{3, 1, 2, 3}; !slices.Equal(lengths, want) {
		t.Errorf("lengths %v, want %v", lengths, want)
	}
	failed := errors.New("failed")
	if _, err := s.Rerank(t.Context(), r, found.Hits, func(Hit, *Explanation) (float32, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("a function that fails: %v", err)
	}
	nan := func(Hit, *Explanation) (float32, error) { return float32(math.NaN()), nil }
	if _, err := s.Rerank(t.Context(), r, found.Hits, nan); !errors.Is(err, ErrRequest) {
		t.Errorf("a score that is not a number: %v", err)
	}
	if _, err := s.Rerank(t.Context(), r, found.Hits, nil); !errors.Is(err, ErrRequest) {
		t.Errorf("no function: %v", err)
	}
	if hits, err := s.Rerank(t.Context(), r, nil, nan); err != nil || len(hits) != 0 {
		t.Errorf("no hits: %v, %v", hits, err)
	}
}
