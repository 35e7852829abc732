package dict

import "math/bits"

// tails holds many short strings by number. Characters are codes of width bits, and 0 ends a
// string. A 64-bit word has as many codes as fit, lowest first, so that the ends of strings can be
// counted a word at a time. For every 16th string, its start, in characters, is kept as uint32.
// Example: with an alphabet of three (2 bits, 32 in a word), the strings ab, "" and c are the codes
// 1 2 0 0 3 0: one word, 0x309, and one start, 0.
type tails struct {
	words  []uint64
	starts []uint32
	width  int
	chars  *alphabet
	per    int    // characters in a word
	low    uint64 // all bits of each character but the highest
}

const tailsEvery = 16

func newTails(words []uint64, starts []uint32, a *alphabet) *tails {
	t := &tails{words: words, starts: starts, chars: a, width: max(2, bits.Len(uint(len(a.chars))))}
	t.per = 64 / t.width
	for i := range t.per {
		t.low |= (1<<(t.width-1) - 1) << (i * t.width)
	}
	return t
}

// tailsWriter appends strings.
type tailsWriter struct {
	tails
	n, used int // strings, characters
}

func newTailsWriter(a *alphabet) *tailsWriter { return &tailsWriter{tails: *newTails(nil, nil, a)} }

func (t *tailsWriter) add(s []byte) {
	if t.n%tailsEvery == 0 {
		t.starts = append(t.starts, uint32(t.used))
	}
	t.n++
	for _, c := range s {
		t.put(uint64(t.chars.code[c]))
	}
	t.put(0)
}

func (t *tailsWriter) put(code uint64) {
	word, at := t.used/t.per, t.used%t.per
	if word == len(t.words) {
		t.words = append(t.words, 0)
	}
	t.words[word] |= code << (at * t.width)
	t.used++
}

// find returns where string i starts: a word, and a character in it.
func (t *tails) find(i int) (word, at int, ok bool) {
	if uint(i/tailsEvery) >= uint(len(t.starts)) {
		return 0, 0, false
	}
	start := int(t.starts[i/tailsEvery])
	if start/t.per >= len(t.words) {
		return 0, 0, false
	}
	word, at = start/t.per, start%t.per
	skip := i % tailsEvery // string ends to pass
	if skip == 0 {
		return word, at, true
	}
	hide := uint64(1)<<(at*t.width) - 1 // no character before the start counts as an end
	for ; word < len(t.words); word++ {
		w := t.words[word] | hide
		// The highest bit of each character that is 0: adding low sets the highest bit of a
		// character if any lower bit is set, and never carries beyond it.
		ends := ^(w&t.low + t.low | w | t.low)
		if t.per*t.width < 64 {
			ends &= 1<<(t.per*t.width) - 1
		}
		if n := bits.OnesCount64(ends); n < skip {
			skip, hide = skip-n, 0
			continue
		}
		at = selectWord(ends, skip-1)/t.width + 1
		if at == t.per {
			word, at = word+1, 0
		}
		return word, at, word < len(t.words)
	}
	return 0, 0, false
}

// equal reports whether string i is s.
func (t *tails) equal(i int, s []byte) bool {
	word, at, ok := t.find(i)
	if !ok {
		return false
	}
	w := t.words[word] >> (at * t.width)
	mask := uint64(1)<<t.width - 1
	for k := 0; ; k++ {
		code := uint16(0)
		if k < len(s) {
			if code = t.chars.code[s[k]]; code == 0 {
				return false // a character outside the alphabet
			}
		}
		if w&mask != uint64(code) {
			return false
		}
		if k == len(s) {
			return true
		}
		if at++; at == t.per {
			if word, at = word+1, 0; word == len(t.words) {
				return false
			}
			w = t.words[word]
		} else {
			w >>= t.width
		}
	}
}

// append appends string i to dst.
func (t *tails) append(dst []byte, i int) []byte {
	word, at, ok := t.find(i)
	mask := uint64(1)<<t.width - 1
	for ok {
		code := t.words[word] >> (at * t.width) & mask
		if code == 0 || int(code) > len(t.chars.chars) {
			break
		}
		dst = append(dst, t.chars.chars[code-1])
		if at++; at == t.per {
			word, at = word+1, 0
			ok = word < len(t.words)
		}
	}
	return dst
}
