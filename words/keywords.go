package words

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/extsort"
	"github.com/collocate/collocate/internal/given"
)

// Keyness is a measure of how much more frequent a word is in one corpus than in another. A word
// occurs f1 times among the n1 words of the first corpus, and f2 times among the n2 words of the
// second.
type Keyness int

const (
	// KeyLRC is the conservative log ratio (Evert 2022). It is the end nearer to 0 of the 95%
	// confidence interval of log2((f1/n1)/(f2/n2)), or 0 if the interval contains 0.
	KeyLRC Keyness = iota
	// KeyG2 is the log-likelihood ratio of the table f1, n1-f1, f2, n2-f2. It is negative for words
	// that are rarer in the first corpus.
	KeyG2
	KeyLogRatio // log2((f1/n1)/(f2/n2)), with 0.5 for a frequency of 0
	KeyDiff     // %DIFF: by how many per cent f1/n1 is above f2/n2, with 0.5 for an f2 of 0
)

var keynessNames = choice.New[Keyness]("keyness", "lrc", "g2", "logratio", "diff")

func (k Keyness) String() string { return keynessNames.Of(k) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Keyness) MarshalText() ([]byte, error) { return keynessNames.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Keyness) UnmarshalText(name []byte) error { return keynessNames.Set(k, string(name)) }

// Score computes the measure. tests is the number of words that are compared, for which LRC is
// corrected.
func (k Keyness) Score(f1, n1, f2, n2 float64, tests int) float64 {
	half := func(f float64) float64 {
		if f == 0 {
			return 0.5
		}
		return f
	}
	switch k {
	case KeyG2:
		return table{o11: f1, r1: f1 + f2, c1: n1, n: n1 + n2}.g2()
	case KeyLogRatio:
		return math.Log2(half(f1) / n1 / (half(f2) / n2))
	case KeyDiff:
		r := half(f2) / n2
		return 100 * (f1/n1 - r) / r
	}
	return logRatioConservative(f1, n1, f2, n2, 0.95, tests)
}

// KeyOptions are the options of Keywords. The zero value means the defaults of `collocate
// keywords`.
type KeyOptions struct {
	By  Keyness // the measure to order words by; the zero value is KeyLRC
	Top int     // number of words to return; 0 means 20
	// MinCount leaves out words that occur less often in both corpora together. 0 means 5; 1 keeps
	// all words.
	MinCount uint64
	Negative bool // return the words that are rarer in the first corpus instead
	// Each, unless it is nil, is called for each keyword in order, instead of returning a list.
	Each func(Keyword) error
	// Memory is a bound in bytes on what is held of the words besides Frequencies; keywords beyond
	// it go to a temporary file. 0 means 2 GB.
	Memory  int64
	TempDir string // for this file; empty means the system's
}

// Keyword is a word with its frequencies in two corpora.
type Keyword struct {
	Word     string  `json:"word"`      // the key of Frequencies.Counts
	F1       uint64  `json:"f1"`        // occurrences in the first corpus
	F2       uint64  `json:"f2"`        // occurrences in the second
	LRC      float64 `json:"lrc"`       // KeyLRC at 95% confidence; 0 if not significant
	G2       float64 `json:"g2"`        // KeyG2; below 0 if the word is rarer in the first corpus
	LogRatio float64 `json:"log_ratio"` // KeyLogRatio; 1 is twice as frequent, -1 half
	Diff     float64 `json:"diff"`      // KeyDiff, in per cent
	P        float64 `json:"p"`         // p-value of G2
	Q        float64 `json:"q"`         // Benjamini and Hochberg's false discovery rate
}

func (k *Keyword) by(m Keyness) float64 {
	return [...]float64{k.LRC, k.G2, k.LogRatio, k.Diff}[m]
}

// Frequencies holds the words (or n-grams, or other items) of a corpus with their numbers of
// occurrences.
type Frequencies struct {
	Total  uint64            // words of the corpus
	Counts map[string]uint64 // occurrences by word; words that are missing have none
}

// Keywords compares two corpora and returns the words that set the first apart, in descending order
// of keyness; ties are ordered by G2, then by the word. compared is the number of words that were
// compared. Frequencies may also be numbers of documents.
func Keywords(ctx context.Context, a, b Frequencies,
	o KeyOptions) (list []Keyword, compared int, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, 0, err
	}
	if err := haveWords(a.Total, b.Total); err != nil {
		return nil, 0, err
	}
	return keywords(ctx, a.Total, b.Total, func(yield func(pair, error) bool) {
		for word, f1 := range a.Counts {
			if !yield(pair{word, f1, b.Counts[word]}, nil) {
				return
			}
		}
		for word, f2 := range b.Counts {
			if _, ok := a.Counts[word]; !ok && !yield(pair{word, 0, f2}, nil) {
				return
			}
		}
	}, o)
}

