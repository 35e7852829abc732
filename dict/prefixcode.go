package dict

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// prefixCode is a set of canonical Huffman codes, one for each context: a symbol may have different
// codes in different contexts. Codes take 1 to 15 bits, so that a length is half a byte. They are
// written from the highest bit of a byte on. In a context, codes of the same length are consecutive
// numbers in the order of symbols, and longer codes follow shorter ones.
//
// Example: lengths 2, 1, 0, 2 of the symbols 0 to 3 are the codes 10, 0, none and 11.
type prefixCode struct {
	symbols int
	lengths []byte // two to a byte, the low half first: of symbol s in context c at c*symbols + s

	codes []uint16 // for writing, at the same indices as lengths

	// For reading. fast has, for each context and value of the next 8 bits, the symbol and in the
	// lowest four bits the length of its code. It is 0 if the code is longer; then long has it.
	fast []uint16
	long []longCodes
}

// longCodes are the codes of a context by length. A code of n bits is a number below limit[n], and
// its symbol is order[code+base[n]].
type longCodes struct {
	limit [maxCode + 1]uint32
	base  [maxCode + 1]int32
	order []uint16 // symbols by code
}

const (
	maxCode  = 15
	fastBits = 8
)

func codeContexts(symbols int, lengths []byte) int {
	if symbols == 0 {
		return 0
	}
	return 2 * len(lengths) / symbols
}

func (p *prefixCode) length(i int) int { return int(p.lengths[i/2] >> (4 * (i % 2)) & 15) }

// newPrefixCode returns the codes for counts of each symbol in each context.
func newPrefixCode(symbols int, counts []uint64) *prefixCode {
	contexts := len(counts) / symbols
	p := &prefixCode{symbols: symbols, lengths: make([]byte, (len(counts)+1)/2), codes: make([]uint16, len(counts))}
	for c := range contexts {
		for s, n := range codeLengths(counts[c*symbols : (c+1)*symbols]) {
			i := c*symbols + s
			p.lengths[i/2] |= n << (4 * (i % 2))
		}
		next := p.firstCodes(c)
		for i := c * symbols; i < (c+1)*symbols; i++ {
			n := p.length(i)
			p.codes[i] = uint16(next[n])
			next[n]++
		}
	}
	return p
}

// firstCodes returns the first code of each length in a context.
func (p *prefixCode) firstCodes(c int) (first [maxCode + 2]uint32) {
	var count [maxCode + 1]uint32
	for i := c * p.symbols; i < (c+1)*p.symbols; i++ {
		count[p.length(i)]++
	}
	count[0] = 0
	for n := 1; n <= maxCode; n++ {
		first[n+1] = (first[n] + count[n]) << 1
	}
	return first
}

// codeLengths returns the lengths of Huffman codes. While one is too long, counts are halved, which
// makes them more equal.
func codeLengths(counts []uint64) []byte {
	lengths := make([]byte, len(counts))
	counts = append([]uint64(nil), counts...)
	for {
		var leaves, inner []*codeNode // both in ascending order: inner nodes are made in it
		for s, n := range counts {
			if n > 0 {
				leaves = append(leaves, &codeNode{n: n, symbol: s})
			}
		}
		if len(leaves) == 0 {
			return lengths
		}
		if len(leaves) == 1 {
			lengths[leaves[0].symbol] = 1
			return lengths
		}
		slices.SortStableFunc(leaves, func(a, b *codeNode) int { return cmp.Compare(a.n, b.n) })
		least := func() (x *codeNode) { // removes the least; of equal ones, a leaf
			if len(inner) == 0 || len(leaves) > 0 && leaves[0].n <= inner[0].n {
				x, leaves = leaves[0], leaves[1:]
			} else {
				x, inner = inner[0], inner[1:]
			}
			return x
		}
		for len(leaves)+len(inner) > 1 {
			a, b := least(), least()
			inner = append(inner, &codeNode{n: a.n + b.n, left: a, right: b})
		}
		if deepest := inner[0].depths(0, lengths); deepest <= maxCode {
			return lengths
		}
		for s, n := range counts {
			counts[s] = (n + 1) / 2
		}
	}
}

