package dict

import (
	"context"
	"fmt"
	"math"

	"github.com/collocate/collocate/internal/sections"
)

// front holds the sorted words in buckets of 32. The first word of a bucket is stored in full. For
// each other word, the number of characters to drop from the end of the word before is stored, and
// the characters that follow instead. Characters are Huffman codes that depend on the character
// before. Sections:
//
//	keys    uint32 for each bucket: the first four bytes of its first word, big-endian, padded
//	        with zeros
//	starts  uint32 for each bucket: its first byte in data
//	data    the buckets, each from a full byte on, and 8 bytes of 0 at the end
//	chars   code lengths of characters (see prefixCode): symbol 0 ends a word, the others are codes
//	        of the alphabet; the context is the character before, 0 at the beginning of a word
//	drops   code lengths of the numbers of dropped characters: symbol 31 stands for 31 and more,
//	        and the number follows in 32 bits. The context is the number of characters that were
//	        stored for the word before, at most 15
//
// Example: ab, abc, b are: the characters a, b, end; drop 0, c, end; drop 3, b, end.
//
// Words are numbered in byte order. 500,000 words of real text take 22.8 bits each. Buckets of 16
// would take 25.4 bits and half the time to read, those of 64 a little less and twice the time.
type front struct {
	meta   *meta
	chars  *alphabet
	keys   []uint32
	starts []uint32
	data   []byte
	text   *prefixCode
	drops  *prefixCode
}

const (
	frontBucket  = 32
	dropSymbols  = 32
	dropContexts = 16
)

// frontKey returns the first four bytes of a word as a number.
func frontKey(word []byte) (key uint32) {
	for i := range 4 {
		key <<= 8
		if i < len(word) {
			key |= uint32(word[i])
		}
	}
	return key
}

// frontWord is a word as codes.
type frontWord struct {
	codes []uint16
	own   int // number of codes that were stored for it, and not shared with the word before
}

// next replaces a word by the next one, and returns the number of codes that they share.
func (d *front) next(r *bitReader, w *frontWord) (shared int, ok bool) {
	drop := d.drops.read(r, min(w.own, dropContexts-1))
	if drop == dropSymbols-1 {
		drop = int(r.bits(32))
	}
	shared = len(w.codes) - drop
	if shared < 0 {
		return 0, false
	}
	w.codes = w.codes[:shared]
	return shared, d.rest(r, w)
}

// rest reads codes up to the end of a word. Most of the time of a look-up is spent here, so the
// next bits are kept in a register, and a symbol takes one access to a table that stays in the
// cache.
func (d *front) rest(r *bitReader, w *frontWord) bool {
	codes, before, fast := w.codes[:cap(w.codes)], len(w.codes), d.text.fast
	n, c := before, 0
	if n > 0 {
		c = int(codes[n-1])
	}
	for {
		bits := r.peek()
		for left := 64 - int(r.at&7); left >= maxCode; {
			e := fast[c<<fastBits|int(bits>>(64-fastBits))]
			if e == 0 { // a longer code
				c = d.text.read(r, c)
				bits, left = r.peek(), 64-int(r.at&7)
			} else {
				c = int(e >> 4)
				bits <<= e & 15
				left -= int(e & 15)
				r.at += uint(e & 15)
			}
			if c == 0 {
				w.codes, w.own = codes[:n], n-before
				return true
			}
			if n == len(codes) {
				return false // corrupted: longer than the longest word
			}
			codes[n] = uint16(c)
			n++
		}
	}
}

// room returns an empty slice with room for the longest word, in space if that is large enough.
func (d *front) room(space []uint16) []uint16 {
	if d.meta.longest > len(space) {
		space = make([]uint16, d.meta.longest)
	}
	return space[:0]
}

// compare returns -1, 0 or 1 if the first word of a bucket is less than, equal to or greater than a
// word.
func (d *front) compare(bucket int, word []uint16) int {
	r := bitReader{d.data, uint(d.starts[bucket]) * 8}
	c := 0
	for _, want := range word {
		c = d.text.read(&r, c)
		if c != int(want) {
			if c < int(want) {
				return -1
			}
			return 1
		}
	}
	if d.text.read(&r, c) != 0 {
		return 1
	}
	return 0
}

// bucket returns the last bucket whose first word is not greater than the word, or -1.
func (d *front) bucket(key uint32, word []uint16) int {
	// Buckets below from have a lower key, those from to on a higher one.
	from, to := d.search(key), len(d.keys)
	if key < math.MaxUint32 {
		to = d.search(key + 1)
	}
	for from < to {
		mid := int(uint(from+to) / 2)
		if d.compare(mid, word) > 0 {
			to = mid
		} else {
			from = mid + 1
		}
	}
	return from - 1
}

