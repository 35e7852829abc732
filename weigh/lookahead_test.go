package weigh

import (
	"bytes"
	"testing"

	"github.com/collocate/collocate/text"
)

// The key of a word does not depend on the text around it, and words of different lengths have
// different keys.
func TestKeysDependOnTheWordAlone(t *testing.T) {
	table := newTable()
	seen := map[[2]uint64]int{}
	for size := 1; size < longWord; size++ {
		word := bytes.Repeat([]byte{0xfe}, size)
		lo, hi := table.key(word, text.Span{End: uint32(size)})
		if other, ok := seen[[2]uint64{lo, hi}]; ok {
			t.Fatalf("words of %d and %d bytes have the same key", size, other)
		}
		seen[[2]uint64{lo, hi}] = size
		for before := range 20 {
			for behind := range 20 {
				b := append(bytes.Repeat([]byte{'b'}, before), word...)
				b = append(b, bytes.Repeat([]byte{'c'}, behind)...)
				s := text.Span{Start: uint32(before), End: uint32(before + size)}
				gotLo, gotHi := table.key(b, s)
				var keys [lookahead]key
				table.keysOf(&keys, b, []text.Span{s})
				if gotLo != lo || gotHi != hi || keys[0].lo != lo || keys[0].hi != hi {
					t.Fatalf("a word of %d bytes after %d and before %d others: key %x %x, keysOf %x %x; want %x %x",
						size, before, behind, gotLo, gotHi, keys[0].lo, keys[0].hi, lo, hi)
				}
			}
		}
	}
}
