package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/cooccur"
)

// UnknownWord is the error for a word that is not in a vocabulary.
type UnknownWord struct {
	Word    string
	Similar []string // spelt alike, the nearest and most frequent first
}

func (e *UnknownWord) Error() string {
	s := fmt.Sprintf("the word %q is not in the vocabulary", e.Word)
	if len(e.Similar) > 0 {
		s += " (did you mean " + strings.Join(e.Similar, ", ") + "?)"
	}
	return s
}

// suggest lists up to three words that are spelt like this one: one letter apart, or two for longer
// words.
func suggest(r *cooccur.Reader, word string) (list []string) {
	most := 2
	if utf8.RuneCountInString(word) <= 4 {
		most = 1
	}
	type similar struct {
		id, distance int
	}
	var found []similar
	want := []rune(word)
	row := make([]int, len(want)+1)
	for id := range r.Len() {
		w := r.Word(id)
		if len(w) > 4*(len(word)+most) || 4*(len(w)+most) < len(word) {
			continue
		}
		if d := distance(want, w, row, most); d <= most {
			found = append(found, similar{id, d})
		}
	}
	slices.SortFunc(found, func(a, b similar) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance),
			cmp.Compare(r.Count(b.id), r.Count(a.id)), cmp.Compare(a.id, b.id))
	})
	for _, f := range found[:min(len(found), 3)] {
		list = append(list, string(r.Word(f.id)))
	}
	return list
}

// distance is the number of letters to insert, delete or replace, or more than most.
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
