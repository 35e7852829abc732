package search

import (
	"fmt"
	"unsafe"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// wording is the words of a query and what the index knows of them.
type wording struct {
	terms   []queryTerm    // that the index knows, in query order
	words   map[string]int // where each of many is
	tokens  text.Tokens    // of the text
	hashes  []uint64       // of the tokens
	guesses []*knownWord   // what they are likely to be
}

// queryTerm is a word of the query that the index knows.
type queryTerm struct {
	text   string
	weight float64
	info   index.Term
}

// The words of a query are looked up in three steps, read, guess and lookUp. A word that is not in a cache of the core takes two reads of memory, one
// after the other, and its list takes more: each step asks memory for what the next one needs, for all words, and does not wait. It takes a twentieth
// off the time of short AND queries, and more where the steps are taken for several queries at once.

// read takes the text of a request apart and asks for what is known of its words.
func (w *wording) read(s *Searcher, r *Request) error {
	w.hashes = w.hashes[:0]
	if len(r.Words) > 0 {
		return nil
	}
	text := unsafe.Slice(unsafe.StringData(r.Text), len(r.Text)) // analyzers do not write to what they read
	if err := s.analyzer.Analyze(text, &w.tokens); err != nil {
		return fmt.Errorf("analyzing the query: %w", err)
	}
	for i := range w.tokens.Words {
		hash := s.known.hash(w.tokens.Word(i))
		s.known.ask(hash)
		w.hashes = append(w.hashes, hash)
	}
	return nil
}

// guess looks for the words among the known ones, by hash alone.
func (w *wording) guess(known *wordCache) {
	w.guesses = w.guesses[:0]
	for _, hash := range w.hashes {
		k := known.likely(hash)
		if k != nil {
			prefetch(unsafe.Pointer(k))
		}
		w.guesses = append(w.guesses, k)
	}
}

// lookUp fills w.terms. In mode And an unknown word means that nothing can be found: then
// there are no terms at all.
func (w *wording) lookUp(s *Searcher, r *Request) error {
	w.terms = w.terms[:0]
	clear(w.words)
	known := true
	if len(r.Words) > 0 {
		for _, word := range r.Words {
			weight := word.Weight
			if weight == 0 {
				weight = 1
			}
			if !(weight > 0 && weight <= 1e9) {
				return fmt.Errorf("word %q: weight %v: want a positive number", word.Text, word.Weight)
			}
			ok, err := w.add(s, []byte(word.Text), weight, nil)
			if err != nil {
				return err
			}
			known = known && ok
		}
	} else {
		for i := range w.tokens.Words {
			ok, err := w.add(s, w.tokens.Word(i), 1, w.guesses[i])
			if err != nil {
				return err
			}
			known = known && ok
		}
	}
	if r.Mode == And && !known {
		w.terms = w.terms[:0]
	}
	return nil
}

// add adds a word to the terms, unless the index does not know it. It is likely to be k.
func (w *wording) add(s *Searcher, word []byte, weight float64, k *knownWord) (known bool, err error) {
	if k == nil || k.text != string(word) {
		if k, err = s.known.find(s.index, word); err != nil {
			return false, fmt.Errorf("looking up %q: %w", word, err)
		}
	}
	if k.info.DF == 0 {
		return false, nil
	}
	if i := w.position(k.text); i >= 0 {
		w.terms[i].weight += weight
		return true, nil
	}
	s.index.Prefetch(k.info)
	w.terms = append(w.terms, queryTerm{text: k.text, weight: weight, info: k.info})
	w.remember()
	return true, nil
}

// fewWords are looked for one by one; more are put into a map.
const fewWords = 16

// position is where a word is among the terms; -1 if it is not.
func (w *wording) position(word string) int {
	if len(w.terms) > fewWords {
		if i, ok := w.words[word]; ok {
			return i
		}
		return -1
	}
	for i := range w.terms {
		if w.terms[i].text == word {
			return i
		}
	}
	return -1
}

// remember puts the newest term into the map, if there is one.
func (w *wording) remember() {
	n := len(w.terms)
	switch {
	case n == fewWords+1:
		if w.words == nil {
			w.words = map[string]int{}
		}
		for i := range w.terms {
			w.words[w.terms[i].text] = i
		}
	case n > fewWords:
		w.words[w.terms[n-1].text] = n - 1
	}
}
