package dict

import "slices"

// Text is a sequence of words in one piece of memory, to be looked up at once. The zero value is
// empty.
type Text struct {
	data []byte
	ends []uint64
}

// Add appends a word.
func (t *Text) Add(word []byte) {
	t.data = append(t.data, word...)
	t.ends = append(t.ends, uint64(len(t.data)))
}

// Append appends the words of another text.
func (t *Text) Append(more *Text) {
	base := uint64(len(t.data))
	t.data = append(t.data, more.data...)
	for _, end := range more.ends {
		t.ends = append(t.ends, base+end)
	}
}

// Grow makes room for more words with the given number of characters in all.
func (t *Text) Grow(words, chars int) {
	t.data, t.ends = slices.Grow(t.data, chars), slices.Grow(t.ends, words)
}

// Reset empties the text and keeps its memory.
func (t *Text) Reset() { t.data, t.ends = t.data[:0], t.ends[:0] }

// Len returns the number of words.
func (t *Text) Len() int { return len(t.ends) }

// Chars returns the number of characters of all words.
func (t *Text) Chars() int { return len(t.data) }

// Word returns the i-th word, from 0. It is valid until the next Add.
func (t *Text) Word(i int) []byte { return t.data[t.start(i):t.ends[i]] }

// start returns the offset of word i.
func (t *Text) start(i int) uint64 {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}
