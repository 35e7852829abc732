package text

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// unicodeWords makes words by the rules of Unicode's UAX #29, keeps those that have a letter or a
// number in them, brings them into the normal form NFC, folds their case, and makes typographic
// apostrophes plain. Bytes that are not UTF-8 separate words. Its name says the version.
type unicodeWords struct{ name string }

func (u unicodeWords) Name() string { return u.name }

func (u unicodeWords) Analyze(doc []byte, t *Tokens) error { return u.segmenter().segment(doc, t) }

func (u unicodeWords) segmenter() segmenter {
	if u.name == "unicode" {
		return segmenter{fold: foldWithQuote}
	}
	return segmenter{fold: foldRune, raw: u.name != secondUnicode}
}

// segmenter is what the analyzers differ in that use these rules.
type segmenter struct {
	fold func(rune) rune
	slow bool // fold changes ASCII letters otherwise than the fast path does
	raw  bool // words stay as they are composed, as in old indexes
}

// segment goes through doc in turns: a stretch of ASCII, which it splits by hand, and
// a stretch between white space that has something else in it, which the library
// splits. There is a word border before every ASCII white space whatever stands
// around it, so that the stretches can be looked at one by one.
func (s segmenter) segment(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Source, t.At = t.Source[:0], t.At[:0]
	out := slices.Grow(t.scratch[:0], len(doc)+len(ShortRoom{}))
	b := newBorders(t.Words)
	if len(doc) <= MaxShort && !s.slow && !t.WantSource {
		if word, ok := shortWords(doc, (*ShortRoom)(out[:len(ShortRoom{})])); ok {
			b.add(0, word)
			t.scratch, t.Bytes = out, out[:len(doc)]
			t.Words = b.words(len(doc))
			return nil
		}
	}
	for at := 0; at < len(doc); {
		if s.slow {
			out = s.segmentOther(doc, 0, out, &b, t)
			break
		}
		var end, other int
		out, end, other = segmentASCII(doc[at:], at, out, &b, t)
		other += at
		at += end
		if other < len(doc) {
			end = nextSpace(doc, other)
			out = s.segmentOther(doc[at:end], at, out, &b, t)
			at = end
		}
	}
	if uint64(len(out)) > maxDocument {
		return tooLarge(len(doc))
	}
	t.scratch, t.Bytes = out, out
	t.Words = b.words(len(out))
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// lastSpace returns the place of the last white space in b[from:to], or from.
func lastSpace(b []byte, from, to int) int {
	for to--; to > from && !isSpace(b[to]); to-- {
	}
	return max(to, from)
}

func nextSpace(b []byte, at int) int {
	for at < len(b) && !isSpace(b[at]) {
		at++
	}
	return at
}

// What UAX #29 says about ASCII: words are letters, digits and underscores; one of
// .': between two letters and one of .',; between two digits does not end a word.
const (
	letter = 1 << iota
	digit
	midLetter
	midNumber
)

var kinds = func() (k [256]byte) {
	for c := range k {
		switch {
		case c >= '0' && c <= '9':
			k[c] = digit
		case c|0x20 >= 'a' && c|0x20 <= 'z' && c < 0x80:
			k[c] = letter
		case c == '.' || c == '\'':
			k[c] = midLetter | midNumber
		case c == ':':
			k[c] = midLetter
		case c == ',' || c == ';':
			k[c] = midNumber
		}
	}
	return k
}()

// joins reports whether doc[i] is between two letters or digits that it joins.
func joins(doc []byte, i int) bool {
	k := kinds[doc[i]]
	around := kinds[doc[i-1]] & kinds[doc[i+1]]
	return around&letter != 0 && k&midLetter != 0 || around&digit != 0 && k&midNumber != 0
}

// segmentASCII splits the begin of a text that is ASCII up to a white space, or to its end: all but
// the word around the first other byte. It appends it in lower case to out, and its words to b and,
// if wanted, to t.Source. It returns where that begin ends, and where the other byte is.
func segmentASCII(doc []byte, from int, out []byte, b *borders, t *Tokens) (_ []byte, end, other int) {
	base := len(out)
	out = slices.Grow(out, len(doc)+block)[:base+len(doc)]
	lower := out[base : base+len(doc)+block] // whole blocks are written
	first := len(b.list)
	scores := uint64(0) // underscores seen
	before := uint64(0) // whether the byte before the block belongs to a word
	end, other = len(doc), len(doc)
	b.last = 0
	for at := 0; at < end; at += block {
		word, space, score, high := wordBits((*[block]byte)(lower[at:]), doc[at:end])
		if high != 0 {
			other = at + bits.TrailingZeros64(high)
			end = lastSpace(doc, 0, other)
			out = out[:base+end]
			if end <= at {
				b.cut(base+end, first)
				break
			}
			word, space, score, _ = wordBits((*[block]byte)(lower[at:]), doc[at:end])
		}
		scores |= score
		after := uint64(0)
		if next := at + block; next < end && (kinds[doc[next]]&(letter|digit) != 0) {
			after = 1
		}
		// Single bytes between words that are not white space may join them.
		single := ^word &^ space & (word<<1 | before) & (word>>1 | after<<63)
		before = word >> 63
		for ; single != 0; single &= single - 1 {
			if i := at + bits.TrailingZeros64(single); joins(doc, i) {
				word |= single & -single
			}
		}
		b.add(base+at, word)
	}
	b.close(len(out))
	if scores != 0 {
		b.list = dropScores(b.list, first, out)
	}
	if t.WantSource {
		for i := first; i < len(b.list); i += 2 {
			t.Source = append(t.Source,
				Span{b.list[i] - uint32(base) + uint32(from), b.list[i+1] - uint32(base) +
					uint32(from)})
		}
	}
	return out, end, other
}

// wordBits has the bits of letters, digits and underscores, of white space and other
// control characters, whether there are underscores, and the bits of bytes that are not ASCII, in
// the first block of a text; and writes the bytes in lower case.
func wordBits(lower *[block]byte, p []byte) (word, space, scores, high uint64) {
	if hasKernels {
		return wordBitsKernel(&lower[0], unsafe.SliceData(p), min(len(p), block))
	}
	if len(p) < block {
		rest := tail(p)
		p = rest[:]
	}
	all := uint64(0)
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(p[i : i+8])
		low, wd, sp, sc := wordBits8(w)
		binary.LittleEndian.PutUint64(lower[i:i+8], low)
		word |= wd << i
		space |= sp << i
		scores |= sc
		all |= w
	}
	if all&tops != 0 {
		for i := 0; i < block; i += 8 {
			high |= gather(binary.LittleEndian.Uint64(p[i:i+8])&tops) << i
		}
	}
	return word, space, scores, high
}

