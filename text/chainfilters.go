package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// eachWord is a filter that changes words one by one, and drops those of which nothing is left.
type eachWord struct {
	// change appends what becomes of a word.
	change func(dst, word []byte) []byte
}

func (f eachWord) filter(_ []byte, t *Tokens) {
	out, kept := t.room(), 0
	for i := range t.Words {
		start := len(out)
		out = f.change(out, t.Word(i))
		if len(out) > start {
			t.move(kept, i, Span{uint32(start), uint32(len(out))})
			kept++
		}
	}
	t.use(out)
	t.truncate(kept)
}

// appendLower appends a word with its case folded, in NFC.
func appendLower(dst, word []byte, fold func(rune) rune) []byte {
	start := len(dst)
	dst, _, composed := appendFolded(dst, word, fold)
	if !composed && !norm.NFC.IsNormal(dst[start:]) {
		dst = append(dst[:start], norm.NFC.Bytes(dst[start:])...)
	}
	return dst
}

// appendElided appends a word without an elided article before it: l'avion becomes avion.
func appendElided(dst, word []byte, articles string) []byte {
	if article, rest, ok := strings.Cut(string(word), "'"); ok && rest != "" &&
		strings.Contains(articles, " "+article+" ") {
		return append(dst, rest...)
	}
	return append(dst, word...)
}

// stopFilter drops words.
type stopFilter map[string]bool

func (f stopFilter) filter(_ []byte, t *Tokens) {
	kept := 0
	for i, w := range t.Words {
		if !f[string(t.Word(i))] {
			t.move(kept, i, w)
			kept++
		}
	}
	t.truncate(kept)
}

// stemFilter stems words, as the languages do.
type stemFilter struct{ l *language }

func (f stemFilter) filter(_ []byte, t *Tokens) {
	t.stems.use(f.l)
	out := t.room()
	for i, w := range t.Words {
		start := len(out)
		out = t.stems.appendStem(out, t.Bytes, w)
		t.Words[i] = Span{uint32(start), uint32(len(out))}
	}
	t.use(out)
}

// appendUnaccented appends a word without the accents of Latin and Greek letters.
func appendUnaccented(dst, word []byte) []byte {
	if ascii := !slices.ContainsFunc(word, func(c byte) bool { return c >= utf8.RuneSelf }); ascii {
		return append(dst, word...)
	}
	start := len(dst)
	for _, r := range norm.NFD.String(string(word)) {
		if s, ok := plainLetters[r]; ok {
			dst = append(dst, s...)
		} else if !isAccent(r) || !afterLatin(dst[start:]) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	if !norm.NFC.IsNormal(dst[start:]) {
		dst = append(dst[:start], norm.NFC.Bytes(dst[start:])...)
	}
	return dst
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
