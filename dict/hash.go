package dict

import (
	"bytes"
	"context"
	"math/bits"

	"github.com/collocate/collocate/internal/sections"
)

// hash is a hash table with the sorted list of words. Sections:
//
//	words  all words, one after the other in byte order
//	ends   for each word where it ends in words: uint32, or uint64 if that is too small
//	slots  a power of two of uint64, at most 5/8 in use: the number of a word + 1 in the low
//	       half and the high half of its hash in the other; 0 is free
//
// A lookup probes from slot (hash mod slots) on, cyclically, up to a free slot. The hash is
// hashWord. Words are numbered in byte order.
type hash struct {
	words  []byte
	ends32 []uint32
	ends64 []uint64
	slots  []uint64
}

// hashWord mixes 8 bytes at a time, low byte first, the last ones padded with zeros. It starts from
// the length, so that padding is unambiguous.
func hashWord(w []byte) uint64 {
	const k0, k1 = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	mix := func(a, b uint64) uint64 {
		hi, lo := bits.Mul64(a, b)
		return hi ^ lo
	}
	h := mix(uint64(len(w))^k0, k1)
	for len(w) >= 8 {
		v := uint64(w[0]) | uint64(w[1])<<8 | uint64(w[2])<<16 | uint64(w[3])<<24 |
			uint64(w[4])<<32 | uint64(w[5])<<40 | uint64(w[6])<<48 | uint64(w[7])<<56
		h = mix(h^v, k0)
		w = w[8:]
	}
	v := uint64(0)
	for i, b := range w {
		v |= uint64(b) << (8 * i)
	}
	return mix(h^v, k1)
}

func (d *hash) word(i int) []byte {
	var start, end uint64
	if d.ends64 != nil {
		end = d.ends64[i]
		if i > 0 {
			start = d.ends64[i-1]
		}
	} else {
		end = uint64(d.ends32[i])
		if i > 0 {
			start = uint64(d.ends32[i-1])
		}
	}
	if start > end || end > uint64(len(d.words)) {
		return nil
	}
	return d.words[start:end]
}

func (d *hash) len() int { return len(d.ends32) + len(d.ends64) }

func (d *hash) ID(word []byte) (uint32, bool) {
	h := hashWord(word)
	mask := uint64(len(d.slots) - 1)
	for i := range uint64(len(d.slots)) {
		s := d.slots[(h+i)&mask]
		if s == 0 {
			break
		}
		if s>>32 != h>>32 {
			continue
		}
		if id := uint32(s) - 1; int(id) < d.len() && bytes.Equal(d.word(int(id)), word) {
			return id, true
		}
	}
	return 0, false
}

func (d *hash) Word(dst []byte, id uint32) []byte {
	if int(id) >= d.len() {
		return dst
	}
	return append(dst, d.word(int(id))...)
}

func buildHash(ctx context.Context, w *Words, m *meta, out *sections.Writer) error {
	slots := make([]uint64, 1<<bits.Len(uint(w.Len()*8/5)))
	mask := uint64(len(slots) - 1)
	for i := range w.Len() {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		h := hashWord(w.At(i))
		at := h & mask
		for slots[at] != 0 {
			at = (at + 1) & mask
		}
		slots[at] = h>>32<<32 | uint64(i+1)
	}
	if err := out.Section("words", w.data); err != nil {
		return err
	}
	ends := sections.Bytes(w.ends)
	if len(w.data) <= 1<<32-1 {
		short := make([]uint32, len(w.ends))
		for i, e := range w.ends {
			short[i] = uint32(e)
		}
		ends = sections.Bytes(short)
	}
	if err := out.Section("ends", ends); err != nil {
		return err
	}
	return out.Section("slots", sections.Bytes(slots))
}

func openHash(f *sections.File, m *meta) (Dict, error) {
	r := reader{file: f}
	d := &hash{words: view[uint8](&r, "words", -1), slots: view[uint64](&r, "slots", -1)}
	if len(d.words) <= 1<<32-1 {
		d.ends32 = view[uint32](&r, "ends", m.words)
	} else {
		d.ends64 = view[uint64](&r, "ends", m.words)
	}
	if n := len(d.slots); n == 0 || n&(n-1) != 0 {
		r.fail("%d hash slots are not a power of two", n)
	}
	return d, r.err
}
