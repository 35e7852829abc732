package words

import (
	"math"
	"math/bits"
)

// Dispersion describes how evenly something is distributed over the parts of a corpus, such as its
// documents.
type Dispersion struct {
	Count uint64 `json:"count"` // number of occurrences in the corpus
	Range int    `json:"range"` // parts in which it occurs
	Parts int    `json:"parts"` // number of all parts

	// DP is Gries' deviation of proportions: half the sum of |share of the occurrences - share of
	// the words| over all parts. 0 is even, near 1 is all in one small part.
	DP float64 `json:"dp"`
	// DPnorm is DP divided by its maximum, 1 less the share of the smallest part (Lijffijt and
	// Gries 2012): 0 to 1, and 0 if there is only one part.
	DPnorm float64 `json:"dp_norm"`
	// D is Juilland's: 1 less the coefficient of variation of the relative frequencies, divided by
	// the square root of the number of parts less 1. 1 is even, 0 is all in one part.
	D float64 `json:"d"`
}

// Disperse computes the dispersion of counts over parts of the given sizes in words. Parts without
// words are ignored.
func Disperse(counts, sizes []uint64) Dispersion {
	var all sizesSum
	var total uint64
	for i, n := range sizes {
		all.add(n)
		total += counts[i]
	}
	s := spreadSum{count: total}
	for i, n := range sizes {
		s.add(counts[i], n, total, all.words)
	}
	return s.dispersion(all)
}

// sizesSum sums over all parts that have words.
type sizesSum struct {
	parts    int
	words    uint64
	smallest uint64 // words of the smallest part
}

func (s *sizesSum) add(words uint64) {
	if words == 0 {
		return
	}
	if s.parts == 0 || words < s.smallest {
		s.smallest = words
	}
	s.parts++
	s.words += words
}

// spreadSum sums over the parts in which an item occurs. Sums are integers of 128 bits, so the
// order of parts, and with it the number of threads, does not matter.
type spreadSum struct {
	count    uint64
	parts    int
	has      uint128 // words of these parts, times count
	apart    uint128 // sum of |f N - n F|, F being the count, N all words
	rate     uint128 // sum of f/n in units of 2^-rateBits
	rateSqrd uint128 // sum of (f/n)^2 in units of 2^-(2 rateBits - 64)
}

const rateBits = 60

// add adds a part of n words in which the item occurs f times. The whole corpus has total
// occurrences of it and the given number of words.
func (s *spreadSum) add(f, n, total, words uint64) {
	if f == 0 || n == 0 {
		return
	}
	s.parts++
	ah, al := bits.Mul64(f, words)
	bh, bl := bits.Mul64(n, total)
	s.has.add(bh, bl)
	if ah < bh || ah == bh && al < bl {
		ah, al, bh, bl = bh, bl, ah, al
	}
	lo, borrow := bits.Sub64(al, bl, 0)
	hi, _ := bits.Sub64(ah, bh, borrow)
	s.apart.add(hi, lo)
	// f/n may exceed 1 for pairs. It is capped below 2^(64-rateBits), so that it fits in 64 bits.
	h, l := bits.Mul64(min(f, n<<(64-rateBits)-1), 1<<rateBits)
	rate, _ := bits.Div64(h, l, n)
	s.rate.add(0, rate)
	sq, _ := bits.Mul64(rate, rate)
	s.rateSqrd.add(0, sq)
}

func (s *spreadSum) dispersion(all sizesSum) Dispersion {
	d := Dispersion{Count: s.count, Range: s.parts, Parts: all.parts}
	if s.count == 0 || all.words == 0 {
		return d
	}
	whole := float64(s.count) * float64(all.words)
	// A part without the item adds its share of the words.
	d.DP = max(0, (s.apart.float()+whole-s.has.float())/whole/2)
	if rest := 1 - float64(all.smallest)/float64(all.words); rest > 0 {
		d.DPnorm = min(1, d.DP/rest)
	}
	n := float64(all.parts)
	if all.parts < 2 {
		d.D = 1
		return d
	}
	if s.parts == 1 {
		return d // D is 0, which rounding below would miss
	}
	mean := math.Ldexp(s.rate.float(), -rateBits) / n
	square := math.Ldexp(s.rateSqrd.float(), 64-2*rateBits) / n
	d.D = 1 - math.Sqrt(max(0, square-mean*mean))/mean/math.Sqrt(n-1)
	d.D = min(1, max(0, d.D))
	return d
}

type uint128 struct{ hi, lo uint64 }

func (u *uint128) add(hi, lo uint64) {
	var carry uint64
	u.lo, carry = bits.Add64(u.lo, lo, 0)
	u.hi += hi + carry
}

func (u uint128) float() float64 { return math.Ldexp(float64(u.hi), 64) + float64(u.lo) }
