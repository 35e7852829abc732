package dict

import (
	"math/bits"
	"sort"
)

// vectors is a sequence of bit vectors of the same length with rank and select. Bits outside read
// as 0.
type vectors interface {
	// rank returns the number of ones before bit i of vector v, and whether bit i is one.
	rank(v, i int) (int, bool)
	// selectOne returns the position of the k-th one of vector v, counted from 0.
	selectOne(v, k int) (int, bool)
}

// plain holds uncompressed bit vectors, with each count next to its bits: lines of 64 bytes with
// the number of ones of the vector before the line, then 448 bits, lowest first. So a rank costs
// one cache miss. A vector takes ceil(n/448) lines, at least one. Example: the vector 101 is one
// line, 0, 5, 0, 0, 0, 0, 0, 0.
type plain struct {
	lines []uint64
	per   int // lines per vector
}

const (
	lineWords = 8
	lineBits  = 64 * (lineWords - 1)
)

func linesFor(n int) int { return max(1, (n+lineBits-1)/lineBits) }

// appendPlain appends a vector of n bits in which the given ones, in ascending order, are set.
func appendPlain(lines []uint64, n int, ones func(yield func(int) bool)) []uint64 {
	start := len(lines)
	lines = append(lines, make([]uint64, linesFor(n)*lineWords)...)
	v := lines[start:]
	for i := range ones {
		line, bit := i/lineBits, i%lineBits
		v[line*lineWords+1+bit/64] |= 1 << (bit % 64)
	}
	count := uint64(0)
	for l := 0; l < len(v); l += lineWords {
		v[l] = count
		for _, w := range v[l+1 : l+lineWords] {
			count += uint64(bits.OnesCount64(w))
		}
	}
	return lines
}

func (p *plain) rank(v, i int) (int, bool) {
	line := i / lineBits
	if uint(line) >= uint(p.per) || uint(v*p.per+line) >= uint(len(p.lines)/lineWords) {
		return 0, false
	}
	at := (v*p.per + line) * lineWords
	l := (*[lineWords]uint64)(p.lines[at:])
	bit := uint(i % lineBits)
	last := bit / 64
	n := int(l[0])
	// All words are counted, masked to 0 after the bit, since a branch on where to stop would be
	// unpredictable.
	for w := range uint(lineWords - 2) {
		n += bits.OnesCount64(l[1+w] & uint64(int64(w-last)>>63))
	}
	word := l[(1+last)&(lineWords-1)]
	return n + bits.OnesCount64(word&(1<<(bit%64)-1)), word>>(bit%64)&1 != 0
}

func (p *plain) selectOne(v, k int) (int, bool) {
	if k < 0 || (v+1)*p.per*lineWords > len(p.lines) {
		return 0, false
	}
	lines := p.lines[v*p.per*lineWords : (v+1)*p.per*lineWords]
	line := sort.Search(p.per, func(l int) bool { return int(lines[l*lineWords]) > k }) - 1
	if line < 0 {
		return 0, false
	}
	k -= int(lines[line*lineWords])
	for i, w := range lines[line*lineWords+1 : (line+1)*lineWords] {
		if c := bits.OnesCount64(w); k >= c {
			k -= c
			continue
		}
		return line*lineBits + 64*i + selectWord(w, k), true
	}
	return 0, false
}

// selectZero returns the position of the k-th zero of the first n bits of vector 0.
func (p *plain) selectZero(k, n int) (int, bool) {
	if k < 0 || len(p.lines) < p.per*lineWords {
		return 0, false
	}
	line := sort.Search(p.per, func(l int) bool { return l*lineBits-int(p.lines[l*lineWords]) > k }) - 1
	if line < 0 {
		return 0, false
	}
	k -= line*lineBits - int(p.lines[line*lineWords])
	for i, w := range p.lines[line*lineWords+1 : (line+1)*lineWords] {
		if c := 64 - bits.OnesCount64(w); k >= c {
			k -= c
			continue
		}
		at := line*lineBits + 64*i + selectWord(^w, k)
		return at, at < n
	}
	return 0, false
}

// selectWord returns the position of the k-th one of w, which has more than k ones.
func selectWord(w uint64, k int) int {
	for range k {
		w &= w - 1
	}
	return bits.TrailingZeros64(w)
}
