package words

import (
	"math"
	"math/bits"
)

// frontier rules out cells of a row without scoring them. For a given row, every measure increases
// with the count of a pair and decreases with the frequency of the other word. So a cell that
// scored too low rules out all cells with no higher count and no lower frequency.
type frontier struct {
	// low has, for each range of frequencies, the highest count that is too low for all words of
	// the range.
	low [64 * steps]float64
	// seen has cells that were rejected. A later cell with the same numbers is rejected too: the
	// best only get better, and the first of equal ones wins.
	seen [512]struct {
		value float64
		freq  uint64
	}
}

// steps is the number of frequency ranges per factor of two.
const steps = 8

// rangeOf returns the range of a frequency above 0.
func rangeOf(freq uint64) int {
	e := bits.Len64(freq) - 1
	return e*steps + int(bits.RotateLeft64(freq, 3-e)&(steps-1))
}

// least returns the lower end of a range, which need not be a whole number.
func least(of int) float64 { return math.Ldexp(float64(steps+of%steps)/steps, of/steps) }

// slot returns the slot of a cell in seen.
func slot(value float64, freq uint64) uint64 {
	return (math.Float64bits(value) ^ freq*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 >> 55
}

// beyond reports whether a cell is known to be too low.
func (f *frontier) beyond(value float64, freq uint64) bool {
	if value <= f.low[rangeOf(freq)] {
		return true
	}
	s := &f.seen[slot(value, freq)]
	return s.value == value && s.freq == freq
}

// refuse records a rejected cell. score returns the score of the same count with another frequency;
// worst is the score of the worst cell that was kept.
func (f *frontier) refuse(value float64, freq uint64, worst float64, score func(freq float64) float64) {
	s := &f.seen[slot(value, freq)]
	s.value, s.freq = value, freq
	of := rangeOf(freq)
	// The margin exceeds rounding errors.
	if score(least(of)) < worst-1e-6*(1+math.Abs(worst)) {
		f.low[of] = max(f.low[of], value)
	}
}
