package text

import (
	"encoding/binary"
	"slices"
)

// ascii makes words of the letters a-z and A-Z, in lower case; every other byte
// separates words.
type ascii struct{}

func (ascii) Name() string { return "ascii" }

func (ascii) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	// The bytes between words do not matter, so all get the bit that makes letters
	// small; words keep their places.
	lower := slices.Grow(t.scratch[:0], len(doc))[:len(doc)]
	b := newBorders(t.Words)
	at := 0
	for ; at+block <= len(doc); at += block {
		b.add(at, letterBits((*[block]byte)(lower[at:]), (*[block]byte)(doc[at:])))
	}
	if at < len(doc) {
		rest := tail(doc[at:])
		var low [block]byte
		b.add(at, letterBits(&low, &rest))
		copy(lower[at:], low[:])
	}
	t.scratch, t.Bytes = lower, lower
	t.Words = b.words(len(doc))
	t.Source = t.Source[:0]
	if t.WantSource {
		t.Source = append(t.Source, t.Words...)
	}
	return nil
}

// letterBits has the bits of the letters, and writes them in lower case.
func letterBits(lower, p *[block]byte) (m uint64) {
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(p[i:i+8]) | 0x20*ones
		binary.LittleEndian.PutUint64(lower[i:i+8], w)
		m |= gather(between(w, 'a', 'z')) << i
	}
	return m
}
