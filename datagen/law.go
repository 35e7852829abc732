package datagen

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Law is a distribution of word frequencies: a Zipf-Mandelbrot law in two pieces. The word of rank
// r = 1, 2, and so on has a probability proportional to
//
//	(r+Shift)^-Head                                        for r <= Knee
//	(Knee+Shift)^-Head * ((r+Shift)/(Knee+Shift))^-Tail     for r > Knee
//
// There are 2^34 words. One piece is not enough: the head determines how many distinct words a
// document has, and the tail how fast new words appear in a growing collection (as the power 1/Tail
// of its size).
//
// Each of the first 4096 ranks has its own probability. Each following octave of ranks is divided
// into 64 cells, and the ranks of a cell share a probability.
type Law struct {
	Head  float64 // exponent of the frequent words, up to rank Knee
	Shift float64 // added to all ranks; a larger one makes the first words less frequent
	Knee  float64 // rank at which the exponent changes from Head to Tail
	Tail  float64 // exponent of the rare words, above rank Knee
}

// Web is fitted to samples of ClueWeb09-B: the five sets of 100 to 500 MB in the term weighting
// paper. Its expected numbers of distinct words differ from the paper's by +1.0, +0.1, -0.3, -0.4
// and -0.4%; with documents of lognormal(6.0, 1.1) length, the number of (word, document) pairs
// differs by -0.3%. Three parameters fit these numbers. The fourth makes the frequent words
// resemble English: 3.9% for the first, 0.9% for the tenth.
var Web = Law{Head: 0.98, Shift: 1.5, Knee: 5800, Tail: 1.650}

// News is Web with a tail that gives 2.44 million distinct words in 719 million, as in the 1
// Billion Word Benchmark.
var News = Law{Head: 0.98, Shift: 1.5, Knee: 5800, Tail: 1.791}

const (
	singleBits = 12 // ranks below 2^singleBits are cells of their own
	octaveBits = 6  // cells in an octave, as a power of two
	rankBits   = 34 // 2^rankBits words
	cellCount  = 1<<singleBits + (rankBits-singleBits)<<octaveBits
	tableBits  = 13 // cells in the alias table, as a power of two
)

func (l Law) check() error {
	for _, v := range []float64{l.Head, l.Shift, l.Knee, l.Tail} {
		if math.IsNaN(v) || v < 0 || v > 1e12 {
			return fmt.Errorf("word law %+v: want finite parameters of at least 0", l)
		}
	}
	return nil
}

// cellRanks returns the first rank of a cell, from 0, and the binary logarithm of the number of its
// ranks.
func cellRanks(cell int) (first int64, width int) {
	if cell < 1<<singleBits {
		return int64(cell), 0
	}
	cell -= 1 << singleBits
	width = singleBits - octaveBits + cell>>octaveBits
	return int64(1<<octaveBits+cell&(1<<octaveBits-1)) << width, width
}

// probabilities returns the probability of one word of each cell.
func (l Law) probabilities() []float64 {
	p := make([]float64, cellCount)
	total := 0.0
	for c := range p {
		first, width := cellRanks(c)
		r := float64(first) + (math.Exp2(float64(width))+1)/2 // the middle rank, from 1
		head := math.Pow(min(r, l.Knee)+l.Shift, -l.Head)
		p[c] = head * math.Pow(max(1, float64((r+l.Shift)/(l.Knee+l.Shift))), -l.Tail)
		total += math.Ldexp(p[c], width)
	}
	for c := range p {
		p[c] /= total
	}
	return p
}

// sampler draws ranks by the alias method.
type sampler struct {
	// One entry per cell, padded to a power of two: the low half is a threshold, the high half the
	// cell to use instead if the low half of the random number is not below it.
	table [1 << tableBits]uint64
}

// newSampler rounds the cells' probabilities to multiples of 2^-40 and then computes with integers,
// so that the last bits of a platform's math.Pow do not matter.
func newSampler(l Law) *sampler {
	const n = 1 << tableBits
	var weight [n]uint64 // n times the cell's weight
	var total uint64
	for c, p := range l.probabilities() {
		_, width := cellRanks(c)
		w := uint64(math.Round(math.Ldexp(p, 40+width)))
		weight[c] = w * n
		total += w
	}
	s := new(sampler)
	var small, large []int
	for c, w := range weight {
		if w < total {
			small = append(small, c)
		} else {
			large = append(large, c)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		c, donor := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		hi, lo := bits.Mul64(weight[c], 1<<32)
		threshold, _ := bits.Div64(hi, lo, total)
		s.table[c] = uint64(donor)<<32 | threshold
		if weight[donor] -= total - weight[c]; weight[donor] < total {
			large = large[:len(large)-1]
			small = append(small, donor)
		}
	}
	// The remaining cells have exactly the mean weight.
	for _, c := range append(small, large...) {
		s.table[c] = uint64(c)<<32 | math.MaxUint32
	}
	return s
}

// draw returns a rank, counted from 0. One random number has 13 bits for the cell, 32 for the
// threshold and 19 for the rank in the cell; larger cells draw the rank from another number.
func (s *sampler) draw(rng *rand.PCG) int64 {
	const placeBits = 64 - tableBits - 32
	u := rng.Uint64()
	cell := u >> (64 - tableBits)
	if e := s.table[cell]; uint32(u) >= uint32(e) {
		cell = e >> 32
	}
	if cell < 1<<singleBits {
		return int64(cell)
	}
	first, width := cellRanks(int(cell))
	if width <= placeBits {
		return first + int64(u>>32&(1<<placeBits-1))>>(placeBits-width)
	}
	return first + int64(rng.Uint64()>>(64-width))
}
