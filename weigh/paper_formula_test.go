package weigh

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/collocate/collocate/bm25"
)

// The paper of 2016 weighs words by Robertson's idf, ln((N-df+0.5)/(df+0.5)). That is the variant
// terrier of package bm25, times ln 2, where the idf is positive; there it is 0 otherwise.
func TestTheIDFOf2016(t *testing.T) {
	const docs, tokens, k1, b = 1000, 250_000, 1.2, 0.75
	of2016 := func(df, tf, length float64) float64 {
		idf := math.Log((docs - df + 0.5) / (df + 0.5))
		return idf * (k1 + 1) * tf / (k1*((1-b)+b*length/(tokens/docs)) + tf)
	}
	s, err := bm25.Params{K1: k1, B: b, Variant: bm25.Terrier}.Scorer(docs, tokens)
	if err != nil {
		t.Fatal(err)
	}
	for _, df := range []uint64{1, 2, 17, 499, 500, 501, 1000} {
		for _, tf := range []uint32{1, 3, 40} {
			for _, length := range []uint32{1, 250, 4000} {
				term := s.Term(df, 1)
				got := math.Ln2 * float64(term.Score(tf, length))
				want := max(0, of2016(float64(df), float64(tf), float64(length)))
				if math.Abs(got-want) > 1e-5*want {
					t.Errorf("df %d, tf %d, %d words: %v, want %v", df, tf, length, got, want)
				}
			}
		}
	}
	if of2016(501, 1, 250) >= 0 || of2016(500, 1, 250) != 0 {
		t.Error("words in more than half of the documents should have negative weights")
	}
}

// What is left of the equation in the text of the paper: the numerators, with N, 0.5 and (k1+1)tf.
// The equation of 2017 has no 0.5.
func TestTheEquationOf2016(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "seeds", "002_*.txt"))
	if err != nil || len(files) != 1 {
		t.Skip("no text of the paper beside the checkout")
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^\S*g N 0\.?5 \(k1 \+ `).Match(text) {
		t.Error("the text has no numerators \"log N 0.5 (k1 + 1)tf\"")
	}
}