type codeNode struct {
	n           uint64
	symbol      int // of a leaf
	left, right *codeNode
}

func (x *codeNode) depths(depth int, to []byte) int {
	if x.left == nil {
		to[x.symbol] = byte(min(depth, 255))
		return depth
	}
	return max(x.left.depths(depth+1, to), x.right.depths(depth+1, to))
}

// openPrefixCode makes the tables for reading from code lengths.
func openPrefixCode(symbols int, lengths []byte) *prefixCode {
	p := &prefixCode{symbols: symbols, lengths: lengths}
	contexts := codeContexts(symbols, lengths)
	p.fast = make([]uint16, contexts<<fastBits)
	p.long = make([]longCodes, contexts)
	for c := range contexts {
		l := &p.long[c]
		first := p.firstCodes(c)
		for n := 1; n <= maxCode; n++ {
			l.base[n] = int32(len(l.order)) - int32(first[n])
			l.limit[n] = first[n]
			for s := range symbols {
				if p.length(c*symbols+s) != n {
					continue
				}
				code := l.limit[n]
				l.limit[n]++
				l.order = append(l.order, uint16(s))
				if n <= fastBits && code < 1<<n {
					from := c<<fastBits + int(code)<<(fastBits-n)
					for i := range 1 << (fastBits - n) {
						p.fast[from+i] = uint16(s)<<4 | uint16(n)
					}
				}
			}
		}
	}
	return p
}

// bitReader reads bits, the highest of each byte first. Bits beyond the end are 0.
type bitReader struct {
	data []byte
	at   uint // next bit
}

func (r *bitReader) peek() uint64 {
	i := r.at >> 3
	if i+8 <= uint(len(r.data)) {
		return binary.BigEndian.Uint64(r.data[i:]) << (r.at & 7)
	}
	var end [8]byte
	if i < uint(len(r.data)) {
		copy(end[:], r.data[i:])
	}
	return binary.BigEndian.Uint64(end[:]) << (r.at & 7)
}

// read returns the next symbol in a context. Bits that begin no code, as in a corrupted file, give
// symbol 0.
func (p *prefixCode) read(r *bitReader, context int) int {
	w := r.peek()
	if e := p.fast[context<<fastBits|int(w>>(64-fastBits))]; e != 0 {
		r.at += uint(e & 15)
		return int(e >> 4)
	}
	l := &p.long[context]
	for n := fastBits + 1; n <= maxCode; n++ {
		if code := uint32(w >> (64 - n)); code < l.limit[n] {
			if i := int(int32(code) + l.base[n]); i >= 0 && i < len(l.order) {
				r.at += uint(n)
				return int(l.order[i])
			}
		}
	}
	r.at++
	return 0
}

// bitWriter appends bits, highest first.
type bitWriter struct {
	data []byte
	acc  uint64
	n    uint
}

func (w *bitWriter) put(v uint64, width int) {
	for width > 32 {
		w.put(v>>32, width-32)
		width = 32
	}
	w.acc = w.acc<<width | v&(1<<width-1)
	w.n += uint(width)
	for w.n >= 8 {
		w.n -= 8
		w.data = append(w.data, byte(w.acc>>w.n))
	}
}

func (w *bitWriter) symbol(p *prefixCode, context, s int) {
	i := context*p.symbols + s
	w.put(uint64(p.codes[i]), p.length(i))
}

// align fills the last byte with zeros.
func (w *bitWriter) align() {
	if w.n > 0 {
		w.put(0, int(8-w.n))
	}
}

func (r *bitReader) bits(n int) uint64 {
	v := r.peek() >> (64 - n)
	r.at += uint(n)
	return v
}
