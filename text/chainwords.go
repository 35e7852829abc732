package text

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// wordTokens are the words that unicode finds, with their case.
type wordTokens struct{}

func (wordTokens) Name() string { return "words" }

func (wordTokens) Analyze(doc []byte, t *Tokens) error {
	wanted := t.WantSource
	t.WantSource = true
	err := (segmenter{fold: foldWithQuote}).segment(doc, t)
	t.WantSource = wanted
	if err != nil {
		return err
	}
	out := t.room()
	for i, s := range t.Source {
		start := len(out)
		out = appendAsWritten(out, doc[s.Start:s.End])
		t.Words[i] = Span{uint32(start), uint32(len(out))}
	}
	t.use(out)
	if !wanted {
		t.Source = t.Source[:0]
	}
	return nil
}

// appendAsWritten appends a word in NFC, with plain apostrophes.
func appendAsWritten(dst, word []byte) []byte {
	return appendLower(dst, word, func(r rune) rune {
		if r == '’' {
			return '\''
		}
		return r
	})
}

// codeTokens are the names in code and in text about it: runs of letters, digits, underscores and
// dollar signs, joined by single dots, :: and ->, that have a letter or a digit.
type codeTokens struct{}

func (codeTokens) Name() string { return "code" }

func (codeTokens) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source = t.Words[:0], t.Source[:0]
	out := t.room()
	for at := 0; at < len(doc); {
		n, good := nameLength(doc[at:])
		if n == 0 {
			_, size := utf8.DecodeRune(doc[at:])
			at += size
			continue
		}
		end := at + n
		for {
			joint := jointLength(doc[end:])
			more, alnum := nameLength(doc[end+joint:])
			if joint == 0 || more == 0 {
				break
			}
			end, good = end+joint+more, good || alnum
		}
		if good {
			start := len(out)
			out = appendAsWritten(out, doc[at:end])
			t.Words = append(t.Words, Span{uint32(start), uint32(len(out))})
			if t.WantSource {
				t.Source = append(t.Source, Span{uint32(at), uint32(end)})
			}
		}
		at = end
	}
	t.use(out)
	return nil
}

// nameLength returns the length of the simple name that a text begins with, and whether there is a
// letter or a digit in it.
func nameLength(b []byte) (n int, good bool) {
	for n < len(b) {
		r, size := utf8.DecodeRune(b[n:])
		alnum := unicode.IsLetter(r) || unicode.IsNumber(r)
		if !alnum && r != '_' && r != '$' && (n == 0 || !unicode.IsMark(r)) {
			break
		}
		n, good = n+size, good || alnum
	}
	return n, good
}

// jointLength returns the length of the sign that a text begins with, if it joins names.
func jointLength(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("::")), bytes.HasPrefix(b, []byte("->")):
		return 2
	case bytes.HasPrefix(b, []byte(".")):
		return 1
	}
	return 0
}

// valueTokens is the whole text as one word, without white space around it.
type valueTokens struct{}

func (valueTokens) Name() string { return "value" }

func (valueTokens) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Words, t.Source = t.Words[:0], t.Source[:0]
	word := bytes.TrimSpace(doc)
	if len(word) == 0 {
		return nil
	}
	out := appendAsWritten(t.room(), word)
	t.use(out)
	t.Words = append(t.Words, Span{0, uint32(len(out))})
	if t.WantSource {
		start := uint32(bytes.Index(doc, word))
		t.Source = append(t.Source, Span{start, start + uint32(len(word))})
	}
	return nil
}

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

// isAccent reports whether a character is an accent that combines with any letter.
func isAccent(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff
}

// afterLatin reports whether the last character of a word is a Latin or Greek letter, which an
// accent only modifies. In other scripts a mark may make another letter: й is not и.
func afterLatin(word []byte) bool {
	r, _ := utf8.DecodeLastRune(word)
	return unicode.In(r, unicode.Latin, unicode.Greek)
}

// plainLetters are the letters that Unicode does not decompose, and how they are written without
// accents.
var plainLetters = map[rune]string{
	'ß': "ss", 'ẞ': "SS", 'æ': "ae", 'Æ': "AE", 'œ': "oe", 'Œ': "OE", 'ø': "o", 'Ø': "O",
	'đ': "d", 'Đ': "D", 'ð': "d", 'Ð': "D", 'þ': "th", 'Þ': "TH", 'ł': "l", 'Ł': "L",
	'ħ': "h", 'Ħ': "H", 'ı': "i", 'ŧ': "t", 'Ŧ': "T", 'ŋ': "n", 'Ŋ': "N", 'ĸ': "k", 'ƒ': "f",
	'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
	'ĳ': "ij", 'Ĳ': "IJ", 'ŀ': "l", 'Ŀ': "L", 'ŉ': "n", 'ſ': "s",
}
