// Package spelling finds known words with a spelling similar to an unknown one.
package spelling

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// most is the number of words that are suggested.
const most = 3

// Suggester finds words that are similar to a given one: equal except for capitals, at edit
// distance 1, or 2 for words of more than four letters.
type Suggester struct {
	word  []byte
	want  []rune
	far   int
	row   []int
	found []candidate
}

type candidate struct {
	word     string
	count    uint64
	distance int
}

// New makes a suggester for a word.
func New(word string) *Suggester {
	s := &Suggester{word: []byte(word), want: []rune(word), far: 2}
	if len(s.want) <= 4 {
		s.far = 1
	}
	s.row = make([]int, len(s.want)+1)
	return s
}

// Look considers a word of the vocabulary, with its number of occurrences.
func (s *Suggester) Look(word []byte, count uint64) {
	if len(word) > 4*(len(s.word)+s.far) || 4*(len(word)+s.far) < len(s.word) {
		return
	}
	d := distance(s.want, word, s.row, s.far)
	if d > 0 && bytes.EqualFold(word, s.word) {
		d = 0
	}
	if d <= s.far {
		s.found = append(s.found, candidate{string(word), count, d})
	}
}

// Best returns up to three words, the nearest and then the most frequent first.
func (s *Suggester) Best() (list []string) {
	slices.SortFunc(s.found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(b.count, a.count),
			cmp.Compare(a.word, b.word))
	})
	for _, c := range s.found {
		if len(list) < most && !slices.Contains(list, c.word) {
			list = append(list, c.word)
		}
	}
	return list
}

// distance returns the edit distance (insertions, deletions, replacements), or more than most.
func distance(a []rune, b []byte, row []int, most int) int {
	if n := utf8.RuneCount(b); n > len(a)+most || n+most < len(a) {
		return most + 1
	}
	for i := range row {
		row[i] = i
	}
	j := 0
	for _, c := range string(b) {
		j++
		diagonal, least := row[0], j
		row[0] = j
		for i, r := range a {
			d := diagonal
			if r != c {
				d = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], d
			least = min(least, d)
		}
		if least > most {
			return least
		}
	}
	return row[len(a)]
}

// DidYouMean returns " (did you mean ...?)" for the given words, of which it names three, or "".
func DidYouMean(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return didYouMean + strings.Join(words[:min(most, len(words))], ", ") + "?)"
}

const didYouMean = " (did you mean "

// CutDidYouMean returns what precedes DidYouMean's words in a sentence, and the words.
func CutDidYouMean(sentence string) (what string, words []string) {
	what, list, ok := strings.Cut(sentence, didYouMean)
	if ok {
		words = strings.Split(strings.TrimSuffix(list, "?)"), ", ")
	}
	return what, words
}
