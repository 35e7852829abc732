package points

import (
	"math"

	"github.com/collocate/collocate/internal/choice"
)

// Kernel smooths the pair correlation. The names and shapes are those of R's density.
type Kernel int

// The kernels. All but Gaussian end at a distance; Gaussian is cut off at eight bandwidths.
const (
	Epanechnikov Kernel = iota
	Gaussian
	Rectangular
	Triangular
	Biweight
	Cosine
	OptCosine
)

var kernelNames = choice.New[Kernel]("kernel", "epanechnikov", "gaussian", "rectangular",
	"triangular", "biweight", "cosine", "optcosine")

// Kernels returns the names of all kernels.
func Kernels() []string { return kernelNames.List() }

func (k Kernel) String() string { return kernelNames.Of(k) }

// MarshalText returns the name, so that JSON has it too.
func (k Kernel) MarshalText() ([]byte, error) { return kernelNames.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kernel) UnmarshalText(name []byte) error { return kernelNames.Set(k, string(name)) }

// reach returns the largest difference of distances that counts. bandwidth is the kernel's standard
// deviation.
func (k Kernel) reach(bandwidth float64) float64 {
	return bandwidth * [...]float64{math.Sqrt(5), 8, math.Sqrt(3), math.Sqrt(6), math.Sqrt(7),
		1 / math.Sqrt(1./3-2/(math.Pi*math.Pi)), 1 / math.Sqrt(1-8/(math.Pi*math.Pi))}[k]
}

// at returns the density at a difference of u times the reach, between -1 and 1.
func (k Kernel) at(u, reach float64) float64 {
	switch k {
	case Gaussian:
		return 8 / (reach * math.Sqrt(2*math.Pi)) * math.Exp(-32*u*u)
	case Rectangular:
		return 0.5 / reach
	case Triangular:
		return (1 - math.Abs(u)) / reach
	case Biweight:
		return 15. / 16 * (1 - u*u) * (1 - u*u) / reach
	case Cosine:
		return (1 + math.Cos(math.Pi*u)) / (2 * reach)
	case OptCosine:
		return math.Pi / 4 * math.Cos(math.Pi*u/2) / reach
	}
	return 0.75 * (1 - u*u) / reach
}

// Divisor is the distance by which the pair correlation divides a pair of points.
type Divisor int

// The divisors, as in spatstat. ByPair is less biased at short distances.
const (
	ByDistance Divisor = iota // r, at which the curve is evaluated
	ByPair                    // d, of the pair
)

var divisorNames = choice.New[Divisor]("divisor", "r", "d")

// Divisors returns the names of all divisors.
func Divisors() []string { return divisorNames.List() }

func (d Divisor) String() string { return divisorNames.Of(d) }

// MarshalText returns the name, so that JSON has it too.
func (d Divisor) MarshalText() ([]byte, error) { return divisorNames.Text(d) }

// UnmarshalText is the inverse of MarshalText.
func (d *Divisor) UnmarshalText(name []byte) error { return divisorNames.Set(d, string(name)) }
