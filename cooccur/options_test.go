package cooccur

import (
	"maps"
	"strings"
	"testing"
)

// The zero value is GloVe's default: 15 words on both sides, by distance, words between blanks.
func TestZeroOptions(t *testing.T) {
	var words []string
	for i := range 40 {
		words = append(words, "w"+strings.Repeat("x", i))
	}
	corpus, v := corpusOf(t, strings.Join(words, " ")), vocabularyOf(words...)
	matrix := func(o Options) map[[2]uint32]float64 {
		var got cells
		if _, err := Matrix(t.Context(), corpus, v, o, &got); err != nil {
			t.Fatal(err)
		}
		return got.m
	}
	zero := matrix(Options{})
	for _, c := range []struct {
		o    Options
		same bool
	}{
		{Options{Window: 15, Side: Both, Weighting: Distance, Memory: 2e9, Method: Ours}, true},
		{Options{Window: 14}, false},
		{Options{Window: WholeDocument}, false},
		{Options{Side: Right}, false},
		{Options{Weighting: Count}, false},
	} {
		if got := matrix(c.o); maps.Equal(got, zero) != c.same {
			t.Errorf("window %d, %v, %v: the same as the zero value is %v, want %v", c.o.Window, c.o.Side,
				c.o.Weighting, !c.same, c.same)
		}
	}
	all, stats, err := CountWords(t.Context(), corpusOf(t, "b a, a b B"), VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != 4 || stats.Words != 5 || stats.Distinct != 4 {
		t.Errorf("the zero VocabularyOptions keep %d of %d words: want 4, of 5 occurrences", all.Len(), stats.Distinct)
	}
}
