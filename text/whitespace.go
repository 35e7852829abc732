package text

import (
	"bytes"
	"encoding/binary"
	"unsafe"
)

// whitespace splits a line like Stanford's GloVe. Words are the bytes between blanks, tabs and line
// feeds; carriage returns are ignored, even inside a word. A word longer than 999 bytes is
// truncated, without a partial UTF-8 character at its end. Nothing else is changed.
type whitespace struct{}

func (whitespace) Name() string { return "whitespace" }

// maxWord is the largest size of a word in bytes, as in GloVe.
const maxWord = 999

func (whitespace) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	t.Bytes, t.At = doc, t.At[:0]
	if len(doc) <= MaxShort && !t.WantSource {
		if word, ok := shortNotBlank(doc, nil); ok {
			b := newBorders(t.Words)
			b.add(0, word)
			t.Words, t.Source = b.words(len(doc)), t.Source[:0]
			return nil
		}
	}
	if bytes.IndexByte(doc, '\r') >= 0 {
		t.scratch = withoutCR(t.scratch[:0], doc)
		t.Bytes = t.scratch
	}
	b := newBorders(t.Words)
	splitBlanks(t.Bytes, &b)
	t.Words = b.words(len(t.Bytes))
	t.Source = t.Source[:0]
	if t.WantSource {
		t.Source = append(t.Source, t.Words...)
		if len(t.Bytes) < len(doc) {
			addCR(t.Source, doc)
		}
	}
	if b.long {
		for i := range t.Words {
			if w := &t.Words[i]; w.End-w.Start >= maxWord {
				w.End = w.Start + uint32(cutWord(t.Word(i)))
			}
		}
	}
	return nil
}

// splitBlanks finds the words between blanks, tabs and line feeds.
func splitBlanks(doc []byte, b *borders) {
	for at := 0; at < len(doc); at += block {
		b.add(at, notBlank(doc[at:]))
	}
}

// notBlank returns the bits of the non-blank bytes in the first block of a text.
func notBlank(p []byte) uint64 {
	if hasKernels {
		n := min(len(p), block)
		blank, _ := blankBitsKernel(nil, unsafe.SliceData(p), n)
		return ^(blank | ^uint64(0)<<n)
	}
	if len(p) < block {
		rest := tail(p)
		return ^blankBits(&rest)
	}
	return ^blankBits((*[block]byte)(p))
}

// blankBits returns the bits of blanks, tabs and line feeds. Most blocks have no control
// characters; then all bytes up to the blank are blanks, which is half the work.
func blankBits(p *[block]byte) (m uint64) {
	control := uint64(0)
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(p[i : i+8])
		m |= gather(^(atLeast(w, ' '+1)|w)&tops) << i
		control |= ^(atLeast(w, ' ') | w)
	}
	if control&tops == 0 {
		return m
	}
	return exactBlankBits(p)
}

func exactBlankBits(p *[block]byte) (m uint64) {
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(p[i : i+8])
		m |= gather(between(w, ' ', ' ')|between(w, '\t', '\n')) << i
	}
	return m
}

// cutWord returns how many bytes GloVe keeps of a word of at least maxWord bytes: maxWord, less a
// character that would be kept only in part.
func cutWord(w []byte) int {
	w = w[:maxWord]
	a, b, c := w[maxWord-1], w[maxWord-2], w[maxWord-3]
	switch {
	case a < 0x80:
	case a >= 0xc0:
		return maxWord - 1
	case b >= 0xe0:
		return maxWord - 2
	case c&0xf8 == 0xf0:
		return maxWord - 3
	}
	return maxWord
}

func withoutCR(dst, doc []byte) []byte {
	for {
		i := bytes.IndexByte(doc, '\r')
		if i < 0 {
			return append(dst, doc...)
		}
		dst = append(dst, doc[:i]...)
		doc = doc[i+1:]
	}
}

// addCR turns offsets in the text without carriage returns into offsets in doc, of the first byte
// of a word and after its last.
func addCR(spans []Span, doc []byte) {
	next := bytes.IndexByte(doc, '\r') // the next carriage return
	counted := 0
	inDoc := func(place uint32) uint32 {
		for next >= 0 && next <= int(place)+counted {
			counted++
			after := next + 1
			if next = bytes.IndexByte(doc[after:], '\r'); next >= 0 {
				next += after
			}
		}
		return place + uint32(counted)
	}
	for i, s := range spans {
		spans[i].Start = inDoc(s.Start)
		spans[i].End = inDoc(s.End-1) + 1
	}
}
