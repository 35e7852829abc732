package words

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// The zero values of options give the results of the documented defaults, and not those of a
// neighbouring value: the corpus tells them apart.
func TestZeroOptions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	lines := make([]string, 400)
	for i := range lines {
		var words []string
		for range 1 + rng.IntN(30) {
			words = append(words, fmt.Sprintf("w%d", int(math.Exp(7*rng.Float64()))))
		}
		lines[i] = strings.Join(words, " ")
	}
	corpus := corpusOf(t, text.Lines, strings.Join(lines, "\n"))
	r := matrixOf(t, corpus, cooccur.Options{Window: 5, Weighting: cooccur.Count})
	frequencies := func(lines []string) Frequencies {
		f := Frequencies{Counts: map[string]uint64{}}
		for _, line := range lines {
			for word := range strings.FieldsSeq(line) {
				f.Total++
				f.Counts[word]++
			}
		}
		return f
	}
	here, there := frequencies(lines[:100]), frequencies(lines[100:])
	query, err := ParseQuery(strings.Fields(lines[0])[0], analyzer(t, "unicode"))
	if err != nil {
		t.Fatal(err)
	}
	neighbours := func(o Options) (any, error) { return Neighbours(r, 0, o) }
	collocations := func(o Options) (any, error) { return Collocations(t.Context(), r, o) }
	ofCorpus := func(o CorpusOptions) (any, error) {
		list, _, err := CollocationsOf(t.Context(), corpus, o)
		return list, err
	}
	keywords := func(o KeyOptions) (any, error) {
		list, compared, err := Keywords(t.Context(), here, there, o)
		return []any{list, compared}, err
	}
	ngrams := func(o NgramOptions) (any, error) {
		list, _, err := Ngrams(t.Context(), corpus, o)
		return list, err
	}
	concord := func(o ConcordanceOptions) (any, error) {
		return Concord(t.Context(), corpus, query, o)
	}
	for name, c := range map[string]struct{ zero, same, other func() (any, error) }{
		"Neighbours": {
			func() (any, error) { return neighbours(Options{}) },
			func() (any, error) { return neighbours(Options{By: []Measure{LogDice}, Top: 10}) },
			func() (any, error) { return neighbours(Options{Top: 20}) },
		},
		"Collocations": {
			func() (any, error) { return collocations(Options{}) },
			func() (any, error) { return collocations(Options{By: []Measure{LogDice}, Top: 20}) },
			func() (any, error) { return collocations(Options{Top: 10}) },
		},
		"CollocationsOf": {
			func() (any, error) { return ofCorpus(CorpusOptions{}) },
			func() (any, error) {
				return ofCorpus(CorpusOptions{Options: Options{Top: 20, MinCount: 5}, Window: 5, MinDocs: 3,
					Analyzer: analyzer(t, "unicode")})
			},
			func() (any, error) { return ofCorpus(CorpusOptions{Options: Options{MinCount: 1}}) },
		},
		"Keywords": {
			func() (any, error) { return keywords(KeyOptions{}) },
			func() (any, error) { return keywords(KeyOptions{By: KeyLRC, Top: 20, MinCount: 5}) },
			func() (any, error) { return keywords(KeyOptions{MinCount: 1}) },
		},
		"Ngrams": {
			func() (any, error) { return ngrams(NgramOptions{}) },
			func() (any, error) { return ngrams(NgramOptions{Min: 2, Max: 5, MinCount: 5}) },
			func() (any, error) { return ngrams(NgramOptions{MinCount: 1}) },
		},
		"Concord": {
			func() (any, error) { return concord(ConcordanceOptions{}) },
			func() (any, error) { return concord(ConcordanceOptions{Window: 10, Top: 50}) },
			func() (any, error) { return concord(ConcordanceOptions{Window: 9}) },
		},
	} {
		zero, err := c.zero()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if same, err := c.same(); err != nil || !reflect.DeepEqual(zero, same) {
			t.Errorf("%s: the zero value gives %.200s, want the result of the defaults, %.200s, %v", name,
				fmt.Sprint(zero), fmt.Sprint(same), err)
		}
		if other, err := c.other(); err != nil || reflect.DeepEqual(zero, other) {
			t.Errorf("%s: other options give the same result, %v: the test cannot fail", name, err)
		}
	}
}
