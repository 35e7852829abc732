package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
)

// passagePart is a part of a text, in bytes.
type passagePart struct {
	start, end int
	inside     int // offset whose headings it has; see below
}

// wordBorders finds where a text may be cut. A word is a run of bytes that are no white space;
// every letter of a script without blanks is one, and so are 64 bytes of a longer run. So a passage
// is never much longer than its words.
type wordBorders struct {
	at   []int         // where each word begins
	kind []borderKinds // the strongest border before it
}

// borderKinds says how good a place a border is to cut a text, the best last.
type borderKinds byte

const (
	betweenWords borderKinds = iota
	betweenLines
	betweenSentences
	beforeHeading
)

const longestWord = 64

// find fills the list of words.
func (w *wordBorders) find(text []byte, headings []Heading) {
	w.at, w.kind = w.at[:0], w.kind[:0]
	border, lines := betweenWords, 0
	var last rune // before the white space
	in, begun := false, 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if unicode.IsSpace(r) {
			if in {
				border, lines, in = betweenWords, 0, false
			}
			if r == '\n' {
				lines++
			}
			at += size
			continue
		}
		if !in || at-begun >= longestWord || withoutBlanks(r) || withoutBlanks(last) {
			kind := betweenWords
			switch {
			case in:
				if fullStop(last) && withoutBlanks(last) {
					kind = betweenSentences
				}
			case lines > 1 || endsSentence(text[:at], last) && !unicode.IsLower(r):
				kind = betweenSentences
			case lines == 1:
				kind = betweenLines
			}
			border = max(border, kind)
			for len(headings) > 0 && headings[0].At <= at {
				border, headings = beforeHeading, headings[1:]
			}
			w.at, w.kind = append(w.at, at), append(w.kind, border)
			in, begun, border = true, at, betweenWords
		}
		last = r
		at += size
	}
}

// withoutBlanks reports whether words of the letter's script have no blanks between them.
func withoutBlanks(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) ||
		r == '。' || r == '！' || r == '？' || unicode.Is(unicode.Thai, r)
}

func fullStop(r rune) bool {
	switch r {
	case '.', '!', '?', '…', '。', '！', '？', '؟', '।':
		return true
	}
	return false
}

// endsSentence reports whether a sentence ends with the last letter of a text, before which there
// may be closing quotes and brackets.
func endsSentence(text []byte, last rune) bool {
	if fullStop(last) {
		return true
	}
	if !unicode.In(last, unicode.Pe, unicode.Pf) && last != '"' && last != '\'' {
		return false
	}
	for n := 0; n < 16 && len(text) > 0; n++ {
		r, size := utf8.DecodeLastRune(text)
		text = text[:len(text)-size]
		switch {
		case fullStop(r):
			return true
		case unicode.IsSpace(r), unicode.In(r, unicode.Pe, unicode.Pf), r == '"', r == '\'':
		default:
			return false
		}
	}
	return false
}

// cut returns the passages of a text, which together are all of it. A passage ends before the first
// heading after a quarter of its words. Without one it ends with the last sentence after half of
// them, or else the last line, or else the last word.
func (w *wordBorders) cut(text []byte, headings []Heading, p *fields.Passages) (list []passagePart) {
	w.find(text, headings)
	n := len(w.at)
	if n == 0 {
		return []passagePart{{0, len(text), 0}}
	}
	offset := func(word int) int {
		if word == n {
			return len(text)
		}
		return w.at[word]
	}
	for from := 0; ; {
		to := w.end(from, n, p.Words)
		start := offset(from)
		if len(list) == 0 {
			start = 0
		}
		list = append(list, passagePart{start, offset(to), w.at[w.below(text, from, to, p.Words)]})
		if to == n {
			return list
		}
		from = w.next(from, to, p.Overlap)
	}
}

// end returns the word before which the passage ends that begins with a word.
func (w *wordBorders) end(from, n, words int) int {
	most := min(from+words, n)
	for i := from + max(words/4, 1); i <= most && i < n; i++ {
		if w.kind[i] == beforeHeading {
			return i
		}
	}
	if most == n {
		return n
	}
	for _, least := range []borderKinds{betweenSentences, betweenLines} {
		for i := most; i > from+words/2; i-- {
			if w.kind[i] >= least {
				return i
			}
		}
	}
	return most
}

// below returns the word of a passage whose headings it has: the first heading within a quarter of
// its words, with those that follow it at once, or else the first word.
func (w *wordBorders) below(text []byte, from, to, words int) int {
	at, last := from, min(from+words/4, to)
	for at < last && w.kind[at] != beforeHeading {
		at++
	}
	if at == last {
		return from
	}
	for i := at + 1; i < to; i++ { // the words of headings, and the lines under them
		switch {
		case w.kind[i] == beforeHeading:
			at = i
		case w.kind[i] != betweenWords && !ornaments(text[w.at[i]:]):
			return at
		}
	}
	return at
}

// ornaments reports whether a word consists of the signs that underline headings.
func ornaments(text []byte) bool {
	for i, c := range text {
		switch {
		case c == ' ' || c == '\n' || c == '\r':
			return i > 1
		case c != text[0] || !bytes.ContainsAny([]byte{c}, "=-~^'`#*+."):
			return false
		}
	}
	return len(text) > 1
}

// next returns the word with which the next passage begins, at least one after the last did.
func (w *wordBorders) next(from, to, overlap int) int {
	if overlap == 0 || w.kind[to] == beforeHeading {
		return to
	}
	first := max(to-overlap, from+1)
	for i := to - 1; i >= first; i-- { // nothing from before a heading
		if w.kind[i] == beforeHeading {
			first = i
		}
	}
	for i := first; i < to; i++ {
		if w.kind[i] >= betweenSentences {
			return i
		}
	}
	return first
}
