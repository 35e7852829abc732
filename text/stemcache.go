package text

import (
	"encoding/binary"
	"slices"
)

// stemCache remembers the stems of words met before, since stemming allocates and
// takes some 500 ns. It is a table of fixed size in which a word has two places side
// by side; the older one gives way. A word of up to 16 bytes and what its stem is
// lie in the entry itself, so that a hit touches one cache line and follows no
// pointer. Longer words, 2% of English, and the rare stem that is not the begin
// of its word and up to 6 other bytes, go to a map that is emptied when it is full.
type stemCache struct {
	owner *language
	table []stemEntry
	long  map[string]string
	text  []byte // the stems of the document at hand
}

// stemEntry is a word, zeros behind it (no word has one in it), and its stem: how
// many bytes of the word are kept (lowest byte), how many follow (next byte), and
// these. A stop word keeps and has none.
type stemEntry struct{ word0, word1, stem uint64 }

// Over 64 MB of eLife paragraphs, english did with tables of 2^13 entries 40 MB/s,
// 2^14 55 to 64, 2^15 63, 2^16 71, 2^17 69, on a busy machine.
const (
	cacheBits = 16
	maxLong   = 1 << 13
)

// use empties the cache if another language had it.
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
	// The word and what follows are written in whole registers, then cut.
	n := len(dst)
	dst = slices.Grow(dst, 32)[:n+32]
	keep, more := int(e.stem&0xff), int(e.stem>>8&0xff)
	binary.LittleEndian.PutUint64(dst[n:], word0)
	binary.LittleEndian.PutUint64(dst[n+8:], word1)
	binary.LittleEndian.PutUint64(dst[n+keep:], e.stem>>16)
	return dst[:n+keep+more]
}

// load16 returns the word of size bytes at a place of text, zeros behind it.
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

// packStem writes a stem as the part of the word that is kept and what follows.
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

// longStem looks a word up that does not fit the table.
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
