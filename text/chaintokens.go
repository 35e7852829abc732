package text

import (
	"slices"
	"unicode/utf8"
)

// place returns the position of a word.
func (t *Tokens) place(i int) uint32 {
	if len(t.At) > 0 {
		return t.At[i]
	}
	return uint32(i)
}

// positions fills At with the positions of words that have none of their own yet.
func (t *Tokens) positions() {
	if len(t.At) > 0 || len(t.Words) == 0 {
		return
	}
	t.At = slices.Grow(t.At[:0], len(t.Words))
	for i := range t.Words {
		t.At = append(t.At, uint32(i))
	}
}

// distinct drops words that are the same as others at the same position, since lists of positions
// rise.
func (t *Tokens) distinct() {
	if len(t.At) == 0 {
		return
	}
	kept, group := 0, 0 // words that are kept, and the first of those at the current position
	for i := range t.Words {
		if kept > 0 && t.At[i] != t.At[kept-1] {
			group = kept
		}
		same := false
		for j := group; j < kept && !same; j++ {
			same = string(t.Word(j)) == string(t.Word(i))
		}
		if same {
			continue
		}
		t.Words[kept], t.At[kept], t.Source[kept] = t.Words[i], t.At[i], t.Source[i]
		kept++
	}
	t.Words, t.At, t.Source = t.Words[:kept], t.At[:kept], t.Source[:kept]
}

// room returns one of two buffers, in turn: a filter reads from one and writes to the other.
func (t *Tokens) room() []byte {
	t.turn ^= 1
	return t.rooms[t.turn][:0]
}

// use makes a buffer, which room returned, the bytes of the words.
func (t *Tokens) use(out []byte) { t.rooms[t.turn], t.Bytes = out, out }

// move makes word i the word at index to, with the given bytes.
func (t *Tokens) move(to, i int, word Span) {
	t.Words[to] = word
	if len(t.Source) > 0 {
		t.Source[to] = t.Source[i]
	}
	if len(t.At) > 0 {
		t.At[to] = t.At[i]
	}
}

// truncate keeps the first n words.
func (t *Tokens) truncate(n int) {
	t.Words = t.Words[:n]
	t.Source = t.Source[:min(n, len(t.Source))]
	t.At = t.At[:min(n, len(t.At))]
}

// tokenList are the words that a filter reads while it writes others.
type tokenList struct {
	bytes         []byte
	words, source []Span
	at            []uint32
}

func (l *tokenList) word(i int) []byte { return l.bytes[l.words[i].Start:l.words[i].End] }

// begin returns the words, and makes room for those that replace them.
func (t *Tokens) begin() tokenList {
	l := tokenList{t.Bytes, t.Words, t.Source, t.At}
	t.Words, t.old.words = t.old.words[:0], t.Words
	t.Source, t.old.source = t.old.source[:0], t.Source
	t.At, t.old.at = t.old.at[:0], t.At
	return l
}

// emit appends a word, whose bytes it appends to out.
func (t *Tokens) emit(out, word []byte, source Span, at uint32) []byte {
	start := len(out)
	out = append(out, word...)
	t.Words = append(t.Words, Span{uint32(start), uint32(len(out))})
	t.Source = append(t.Source, source)
	t.At = append(t.At, at)
	return out
}

// mapping finds the source of a part of a word. If the word has as many characters as its source,
// it is these characters of the source; otherwise it is the source of the whole word.
type mapping struct {
	source Span
	starts []uint32 // offsets of the characters of the word, and its length
	from   []uint32 // the same of its source; empty if that has another number of characters
}

// mapWord makes a mapping in t's memory.
func (t *Tokens) mapWord(word, doc []byte, source Span) mapping {
	t.offsets[0] = characters(word, t.offsets[0][:0])
	t.offsets[1] = characters(doc[source.Start:source.End], t.offsets[1][:0])
	m := mapping{source: source, starts: t.offsets[0], from: t.offsets[1]}
	if len(m.from) != len(m.starts) {
		m.from = nil
	}
	return m
}

// characters appends the offsets of the characters of a text, and its length.
func characters(b []byte, list []uint32) []uint32 {
	for at := 0; at < len(b); {
		list = append(list, uint32(at))
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return append(list, uint32(len(b)))
}

// span returns the source of some characters of the word.
func (m *mapping) span(from, to int) Span {
	if m.from == nil {
		return m.source
	}
	return Span{m.source.Start + m.from[from], m.source.Start + m.from[to]}
}

// index returns the number of the character at an offset of the word.
func (m *mapping) index(offset uint32) int {
	i, _ := slices.BinarySearch(m.starts, offset)
	return i
}