// search returns the first bucket whose key is at least key.
func (d *front) search(key uint32) int {
	from, n := 0, len(d.keys)
	for n > 0 {
		half := n / 2
		if d.keys[from+half] < key {
			from += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return from
}

func (d *front) ID(word []byte) (uint32, bool) {
	var space, space2 [48]uint16
	codes := space[:0]
	for _, b := range word {
		c := d.chars.code[b]
		if c == 0 {
			return 0, false
		}
		codes = append(codes, c)
	}
	bucket := d.bucket(frontKey(word), codes)
	if bucket < 0 {
		return 0, false
	}
	r := bitReader{d.data, uint(d.starts[bucket]) * 8}
	w := frontWord{codes: d.room(space2[:])}
	ok := d.rest(&r, &w)
	// matched is the number of codes that w shares with the word that is looked up. w is less than
	// that word.
	matched, shared := 0, 0
	last := min(frontBucket, d.meta.words-bucket*frontBucket)
	for i := 0; ok; {
		if shared == matched {
			for matched < len(w.codes) && matched < len(codes) && w.codes[matched] == codes[matched] {
				matched++
			}
			switch {
			case matched == len(codes):
				return uint32(bucket*frontBucket + i), len(w.codes) == matched
			case matched < len(w.codes) && w.codes[matched] > codes[matched]:
				return 0, false
			}
		}
		if i++; i >= last {
			break
		}
		if shared, ok = d.next(&r, &w); shared < matched {
			break // w has changed within the matched codes, so it is greater
		}
	}
	return 0, false
}

func (d *front) Word(dst []byte, id uint32) []byte {
	if int(id) >= d.meta.words {
		return dst
	}
	bucket := int(id) / frontBucket
	r := bitReader{d.data, uint(d.starts[bucket]) * 8}
	var space [48]uint16
	w := frontWord{codes: d.room(space[:])}
	ok := d.rest(&r, &w)
	for range int(id) % frontBucket {
		if !ok {
			break
		}
		_, ok = d.next(&r, &w)
	}
	if !ok {
		return dst
	}
	for _, c := range w.codes {
		dst = append(dst, d.chars.chars[c-1])
	}
	return dst
}

// frontSymbols goes through the words and calls begin at each bucket, char for each character and
// drop for each number n of dropped characters.
func frontSymbols(ctx context.Context, w *Words, a *alphabet, begin func(i int), char,
	drop func(context, symbol, n int)) error {
	own := 0
	for i := range w.Len() {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		word, shared := w.At(i), 0
		if i%frontBucket == 0 {
			begin(i)
		} else {
			before := w.At(i - 1)
			shared = common(before, word)
			n := len(before) - shared
			drop(min(own, dropContexts-1), min(n, dropSymbols-1), n)
		}
		own = len(word) - shared
		context := 0
		if shared > 0 {
			context = int(a.code[word[shared-1]])
		}
		for _, b := range word[shared:] {
			c := int(a.code[b])
			char(context, c, 0)
			context = c
		}
		char(context, 0, 0)
	}
	return nil
}

func buildFront(ctx context.Context, w *Words, m *meta, out *sections.Writer) error {
	a := w.alphabet()
	symbols := len(a.chars) + 1
	charCounts, dropCounts := make([]uint64, symbols*symbols), make([]uint64, dropContexts*dropSymbols)
	err := frontSymbols(ctx, w, a, func(int) {},
		func(c, s, _ int) { charCounts[c*symbols+s]++ }, func(c, s, _ int) { dropCounts[c*dropSymbols+s]++ })
	if err != nil {
		return err
	}
	text, drops := newPrefixCode(symbols, charCounts), newPrefixCode(dropSymbols, dropCounts)
	var keys []uint32
	var starts []uint32
	var data bitWriter
	long := 0
	err = frontSymbols(ctx, w, a,
		func(i int) {
			data.align()
			keys, starts = append(keys, frontKey(w.At(i))), append(starts, uint32(len(data.data)))
			long = max(long, len(data.data))
		},
		func(c, s, _ int) { data.symbol(text, c, s) },
		func(c, s, n int) {
			data.symbol(drops, c, s)
			if s == dropSymbols-1 {
				data.put(uint64(n), 32)
			}
		})
	if err != nil {
		return err
	}
	data.align()
	data.data = append(data.data, make([]byte, 8)...) // so that eight bytes can be read anywhere
	if long > math.MaxUint32 {
		return fmt.Errorf("these words take %d bytes, and this kind allows %d: choose another kind", long, uint32(math.MaxUint32))
	}
	for _, s := range []struct {
		name string
		data []byte
	}{
		{"keys", sections.Bytes(keys)}, {"starts", sections.Bytes(starts)}, {"data", data.data},
		{"chars", text.lengths}, {"drops", drops.lengths},
	} {
		if err := out.Section(s.name, s.data); err != nil {
			return err
		}
	}
	return nil
}

func openFront(f *sections.File, m *meta, a *alphabet) (Dict, error) {
	r := reader{file: f}
	symbols, buckets := m.chars+1, (m.words+frontBucket-1)/frontBucket
	d := &front{
		meta: m, chars: a,
		keys: view[uint32](&r, "keys", buckets), starts: view[uint32](&r, "starts", buckets),
		data: view[uint8](&r, "data", -1),
	}
	chars, drops := view[uint8](&r, "chars", (symbols*symbols+1)/2),
		view[uint8](&r, "drops", dropContexts*dropSymbols/2)
	if r.err != nil {
		return nil, r.err
	}
	d.text, d.drops = openPrefixCode(symbols, chars), openPrefixCode(dropSymbols, drops)
	return d, nil
}
