package cooccur

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/par"
)

// entry is a word with its count, before sorting.
type entry struct {
	key   wordKey
	count uint64
}

// newVocabulary makes a sorted vocabulary from a table. Radix sorts by the first eight bytes and
// then by the count leave few words that must be compared whole.
func newVocabulary(x *lexicon, opt VocabularyOptions, threads int) (*Vocabulary, error) {
	entries := make([]entry, 0, x.len())
	x.each(func(k wordKey, _ []byte, count uint64) {
		if count >= opt.MinCount {
			entries = append(entries, entry{k, count})
		}
	})
	if len(entries) > maxWords {
		return nil, tooManyWords(len(entries))
	}
	entries = sortEntries(entries, x.arena, opt.Order, threads)
	if opt.MaxSize > 0 && len(entries) > opt.MaxSize {
		entries = entries[:opt.MaxSize]
	}
	n := 0
	for i := range entries {
		n += entries[i].key.len()
	}
	v := &Vocabulary{arena: make([]byte, 0, n), ends: make([]uint64, len(entries)),
		counts: make([]uint64, len(entries))}
	var word [inlineMax + 1]byte
	for i := range entries {
		v.arena = append(v.arena, entries[i].key.bytes(&word, x.arena)...)
		v.ends[i] = uint64(len(v.arena))
		v.counts[i] = entries[i].count
	}
	return v.seal(), nil
}

// sortEntries sorts by descending count, and words of equal count by the order. The arena holds
// long words.
func sortEntries(entries []entry, arena []byte, o Order, threads int) []entry {
	const grain = 1 << 14
	n := len(entries)
	keys, numbers := make([]uint64, n), make([]uint32, n)
	keyScratch, numberScratch := make([]uint64, n), make([]uint32, n)
	par.For(threads, n, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i], numbers[i] = o.prefix(entries[i].key, arena), uint32(i)
		}
	})
	par.RadixSortPairs(threads, keys, numbers, keyScratch, numberScratch, 0, 64)
	par.For(threads, n, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i] = ^entries[numbers[i]].count
		}
	})
	par.RadixSortPairs(threads, keys, numbers, keyScratch, numberScratch, 0, 64)
	sorted := make([]entry, n)
	par.For(threads, n, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			sorted[i] = entries[numbers[i]]
		}
	})
	compare := func(a, b entry) int {
		var x, y [inlineMax + 1]byte
		return o.compare(a.key.bytes(&x, arena), b.key.bytes(&y, arena))
	}
	for start, end := 0, 0; start < n; start = end {
		count, prefix := sorted[start].count, o.prefix(sorted[start].key, arena)
		for end++; end < n && sorted[end].count == count && o.prefix(sorted[end].key, arena) == prefix; {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(sorted[start:end], compare)
		}
	}
	return sorted
}

// prefix returns the start of a word as a number that compares like the word. Words with equal
// prefixes must be compared whole.
func (o Order) prefix(k wordKey, arena []byte) uint64 {
	var p uint64
	if k.isLong() {
		p = binary.BigEndian.Uint64(longBytes(k, arena))
	} else {
		p = bits.ReverseBytes64(k.k0)
	}
	if o == GloVeOrder {
		p ^= 0x8080808080808080
	}
	return p
}
