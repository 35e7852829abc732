package vectors

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/collocate/collocate/text"
)

// rareness is the constant of the weight of a word in a text, ln(1 + 1/(rareness p)), where p is
// the word's share of all words. On Cranfield, CACM, CISI and Medline, 5 and 20 are as good, 100
// and more are worse, and so is a/(a+p) with a of 0.001 or 0.0001, the smooth inverse frequency of
// Arora, Liang and Ma (2017): docs/meaning.md has the figures.
const rareness = 10

// ForTexts returns vectors whose sum over the words of a text stands for the text. Each vector is
// multiplied by a weight, larger for rarer words, and loses its part in the direction of the mean
// word of the corpus, which all texts share. counts has the number of occurrences of each word, and
// analyzer is what divided the corpus into words.
func (v *Vectors) ForTexts(counts func(word int) uint64, analyzer string) (*Vectors, error) {
	if analyzer == "" {
		return nil, errors.New("the analyzer of the corpus is not known")
	}
	if _, err := text.ParseAnalyzer(analyzer); err != nil {
		return nil, err
	}
	total := 0.0
	for i := range v.Words {
		total += float64(counts(i))
	}
	if total == 0 {
		return nil, errors.New("the words have no counts")
	}
	mean := make([]float64, v.Dim)
	weights := make([]float64, len(v.Words))
	for i := range v.Words {
		share := float64(counts(i)) / total
		if share == 0 {
			continue // its weight is 0
		}
		weights[i] = math.Log1p(1 / (rareness * share))
		for k, x := range v.Of(i) {
			mean[k] += share * weights[i] * float64(x)
		}
	}
	square := 0.0
	for _, x := range mean {
		square += x * x
	}
	data := make([]float32, len(v.Data))
	for i := range v.Words {
		along := 0.0
		if square > 0 {
			for k, x := range v.Of(i) {
				along += mean[k] * float64(x)
			}
			along /= square
		}
		for k, x := range v.Of(i) {
			data[i*v.Dim+k] = float32(weights[i] * (float64(x) - along*mean[k]))
		}
	}
	made, err := New(v.Words, v.Dim, data)
	if err != nil {
		return nil, err
	}
	made.Analyzer = analyzer
	return made, nil
}

// ErrTexts is wrapped by the error of vectors that are not for texts.
var ErrTexts = errors.New("these vectors are of words alone: want those of ForTexts, which know " +
	"how texts are divided into words")

// Texts returns a function that makes vectors of texts: sums of the vectors of their words, in the
// order of the texts. A text none of whose words has a vector has none: nil.
func (v *Vectors) Texts() (func(text string) []float32, error) {
	if v.Analyzer == "" {
		return nil, ErrTexts
	}
	analyzer, err := text.ParseAnalyzer(v.Analyzer)
	if err != nil {
		return nil, fmt.Errorf("the analyzer of these vectors: %w", err)
	}
	var spare sync.Pool // of *text.Tokens
	return func(s string) []float32 {
		t, _ := spare.Get().(*text.Tokens)
		if t == nil {
			t = &text.Tokens{}
		}
		defer spare.Put(t)
		if analyzer.Analyze([]byte(s), t) != nil { // 4 GiB or more
			return nil
		}
		sum := make([]float64, v.Dim)
		for w := range t.Words {
			if i, ok := v.index[string(t.Word(w))]; ok {
				for k, x := range v.Of(i) {
					sum[k] += float64(x)
				}
			}
		}
		vector := make([]float32, v.Dim)
		zero := true
		for k, x := range sum {
			vector[k] = float32(x)
			zero = zero && vector[k] == 0
		}
		if zero {
			return nil
		}
		return vector
	}, nil
}