func wordBits8(w uint64) (lower, word, space, scores uint64) {
	letters := between(w|0x20*ones, 'a', 'z')
	scores = between(w, '_', '_')
	return w | letters>>2, gather(letters | between(w, '0', '9') | scores),
		gather(^(atLeast(w, ' '+1) | w) & tops), scores
}

// dropScores removes the words from list[first:] that are underscores only.
func dropScores(list []uint32, first int, text []byte) []uint32 {
	kept := list[:first]
	for i := first; i < len(list); i += 2 {
		for _, c := range text[list[i]:list[i+1]] {
			if c != '_' {
				kept = append(kept, list[i], list[i+1])
				break
			}
		}
	}
	return kept
}

// segmentOther has the library split a stretch.
func (s segmenter) segmentOther(doc []byte, from int, out []byte, b *borders, t *Tokens) []byte {
	for at := 0; at < len(doc); {
		valid := doc[at : at+validLength(doc[at:])]
		for len(valid) > 0 {
			n, word, _ := words.SplitFunc(valid, true)
			start := len(out)
			if out = s.appendWord(out, word); len(out) > start {
				b.word(start, len(out))
				if t.WantSource {
					t.Source = append(t.Source, Span{uint32(from + at), uint32(from + at + len(word))})
				}
			}
			at += n
			valid = valid[n:]
		}
		at++ // the byte that is not UTF-8, or beyond the end
	}
	return out
}

// validLength returns how much of b is UTF-8 up to the first mistake.
func validLength(b []byte) int {
	for at := 0; at < len(b); {
		if b[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n == 1 {
			return at
		}
		at += n
	}
	return len(b)
}

// appendWord appends a word in NFC with its case folded, if it has a letter or a number.
func (s segmenter) appendWord(out, word []byte) []byte {
	start := len(out)
	out, good, composed := appendFolded(out, word, s.fold)
	if !good {
		return out[:start]
	}
	if composed || s.raw {
		return out
	}
	// Normal before folding, since some marks have a case; and after it, since a small letter may
	// be composed with a mark with which the capital is not.
	out, _, _ = appendFolded(out[:start], norm.NFC.Bytes(word), s.fold)
	if !norm.NFC.IsNormal(out[start:]) {
		out = append(out[:start], norm.NFC.Bytes(out[start:])...)
	}
	return out
}

// appendFolded appends a word with its case folded. It says whether there is a letter or a number
// in it, and whether it is surely in NFC.
func appendFolded(out, word []byte, fold func(rune) rune) (folded []byte, good, composed bool) {
	composed = true
	for at := 0; at < len(word); {
		c := word[at]
		if c < utf8.RuneSelf {
			good = good || kinds[c]&(letter|digit) != 0
			if c >= 'A' && c <= 'Z' {
				out = utf8.AppendRune(out, fold(rune(c)))
			} else {
				out = append(out, c)
			}
			at++
			continue
		}
		r, n := utf8.DecodeRune(word[at:])
		good = good || unicode.IsLetter(r) || unicode.IsNumber(r)
		composed = composed && isComposed(r)
		out = utf8.AppendRune(out, fold(r))
		at += n
	}
	return out, good, composed
}

// isComposed reports whether a character is one of the ranges, in which are most of the letters
// in use, that are the same in NFC whatever stands before them: Latin, Cyrillic, general
// punctuation, kana and Chinese characters, Hangul.
func isComposed(r rune) bool {
	return r < 0x300 || r >= 0x400 && r < 0x483 || r >= 0x2002 && r < 0x20d0 ||
		r >= 0x3041 && r < 0x3099 || r >= 0x30a0 && r < 0x3100 || r >= 0x4e00 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4
}

// foldRune maps the letters that differ in case only to one: Unicode's simple case
// folding, but to the small letter always, and of the two special i's of Turkish
// the dotless one stays and the dotted capital becomes i.
func foldRune(r rune) rune {
	if r == 'ı' {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
