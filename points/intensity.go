package points

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/collocate/collocate/internal/choice"
)

// Intensity is the density of points that inhomogeneous K and pair correlation divide by.
type Intensity int

// The intensities.
const (
	// Uniform is the number of points divided by the area: only homogeneous curves are made.
	Uniform Intensity = iota
	// Shared is the density that all features share, as of the null model Inhomogeneous, times the
	// number of a feature's points.
	Shared
	// Own is the density of a feature's other points around each: spatstat's default, a normal
	// kernel that leaves the point itself out, with a correction for the border.
	Own
)

var intensityNames = choice.New[Intensity]("intensity", "uniform", "shared", "own")

// Intensities returns the names that ParseIntensity accepts.
func Intensities() []string { return intensityNames.List() }

func (i Intensity) String() string { return intensityNames.Of(i) }

// MarshalText returns the name, so that JSON has it too.
func (i Intensity) MarshalText() ([]byte, error) { return intensityNames.Text(i) }

// UnmarshalText is the inverse of MarshalText.
func (i *Intensity) UnmarshalText(name []byte) error { return intensityNames.Set(i, string(name)) }

// ParseIntensity returns the intensity with the given name.
func ParseIntensity(name string) (Intensity, error) { return intensityNames.Parse(name) }

// intensities returns the intensity of its feature at each point of some features; nil for Uniform.
func (l *plane) intensities(ctx context.Context, o *CurveOptions, pairs [][2]int32,
	members [][]int32) ([]float64, error) {
	if o.Intensity == Uniform {
		return nil, nil
	}
	tell := func(format string, args ...any) {
		if o.Tell != nil {
			o.Tell(fmt.Sprintf(format, args...))
		}
	}
	at := make([]float64, len(l.x))
	if o.Intensity == Shared {
		r, density, bandwidth, err := l.sharedDensity(ctx, o.Bandwidth, 0)
		if err != nil {
			return nil, err
		}
		if density == nil {
			tell("the density that all features share is uniform, as far as they tell")
		} else {
			tell("bandwidth %.4g of the density that all features share", bandwidth)
		}
		for i, f := range l.feature {
			if at[i] = float64(len(members[f])) / l.area(); density != nil {
				at[i] = float64(len(members[f])) * density[r.key(l.x[i], l.y[i])]
			}
		}
		return at, nil
	}
	sigma := o.Bandwidth
	if sigma == 0 {
		sigma = min(l.o.maxX-l.o.minX, l.o.maxY-l.o.minY) / 8
		tell("bandwidth %.4g of each feature's own density, an eighth of the shorter side", sigma)
	}
	r := rasterOver(l.o.minX, l.o.minY, l.o.maxX-l.o.minX, l.o.maxY-l.o.minY, densityCells)
	edge := blurred(r.mask(l.o), r.nx, r.ny, max(sigma/r.side, 0.5))
	wanted := make([]bool, len(members))
	for _, p := range pairs {
		wanted[p[0]], wanted[p[1]] = true, true
	}
	var points []int32
	for f, of := range members {
		if wanted[f] {
			points = append(points, of...)
		}
	}
	var done atomic.Int64
	const block = 256
	var stop atomic.Pointer[error]
	err := each(ctx, o.Engine.cores(), (len(points)+block-1)/block, func(_, b int) {
		for _, i := range points[b*block : min(len(points), (b+1)*block)] {
			sum, err := l.kernelSum(ctx, i, members[l.feature[i]], sigma)
			if err != nil {
				return
			}
			if sum == 0 {
				err := fmt.Errorf("the point at (%.10g, %.10g) has no other of its feature within %.4g, "+
					"so its own intensity is 0: want a larger points.CurveOptions.Bandwidth", l.x[i], l.y[i], 8*sigma)
				stop.Store(&err)
				return
			}
			at[i] = sum / max(edge[r.key(l.x[i], l.y[i])], 1e-3)
		}
		if o.Progress != nil {
			o.Progress("intensity", min(done.Add(block), int64(len(points))), int64(len(points)))
		}
	})
	if e := stop.Load(); e != nil {
		return nil, *e
	}
	return at, err
}

// kernelSum returns the intensity at a point of the other points of its feature: the sum of a
// normal kernel, which is cut off at eight times its standard deviation as in spatstat.
func (l *plane) kernelSum(ctx context.Context, i int32, members []int32, sigma float64) (sum float64, err error) {
	x, y, per := l.x[i], l.y[i], -1/(2*sigma*sigma)
	for n, j := range members {
		if n&0xffff == 0xffff && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		dx, dy := l.x[j]-x, l.y[j]-y
		if d2 := float64(dx*dx) + float64(dy*dy); j != i && d2 <= 64*sigma*sigma {
			sum += math.Exp(d2 * per)
		}
	}
	return sum / (2 * math.Pi * sigma * sigma), nil
}
