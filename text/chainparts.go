package text

import (
	"unicode"
	"unicode/utf8"
)

// partsFilter adds the parts of names: asyncio.create_task is also asyncio, create and task, and
// HTTPServer is HTTP and Server. The parts take successive positions, the name that of its first
// part, so that the phrase "create task" matches however the name is written.
type partsFilter struct{}

func (partsFilter) filter(doc []byte, t *Tokens) {
	out := t.room()
	list := t.begin()
	at := uint32(0)
	for i := range list.words {
		word, source := list.word(i), list.source[i]
		spans := wordParts(word, t.spans[:0])
		t.spans = spans
		out = t.emit(out, word, source, at)
		if len(spans) > 1 || len(spans) == 1 && int(spans[0].End-spans[0].Start) < len(word) {
			m := t.mapWord(word, doc, source)
			for n, p := range spans {
				out = t.emit(out, word[p.Start:p.End], m.span(m.index(p.Start), m.index(p.End)), at+uint32(n))
			}
		}
		at += uint32(max(1, len(spans)))
	}
	t.use(out)
}

// wordParts appends the parts of a word: they end where letters and digits do, before a capital
// that follows a small letter or a digit, and before the last capital of several if a small letter
// follows.
func wordParts(word []byte, parts []Span) []Span {
	start := -1
	var before, last rune // the characters before the current one
	lastAt := 0
	end := func(at int) {
		if start >= 0 && at > start {
			parts = append(parts, Span{uint32(start), uint32(at)})
		}
	}
	for at := 0; at < len(word); {
		r, size := utf8.DecodeRune(word[at:])
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !(unicode.IsMark(r) && start >= 0):
			end(at)
			start, before, last = -1, 0, 0
			at += size
			continue
		case start < 0:
			start = at
		case unicode.IsUpper(r) && !unicode.IsUpper(last) && last != 0:
			end(at)
			start = at
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			end(lastAt)
			start = lastAt
		}
		if !unicode.IsMark(r) {
			before, last, lastAt = last, r, at
		}
		at += size
	}
	end(len(word))
	return parts
}

// maxGramWord is the longest word, in characters, of which n-grams are made. Longer ones are no
// words, and stay whole.
const maxGramWord = 999

// gramFilter replaces words by their n-grams of these sizes. The position of an n-gram is that of
// its first character, so that phrases of n-grams are parts of words. A word that is shorter than
// the smallest size stays.
type gramFilter [2]int

func (f gramFilter) filter(doc []byte, t *Tokens) {
	out := t.room()
	list := t.begin()
	at := uint32(0)
	for i := range list.words {
		word, source := list.word(i), list.source[i]
		n := utf8.RuneCount(word)
		if n < f[0] || n > maxGramWord {
			out = t.emit(out, word, source, at)
			at++
			continue
		}
		m := t.mapWord(word, doc, source)
		for first := 0; first+f[0] <= n; first++ {
			for end := first + f[0]; end <= min(first+f[1], n); end++ {
				out = t.emit(out, word[m.starts[first]:m.starts[end]], m.span(first, end), at)
			}
			at++
		}
	}
	t.use(out)
}

// edgeFilter adds the beginnings of words, of these sizes, at the positions of the words.
type edgeFilter [2]int

func (f edgeFilter) filter(doc []byte, t *Tokens) {
	t.positions()
	out := t.room()
	list := t.begin()
	for i := range list.words {
		word, source := list.word(i), list.source[i]
		out = t.emit(out, word, source, list.at[i])
		n := utf8.RuneCount(word)
		if n > maxGramWord {
			continue
		}
		m := t.mapWord(word, doc, source)
		for size := f[0]; size <= f[1] && size < n; size++ {
			out = t.emit(out, word[:m.starts[size]], m.span(0, size), list.at[i])
		}
	}
	t.use(out)
}
