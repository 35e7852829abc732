package cooccur

import (
	"encoding/binary"
	"math/bits"
)

// wordKey represents a word by two machine words, so that words are compared and hashed without
// accessing their bytes again. A word of up to inlineMax bytes is in the key itself: the first
// eight bytes in k0, the rest in k1, with the length in its top byte. A longer word has longMark in
// that byte, its length in the rest of k1, and in k0 its offset in the byte slice that accompanies
// the key.
type wordKey struct{ k0, k1 uint64 }

const (
	shortMax  = 7
	inlineMax = 15
	longMark  = 0xff
)

// inlineMasks[n] masks the bytes of a word of n bytes.
var inlineMasks = func() (m [inlineMax + 1]wordKey) {
	for n := range m {
		m[n].k0 = 1<<(8*min(n, 8)) - 1
		if n >= 8 {
			m[n].k0 = ^uint64(0)
			m[n].k1 = 1<<(8*(n-8)) - 1
		}
	}
	return m
}()

// keyAt returns the key of buf[start:end]; buf must have 16 bytes after start.
func keyAt(buf []byte, start, end int) wordKey {
	n := end - start
	if n > inlineMax {
		return wordKey{uint64(start), longMark<<56 | uint64(n)}
	}
	return inlineKey(buf[start:], n)
}

// inlineKey returns the key of b[:n], for n up to inlineMax; b must have at least 16 bytes.
func inlineKey(b []byte, n int) wordKey {
	m := &inlineMasks[n&inlineMax]
	return wordKey{
		binary.LittleEndian.Uint64(b) & m.k0,
		binary.LittleEndian.Uint64(b[8:16])&m.k1 | uint64(n)<<56,
	}
}

// keyOf is like keyAt, but needs no bytes after the word.
func keyOf(buf []byte, start, end int) wordKey {
	if end-start > inlineMax {
		return keyAt(buf, start, end)
	}
	var b [16]byte
	copy(b[:], buf[start:end])
	return keyAt(b[:], 0, end-start)
}

func (k wordKey) isLong() bool { return k.k1>>56 == longMark }

// hash mixes both halves by one 128-bit multiplication.
func (k wordKey) hash() uint64 {
	hi, lo := bits.Mul64(k.k0^0x9e3779b97f4a7c15, k.k1^0xd6e8feb86659fd93)
	return hi ^ lo
}

// len returns the length of the word.
func (k wordKey) len() int {
	if k.isLong() {
		return int(k.k1 &^ (longMark << 56))
	}
	return int(k.k1 >> 56)
}

// bytes returns the bytes of the word, stored in buf or, for a long word, a part of arena.
func (k wordKey) bytes(buf *[inlineMax + 1]byte, arena []byte) []byte {
	if k.isLong() {
		return longBytes(k, arena)
	}
	binary.LittleEndian.PutUint64(buf[:], k.k0)
	binary.LittleEndian.PutUint64(buf[8:], k.k1)
	return buf[:k.k1>>56]
}

// isShort reports whether the word has at most shortMax bytes. Then short returns all of it, with
// the length in the top byte.
func (k wordKey) isShort() bool { return k.k1>>56 <= shortMax }
func (k wordKey) short() uint64 { return k.k0 | k.k1 }

// shortKey is the inverse of short.
func shortKey(short uint64) wordKey {
	return wordKey{short &^ (0xff << 56), short >> 56 << 56}
}

// hashShort is hash for a short word.
func hashShort(key uint64) uint64 {
	hi, lo := bits.Mul64(key^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo
}

func longBytes(k wordKey, buf []byte) []byte {
	n := k.k1 &^ (longMark << 56)
	return buf[k.k0 : k.k0+n]
}