// ErrNoWords is in the error of a comparison with a corpus that is empty.
var ErrNoWords = errors.New("no words")

func haveWords(here, there uint64) error {
	switch {
	case here == 0:
		return fmt.Errorf("the corpus has %w", ErrNoWords)
	case there == 0:
		return fmt.Errorf("the reference corpus has %w", ErrNoWords)
	}
	return nil
}

// pair is a word with its frequencies in two corpora.
type pair struct {
	word   string
	f1, f2 uint64
}

// keywords is Keywords for words that are read twice, in any order: first for the p-values of all,
// then for the scores, which depend on their number.
func keywords(ctx context.Context, n1, n2 uint64, pairs iter.Seq2[pair, error],
	o KeyOptions) (list []Keyword, compared int, err error) {
	if o.Top <= 0 {
		o.Top = 20
	}
	if o.MinCount == 0 {
		o.MinCount = 5
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	each := func(fn func(pair) error) error {
		seen := 0
		for w, err := range pairs {
			if err != nil {
				return err
			}
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if w.f1+w.f2 >= o.MinCount {
				if err := fn(w); err != nil {
					return err
				}
			}
		}
		return nil
	}
	var p []float64
	if err := each(func(w pair) error {
		p = append(p, chiTail(math.Abs(KeyG2.Score(float64(w.f1), float64(n1), float64(w.f2), float64(n2), 0))))
		if need := int64(2 * 8 * cap(p)); need > o.Memory/2 {
			return fmt.Errorf("the p-values of %d words exceed words.KeyOptions.Memory: raise it, or words.KeyOptions.MinCount", len(p))
		}
		return nil
	}); err != nil {
		return nil, 0, err
	}
	compared = len(p)
	adjust := newAdjusted(p)
	sign := 1.0
	if o.Negative {
		sign = -1
	}
	score := func(w pair) Keyword {
		k := Keyword{Word: w.word, F1: w.f1, F2: w.f2}
		f1, f2, x, y := float64(w.f1), float64(w.f2), float64(n1), float64(n2)
		k.G2 = KeyG2.Score(f1, x, f2, y, compared)
		k.LogRatio = KeyLogRatio.Score(f1, x, f2, y, compared)
		k.Diff = KeyDiff.Score(f1, x, f2, y, compared)
		k.P = chiTail(math.Abs(k.G2))
		// The confidence interval of LRC contains 0 wherever the test is not significant at all.
		if k.P < 0.5 {
			k.LRC = KeyLRC.Score(f1, x, f2, y, compared)
		}
		return k
	}
	// A record sorts bytewise: the measure and G2, in descending order, then the word. The
	// frequencies follow, from which the scores are computed again.
	sorted := &extsort.Sorter{Room: o.Memory / 8, Dir: o.TempDir, Limit: o.Top}
	defer sorted.Close()
	var record []byte
	err = each(func(w pair) error {
		k := score(w)
		// The 0.5 that replaces a frequency of 0 has a large effect in a small corpus, which alone
		// must not make a keyword.
		if sign*k.by(o.By) <= 0 || sign*k.G2 <= 0 {
			return nil
		}
		record = appendDescending(record[:0], sign*k.by(o.By), sign*k.G2)
		record = appendKey(record, w.word)
		record = binary.BigEndian.AppendUint64(record, w.f1)
		record = binary.BigEndian.AppendUint64(record, w.f2)
		return sorted.Add(record)
	})
	if err != nil {
		return nil, 0, err
	}
	var word []byte
	for record, err := range sorted.All() {
		if err != nil {
			return nil, 0, err
		}
		word, record = cutKey(word[:0], record[16:])
		k := score(pair{string(word), binary.BigEndian.Uint64(record), binary.BigEndian.Uint64(record[8:])})
		k.Q = adjust.Q(k.P)
		if o.Each == nil {
			list = append(list, k)
		} else if err := o.Each(k); err != nil {
			return nil, 0, err
		}
	}
	return list, compared, nil
}

// appendDescending appends positive numbers so that records sort by them in descending order.
func appendDescending(b []byte, numbers ...float64) []byte {
	for _, x := range numbers {
		b = binary.BigEndian.AppendUint64(b, ^math.Float64bits(x))
	}
	return b
}
