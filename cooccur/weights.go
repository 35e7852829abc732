package cooccur

import (
	"math"
	"math/bits"

	"github.com/collocate/collocate/internal/choice"
)

// Weighting is what one co-occurrence of two words adds to their cell.
type Weighting int

const (
	// Distance adds 1/d for words at distance d, as GloVe does.
	Distance Weighting = iota
	// Count adds 1.
	Count
)

var weightingNames = choice.New[Weighting]("weighting", "distance", "count")

func (w Weighting) String() string { return weightingNames.Of(w) }

// MarshalText returns the name, for JSON.
func (w Weighting) MarshalText() ([]byte, error) { return weightingNames.Text(w) }

// UnmarshalText is the inverse of MarshalText.
func (w *Weighting) UnmarshalText(name []byte) error { return weightingNames.Set(w, string(name)) }

// units holds the weights as integers, so that sums are exact and do not depend on the order of
// addition, the threads or the device. A cell is a sum of units that is converted to a float64
// once, at the end.
//
// Count: the unit is 1.
//
// Distance with windows up to lcmWindow: the unit is 1/lcm(1..n), and 1/d is exactly lcm/d units.
//
// Distance with larger windows, whose lcm is too large: the unit is 2^-62, and a weight is the
// float64 nearest to 1/d. For d up to 1024 that is a whole number of units; beyond, it is rounded
// to the nearest one, with a relative error of at most 1e-13. So the float64 weights, which GloVe
// adds with a rounding error in each addition, are added exactly. Such sums need two words, and the
// units are called wide.
type units struct {
	of   []uint64 // weight by distance, from 1
	one  float64  // number of units in 1, if not wide
	wide bool
	// heaviest is the largest number of occurrences of a word for which no cell can overflow.
	heaviest uint64
}

// lcmWindow is the largest window whose sums in units of 1/lcm fit in 64 bits, for words that occur
// up to 2e11 times. lcm(1..18) is 12,252,240.
const lcmWindow = 18

const (
	// MaxWindow is the largest window. Few documents are longer.
	MaxWindow = 1 << 17
	// WholeDocument is a window of all other words of the document. A document of more than
	// MaxWindow+1 words is then an error.
	WholeDocument = -1
	// deviceWindow is the largest window whose words fit a device's shared memory, and the largest
	// one for which engine.Auto uses a GPU.
	deviceWindow = 1000
)

func newUnits(weighting Weighting, window int) units {
	u := units{of: make([]uint64, window+1), one: 1}
	switch {
	case weighting == Count:
		for d := 1; d <= window; d++ {
			u.of[d] = 1
		}
	case window <= lcmWindow:
		lcm := uint64(1)
		for d := uint64(1); d <= uint64(window); d++ {
			lcm *= d / gcd(lcm, d)
		}
		for d := uint64(1); d <= uint64(window); d++ {
			u.of[d] = lcm / d
		}
		u.one = float64(lcm)
	default:
		u.wide = true
		for d := 1; d <= window; d++ {
			u.of[d] = uint64(math.RoundToEven(math.Ldexp(1/float64(d), 62)))
		}
	}
	if u.wide {
		u.heaviest = math.MaxUint64 >> 1 // 2^63 occurrences of 2^64 units each fit 128 bits
	} else {
		u.heaviest = math.MaxUint64 / (2 * u.sum())
	}
	return u
}

// sum returns what an occurrence adds to its row on one side: the most it can add to a single cell.
// It must not be called for wide units.
func (u *units) sum() (sum uint64) {
	for _, w := range u.of {
		sum += w
	}
	return sum
}

// value converts a sum of units to the cell's value, rounded once. (A sum above 2^53 units of 1/lcm
// is rounded before and after the division.)
func (u *units) value(lo, hi uint64) float64 {
	if !u.wide {
		return float64(lo) / u.one
	}
	shift := 64
	if hi != 0 {
		shift = bits.LeadingZeros64(hi)
		top := hi<<shift | lo>>(64-shift)
		if lo<<shift != 0 {
			top |= 1 // sticky bit: the bits cut off decide ties in rounding
		}
		lo = top
	}
	return math.Ldexp(float64(lo), 64-shift-62)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
