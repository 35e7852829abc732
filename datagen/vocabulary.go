package datagen

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
)

// WordCount is a word with its number of occurrences.
type WordCount struct {
	Word  string // without white space, if ReadCounts read it
	Count int64  // occurrences, or documents with QueryOptions.Docs; with 0, no query has it
}

// maxCountLine bounds a line of a word-count file, in case a file is of another kind.
const maxCountLine = 1 << 20

// ReadCounts reads a word-count file: lines of a word, blanks or a tab, and a number, as
// GloVe's vocab_count writes them:
//
//	the 1061396
//	of 593677
//
// Empty lines are skipped. Errors call the file name.
func ReadCounts(r io.Reader, name string) ([]WordCount, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxCountLine)
	var counts []WordCount
	seen := map[string]int{}
	line := 0
	for sc.Scan() {
		line++
		fields := bytes.Fields(sc.Bytes())
		if len(fields) == 0 {
			continue
		}
		bad := func() error {
			return fmt.Errorf("%s:%d: want a word and a count, got %.60q", name, line, sc.Bytes())
		}
		if len(fields) != 2 {
			return nil, bad()
		}
		n, err := strconv.ParseInt(string(fields[1]), 10, 64)
		if err != nil || n < 0 {
			return nil, bad()
		}
		word := string(fields[0])
		if first, again := seen[word]; again {
			return nil, fmt.Errorf("%s:%d: the word %.60q was on line %d already", name, line, word,
				first)
		}
		seen[word] = line
		counts = append(counts, WordCount{word, n})
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: a line of more than %d bytes: want a word and a count", name,
			line+1, maxCountLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(counts) == 0 { // QueryOptions would take it for the words of a law
		return nil, fmt.Errorf("%s: no words: want lines of a word and a count", name)
	}
	return counts, nil
}

// vocabulary has the words that queries choose from, by descending share of documents that contain
// them.
type vocabulary struct {
	share  []float64
	counts []WordCount // nil means the words of a law
}

func newVocabulary(o QueryOptions) (*vocabulary, error) {
	text, err := TextOptions{Law: o.Law, Mu: o.Mu, Sigma: o.Sigma}.withDefaults()
	if err != nil {
		return nil, err
	}
	docs := newLengths(text.Mu, text.Sigma)
	if o.Vocabulary == nil {
		if o.Docs != 0 {
			return nil, errors.New("a number of documents needs a vocabulary")
		}
		return lawVocabulary(text.Law, docs), nil
	}
	v := new(vocabulary)
	total := int64(0)
	for _, c := range o.Vocabulary {
		if c.Count > 0 {
			v.counts = append(v.counts, c)
			total += c.Count
		}
		if o.Docs > 0 && c.Count > o.Docs {
			return nil, fmt.Errorf("the word %.60q is in %d documents, but there are only %d",
				c.Word, c.Count, o.Docs)
		}
		if c.Count < 0 || total < 0 {
			return nil, fmt.Errorf("the word %.60q: count %d, or the sum of counts, is out of range", c.Word, c.Count)
		}
	}
	if len(v.counts) == 0 {
		return nil, errors.New("the vocabulary has no word with a count above 0")
	}
	slices.SortStableFunc(v.counts, func(a, b WordCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Word, b.Word))
	})
	v.share = make([]float64, len(v.counts))
	for i, c := range v.counts {
		switch {
		case o.Docs > 0:
			v.share[i] = float64(c.Count) / float64(o.Docs)
		case i > 0 && c.Count == v.counts[i-1].Count:
			v.share[i] = v.share[i-1]
		default:
			v.share[i] = docs.documents(min(float64(c.Count)/float64(total), 1-1e-12))
		}
	}
	return v, nil
}

func lawVocabulary(l Law, docs lengths) *vocabulary {
	v := &vocabulary{share: make([]float64, 0, queryWords)}
	for c, p := range l.probabilities() {
		share := docs.documents(p)
		_, width := cellRanks(c)
		for range int64(1) << width {
			if len(v.share) == queryWords {
				return v
			}
			v.share = append(v.share, share)
		}
	}
	return v
}

func (v *vocabulary) word(i int) string {
	if v.counts == nil {
		return Word(int64(i))
	}
	return v.counts[i].Word
}

// firstBelow returns the first word that occurs in less than a share of the documents.
func (v *vocabulary) firstBelow(share float64) int {
	return sort.Search(len(v.share), func(i int) bool { return v.share[i] < share })
}
