package words

import (
	"math"
	"math/bits"
)

// frontier tells without a score that a cell of a row is not among the best. With the word of the
// row given, every measure rises with the count of a pair and falls with the frequency of the other
// word. So a cell that was too low speaks for all with no higher count and no less frequent words.
type frontier struct {
	// The highest count, by range of frequencies, that is too low for all words of the range.
	low [64 * steps]float64
	// Cells that were not taken. One with the same numbers behind them is not taken either: the
	// best only get better, and among equal ones the first win.
	seen [512]struct {
		value float64
		freq  uint64
	}
}

// steps is how many ranges of frequencies there are between a number and its double.
const steps = 8

// rangeOf is the range of a frequency above 0.
func rangeOf(freq uint64) int {
	e := bits.Len64(freq) - 1
	return e*steps + int(bits.RotateLeft64(freq, 3-e)&(steps-1))
}

// least is the lowest frequency of a range, or more if it has no whole numbers.
func least(of int) float64 { return math.Ldexp(float64(steps+of%steps)/steps, of/steps) }

// slot is where a cell is remembered.
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

// refuse learns from a cell that was not taken. score is that of the same count and another
// frequency; worst is that of the worst cell that was kept.
func (f *frontier) refuse(value float64, freq uint64, worst float64, score func(freq float64) float64) {
	s := &f.seen[slot(value, freq)]
	s.value, s.freq = value, freq
	of := rangeOf(freq)
	// Far enough from the worst for errors of rounding not to count.
	if score(least(of)) < worst-1e-6*(1+math.Abs(worst)) {
		f.low[of] = max(f.low[of], value)
	}
}
