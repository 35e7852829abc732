package text

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// ascii makes words of the letters a-z and A-Z, in lower case; every other byte
// separates words.
type ascii struct{}

func (ascii) Name() string { return "ascii" }

func (ascii) Analyze(doc []byte, t *Tokens) error {
	if err := checkSize(doc); err != nil {
		return err
	}
	// Bytes between words do not matter, so the bit that makes letters lower case is set in all
	// bytes. Words keep their offsets.
	lower := slices.Grow(t.scratch[:0], len(doc)+block)[:len(doc)+block] // whole blocks are written
	b := newBorders(t.Words)
	for at := 0; at < len(doc); at += block {
		b.add(at, letterBits((*[block]byte)(lower[at:]), doc[at:]))
	}
	lower = lower[:len(doc)]
	t.scratch, t.Bytes = lower, lower
	t.Words = b.words(len(doc))
	t.Source, t.At = t.Source[:0], t.At[:0]
	if t.WantSource {
		t.Source = append(t.Source, t.Words...)
	}
	return nil
}

// letterBits returns the bits of the letters in the first block of a text, and writes the block in
// lower case.
func letterBits(lower *[block]byte, p []byte) (m uint64) {
	if hasKernels {
		return letterBitsKernel(&lower[0], unsafe.SliceData(p), min(len(p), block))
	}
	if len(p) < block {
		rest := tail(p)
		p = rest[:]
	}
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(p[i:i+8]) | 0x20*ones
		binary.LittleEndian.PutUint64(lower[i:i+8], w)
		m |= gather(between(w, 'a', 'z')) << i
	}
	return m
}
