package index

import (
	"math"
	"slices"
	"sort"

	"github.com/collocate/collocate/bm25"
)

// lengthTable knows the documents' lengths and sorts them into classes.
type lengthTable struct {
	lengths []uint32
	tokens  uint64
	coef    bm25.Length  // of the model whose x are stored
	low     []uint32     // the shortest length of each class
	exact   bool         // each class is one length
	classes []uint8      // by document
	both    []uint32     // the same again: the length, then 8 bits of the class
	norm    [256]float64 // of each class, for the choice which pairs of a bound to merge
}

// longLength stands for lengths that find no room beside the class.
const longLength = 1<<24 - 1

// judge finds how good postings of up to BlockSize documents are, given with their frequencies less 1: the bits of their x, and for f their
// pairs of frequency and class. Documents come in no order that memory likes: looking for length and class in one place makes a build 7% shorter.
func (t *lengthTable) judge(docs, tfs, xs []uint32, f *frontier) {
	tfs, xs = tfs[:len(docs)], xs[:len(docs)]
	coef, top := t.coef, f.top
	for i, d := range docs {
		b, tf := t.both[d], tfs[i]
		length, code := b>>8, tf
		if length == longLength {
			length = t.lengths[d]
		}
		if tf >= exactTFs {
			code = uint32(codeOfTF(tf + 1))
		}
		xs[i] = math.Float32bits(xOf(coef, tf+1, length))
		if class := uint16(uint8(b)); class < f.shortest[uint8(code)] {
			f.shortest[uint8(code)] = class
			top = max(top, int(code))
		}
	}
	f.top = top
}

func newLengthTable(lengths []uint32) *lengthTable {
	t := &lengthTable{lengths: lengths, classes: make([]uint8, len(lengths)), both: make([]uint32, len(lengths))}
	t.low, t.exact = lengthClasses(lengths)
	var small [4096]uint8 // most lengths, so that few are searched for
	for l := range small {
		small[l] = classOf(t.low, uint32(l))
	}
	for d, l := range lengths {
		t.tokens += uint64(l)
		if l < uint32(len(small)) {
			t.classes[d] = small[l]
		} else {
			t.classes[d] = classOf(t.low, l)
		}
		t.both[d] = min(l, longLength)<<8 | uint32(t.classes[d])
	}
	t.coef = storedModel(uint64(len(lengths)), t.tokens)
	mean := float64(t.tokens) / float64(max(len(lengths), 1))
	for c, l := range t.low {
		// BM25 with k1 = 1.2, b = 0.75. The conversions forbid fused multiply-add,
		// which would make the bytes depend on the machine.
		t.norm[c] = 0.3 + float64(float64(0.9*float64(l))/max(mean, 1))
	}
	return t
}

// classOf is the class of a length.
func classOf(low []uint32, length uint32) uint8 {
	i := sort.Search(len(low), func(i int) bool { return low[i] > length })
	return uint8(max(i, 1) - 1)
}

// distinctLengths are ascending. Nearly all lengths are short ones, which are ticked off in a table: 50 million
// of them took 4 seconds to sort.
func distinctLengths(lengths []uint32) []uint32 {
	var seen [1 << 16]bool
	var out, long []uint32
	for _, l := range lengths {
		if l < uint32(len(seen)) {
			seen[l] = true
		} else {
			long = append(long, l)
		}
	}
	for l, there := range seen {
		if there {
			out = append(out, uint32(l))
		}
	}
	slices.Sort(long)
	return append(out, slices.Compact(long)...)
}

// lengthClasses chooses at most 256 classes of document lengths, given as the
// shortest length of each, ascending: every length on its own if there are no
// more than 256 of them, else ranges whose ends differ by the smallest factor
// that suffices. It tells whether each class is one length.
func lengthClasses(lengths []uint32) (low []uint32, exact bool) {
	distinct := distinctLengths(lengths)
	if len(distinct) <= 256 {
		return slices.Clip(distinct), true
	}
	cover := func(permille uint64) (low []uint32) {
		for _, l := range distinct {
			if n := len(low); n == 0 || uint64(l)*1000 > uint64(low[n-1])*(1000+permille) {
				low = append(low, l)
			}
		}
		return low
	}
	// A factor of 2 needs at most 33 classes.
	f := sort.Search(1000, func(f int) bool { return len(cover(uint64(f))) <= 256 })
	return cover(uint64(f)), false
}
