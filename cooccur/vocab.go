package cooccur

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"

	"github.com/collocate/collocate/internal/choice"
)

// Vocabulary is a list of distinct words with their counts. A word's position in the list, from 0,
// is its ID; GloVe's files count from 1. Vocabularies are immutable, and several goroutines may use
// one.
type Vocabulary struct {
	arena  []byte
	ends   []uint64 // end of each word in arena
	counts []uint64

	index func() *lexicon // word to ID+1; nil in the zero value, which has no words
}

// Order is the order of words with equal counts.
type Order int

const (
	// GloVeOrder is the order of Stanford GloVe, which compares bytes as signed chars, with a zero
	// byte at the end of the word. So bytes from 0x80 come before ASCII and even before the end of
	// the word: "aé", "a", "aa".
	GloVeOrder Order = iota
	// ByteOrder compares bytes as unsigned numbers, as Go and sort(1) in the C locale do.
	ByteOrder
)

var orderNames = choice.New[Order]("order", "glove", "bytes")

func (o Order) String() string { return orderNames.Of(o) }

// MarshalText returns the name, for JSON.
func (o Order) MarshalText() ([]byte, error) { return orderNames.Text(o) }

// UnmarshalText is the inverse of MarshalText.
func (o *Order) UnmarshalText(name []byte) error { return orderNames.Set(o, string(name)) }

// compare orders two words of equal count.
func (o Order) compare(a, b []byte) int {
	if o == ByteOrder {
		return bytes.Compare(a, b)
	}
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return cmp.Compare(int8(a[i]), int8(b[i]))
		}
	}
	for _, c := range a[n:] {
		if c != 0 {
			return cmp.Compare(int8(c), 0)
		}
	}
	for _, c := range b[n:] {
		if c != 0 {
			return cmp.Compare(0, int8(c))
		}
	}
	return cmp.Compare(len(a), len(b)) // equal, or they differ in trailing zero bytes only
}

// Len returns the number of words.
func (v *Vocabulary) Len() int { return len(v.counts) }

// Word returns the word with the given ID. Its bytes must not be changed.
func (v *Vocabulary) Word(id int) []byte {
	start := uint64(0)
	if id > 0 {
		start = v.ends[id-1]
	}
	return v.arena[start:v.ends[id]:v.ends[id]]
}

// Count returns the number of occurrences of a word.
func (v *Vocabulary) Count(id int) uint64 { return v.counts[id] }

// Total returns the sum of all counts.
func (v *Vocabulary) Total() (total uint64) {
	for _, c := range v.counts {
		total += c
	}
	return total
}

// Lookup returns the ID of a word.
func (v *Vocabulary) Lookup(word []byte) (id int, ok bool) {
	if len(word) == 0 {
		return 0, false
	}
	n := v.lexicon().get(keyOf(word, 0, len(word)), word)
	return int(n) - 1, n != 0
}

// lexicon returns the table from words to IDs + 1.
func (v *Vocabulary) lexicon() *lexicon {
	if v.index == nil {
		return newLexicon(0, 0)
	}
	return v.index()
}

// add appends a word. After the last one, call seal.
func (v *Vocabulary) add(word []byte, count uint64) {
	v.arena = append(v.arena, word...)
	v.ends = append(v.ends, uint64(len(v.arena)))
	v.counts = append(v.counts, count)
}

func (v *Vocabulary) seal() *Vocabulary {
	v.index = sync.OnceValue(func() *lexicon {
		x := v.newIndex()
		for id := range v.counts {
			w := v.Word(id)
			*x.at(keyOf(w, 0, len(w)), w) = uint64(id) + 1
		}
		return x
	})
	return v
}

// newIndex returns an empty table with room for all words.
func (v *Vocabulary) newIndex() *lexicon {
	short, inline := 0, 0
	for id := range v.counts {
		switch n := len(v.Word(id)); {
		case n <= shortMax:
			short++
		case n <= inlineMax:
			inline++
		}
	}
	return newLexicon(short, inline)
}

// maxWords is the largest number of words that fits the int32 of GloVe's files.
const maxWords = 1<<31 - 1

func tooManyWords(n int) error {
	return fmt.Errorf("%d distinct words: want at most %d; use cooccur.VocabularyOptions.MinCount or cooccur.VocabularyOptions.MaxSize", n, maxWords)
}

// memory returns the size in bytes, including the index.
func (v *Vocabulary) memory() int64 {
	return int64(cap(v.arena)) + 8*int64(cap(v.ends)+cap(v.counts)) + v.lexicon().memory()
}
