package text

import (
	"encoding/binary"
	"slices"
)

// stemCache caches the stems of words, since stemming allocates and takes about 500 ns. It is a
// two-way set-associative table of fixed size; the older entry of a set is replaced. Words of up to
// 16 bytes and their stems are in the entry itself, so that a hit touches one cache line and
// follows no pointer. Longer words, 2% of English, and the rare stem that is not a prefix of its
// word plus up to 6 other bytes, go to a map that is cleared when it is full.
type stemCache struct {
	owner *language
	table []stemEntry
	long  map[string]string
	text  []byte // stems of the current document
}

// stemEntry is a word, padded with zeros (no word contains one), and its stem: the number of bytes
// of the word to keep (lowest byte), the number of bytes that follow (next byte), and these. A stop
// word has 0 for both.
type stemEntry struct{ word0, word1, stem uint64 }

// Throughput of english over 64 MB of eLife paragraphs, on a busy machine, by the number of
// entries: 2^13 40 MB/s, 2^14 55 to 64, 2^15 63, 2^16 71, 2^17 69.
const (
	cacheBits = 16
	maxLong   = 1 << 13
)

// use clears the cache if it was filled by another language.
func (c *stemCache) use(l *language) {
	if c.owner != l {
		*c = stemCache{owner: l, table: make([]stemEntry, 1<<cacheBits), long: map[string]string{}, text: c.text}
	}
}

// appendStem appends the stem of the word text[w.Start:w.End], nothing for a stop word.
func (c *stemCache) appendStem(dst, text []byte, w Span) []byte {
	size := int(w.End - w.Start)
	if size > maxStem {
		return append(dst, text[w.Start:w.End]...)
	}
	if size > 16 {
		return append(dst, c.longStem(text[w.Start:w.End])...)
	}
	word0, word1 := load16(text, int(w.Start), size)
	h := (word0*0x9e3779b97f4a7c15 ^ word1*0xc2b2ae3d27d4eb4f) * 0x9e3779b97f4a7c15 >> (64 - cacheBits + 1) * 2
	pair := (*[2]stemEntry)(c.table[h : h+2])
	e := &pair[0]
	if e.word0 != word0 || e.word1 != word1 {
		e = &pair[1]
		if e.word0 != word0 || e.word1 != word1 {
			stem := c.owner.reduce(string(text[w.Start:w.End]))
			packed, ok := packStem(text[w.Start:w.End], stem)
			if !ok {
				return append(dst, c.longStem(text[w.Start:w.End])...)
			}
			pair[1] = pair[0]
			pair[0] = stemEntry{word0, word1, packed}
			e = &pair[0]
		}
	}
	// The word and its suffix are written as whole registers, then truncated.
	n := len(dst)
	dst = slices.Grow(dst, 32)[:n+32]
	keep, more := int(e.stem&0xff), int(e.stem>>8&0xff)
	binary.LittleEndian.PutUint64(dst[n:], word0)
	binary.LittleEndian.PutUint64(dst[n+8:], word1)
	binary.LittleEndian.PutUint64(dst[n+keep:], e.stem>>16)
	return dst[:n+keep+more]
}

// load16 returns the word of size bytes at an offset of text, padded with zeros.
func load16(text []byte, at, size int) (word0, word1 uint64) {
	if at+16 > len(text) {
		var b [16]byte
		copy(b[:], text[at:at+size])
		return binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	}
	word0 = binary.LittleEndian.Uint64(text[at:])
	if size <= 8 {
		return word0 << (64 - 8*uint(size)) >> (64 - 8*uint(size)), 0
	}
	word1 = binary.LittleEndian.Uint64(text[at+8:])
	return word0, word1 << (128 - 8*uint(size)) >> (128 - 8*uint(size))
}

// packStem encodes a stem as the number of bytes of the word to keep and the bytes that follow.
func packStem(word []byte, stem string) (uint64, bool) {
	keep := 0
	for keep < len(word) && keep < len(stem) && word[keep] == stem[keep] {
		keep++
	}
	more := stem[keep:]
	if len(more) > 6 {
		return 0, false
	}
	packed := uint64(keep) | uint64(len(more))<<8
	for i := range len(more) {
		packed |= uint64(more[i]) << (16 + 8*i)
	}
	return packed, true
}

// longStem looks up a word that does not fit the table.
func (c *stemCache) longStem(word []byte) string {
	stem, ok := c.long[string(word)]
	if !ok {
		if len(c.long) == maxLong {
			clear(c.long)
		}
		w := string(word)
		stem = c.owner.reduce(w)
		c.long[w] = stem
	}
	return stem
}
