package tree

import (
	"context"
	"slices"

	"github.com/collocate/collocate/search/internal/ask"
)

// Wanted is what a query scores by, to be marked in texts: a word, or several as a phrase or Near.
type Wanted struct {
	Field string // of the index; "" means the text
	Words []string
	match matcher // of several words
}

// Wants returns what a request's query scores by, each once. Words that no document has are left
// out.
func Wants(ctx context.Context, ix *Index, r *ask.Request) ([]Wanted, error) {
	p, err := prepare(ctx, ix, r)
	if err != nil || p.empty() {
		return nil, err
	}
	type word struct{ field, text string }
	var list []Wanted
	known := map[word]bool{}
	p.roots[0].each(func(n *node) {
		field := ""
		if n.src != nil {
			field = p.parts[0].e.FieldName(n.src)
		}
		if n.kind != phrase {
			for i := range n.terms {
				w := word{field, n.terms[i].Text}
				if n.terms[i].AllDF() > 0 && !known[w] {
					known[w] = true
					list = append(list, Wanted{Field: field, Words: []string{w.text}})
				}
			}
			return
		}
		w := Wanted{Field: field, match: n.places}
		for i := range n.terms {
			if n.terms[i].AllDF() == 0 {
				return
			}
			w.Words = append(w.Words, n.terms[i].Text)
		}
		w.match.prepare(n.terms)
		list = append(list, w)
	})
	return list, nil
}

// Each calls fn for all occurrences in a text with the words that are part of one: those of a
// phrase together, but those of a Near, or of a phrase with slop, one by one, since other words may
// lie between them. at has the indexes in the text of each of w.Words, and places the positions of
// the text's words.
func (w *Wanted) Each(ctx context.Context, at [][]int, places []uint32, fn func(words ...int)) error {
	if len(w.Words) == 1 {
		for _, k := range at[0] {
			fn(k)
		}
		return nil
	}
	lists := make([][]uint32, len(at))
	for i, indexes := range at {
		for _, k := range indexes {
			lists[i] = append(lists[i], places[k])
		}
	}
	s := &sweep{steps: steps{ctx: ctx}, at: make([]int, len(at))}
	if w.match.exact() {
		return w.eachExact(at, lists, s, fn)
	}
	// A word is part of an occurrence if the query matches with this position as the only one of
	// the word, and with those of the others that are not too far from it.
	near := make([][]uint32, len(lists))
	one := []uint32{0}
	for i, indexes := range at {
		for k, index := range indexes {
			place := lists[i][k]
			for j, list := range lists {
				at := int64(place)
				if !w.match.near {
					at += w.match.want(j) - w.match.want(i)
				}
				from := seek(list, 0, at-int64(w.match.slop))
				near[j] = list[from:seek(list, from, at+int64(w.match.slop)+1)]
			}
			one[0], near[i] = place, one
			clear(s.at)
			_, ok := w.match.first(near, s, -1)
			if s.err != nil {
				return s.err
			}
			if ok {
				fn(index)
			}
		}
	}
	return nil
}

// eachExact is Each for words that must be adjacent.
func (w *Wanted) eachExact(at [][]int, lists [][]uint32, s *sweep, fn func(words ...int)) error {
	words := make([]int, len(lists))
	for k, place := range lists[0] {
		if !s.step(len(lists)) {
			return s.err
		}
		words[0] = at[0][k]
		found := true
		for i := 1; found && i < len(lists); i++ {
			var n int
			n, found = slices.BinarySearch(lists[i], place-w.match.offset(0)+w.match.offset(i))
			if found {
				words[i] = at[i][n]
			}
		}
		if found {
			fn(words...)
		}
	}
	return nil
}
