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
	// Shared is the density of all other points around each, of whatever feature, as a share of
	// their number, times the number of the feature's points.
	Shared
	// Own is the density of a feature's other points around each: spatstat's default. Both have a
	// normal kernel, and a correction for the border.
	Own
)

var intensityNames = choice.New[Intensity]("intensity", "uniform", "shared", "own")

// Intensities returns the names of all intensities.
func Intensities() []string { return intensityNames.List() }

func (i Intensity) String() string { return intensityNames.Of(i) }

// MarshalText returns the name, so that JSON has it too.
func (i Intensity) MarshalText() ([]byte, error) { return intensityNames.Text(i) }

// UnmarshalText is the inverse of MarshalText.
func (i *Intensity) UnmarshalText(name []byte) error { return intensityNames.Set(i, string(name)) }

// intensities returns the intensity of its feature at each point of some features; nil for Uniform.
// It is that of density.ppp in spatstat, at points and without each itself: the sum of a normal
// kernel over the other points, divided by the share of the kernel that lies in the study area.
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
	sigma := o.Bandwidth
	switch {
	case o.Intensity == Own && sigma == 0:
		sigma = min(l.o.maxX-l.o.minX, l.o.maxY-l.o.minY) / 8
		tell("bandwidth %.4g of each feature's own density, an eighth of the shorter side", sigma)
	case o.Intensity == Shared && sigma == 0:
		_, density, chosen, err := l.sharedDensity(ctx, 0, 0)
		if err != nil {
			return nil, err
		}
		if sigma = chosen; density == nil {
			tell("the density that all features share is uniform, as far as they tell")
			for i, f := range l.feature {
				at[i] = float64(len(members[f])) / l.area()
			}
			return at, nil
		}
		fallthrough
	default:
		tell("bandwidth %.4g of the density that %s", sigma, map[Intensity]string{Shared: "all features share", Own: "each feature has"}[o.Intensity])
	}
	wanted := make([]bool, len(members))
	for _, p := range pairs {
		wanted[p[0]], wanted[p[1]] = true, true
	}
	var points, all []int32
	for f, of := range members {
		if wanted[f] {
			points = append(points, of...)
		}
	}
	near := make([]*cells, len(members)) // the points that the density of a feature is made of
	if o.Intensity == Shared {
		for i := range l.x {
			all = append(all, int32(i))
		}
		shared := l.cellsOf(all, kernelReach*sigma)
		for f := range near {
			near[f] = shared
		}
	} else {
		for f, of := range members {
			if wanted[f] && len(of) > 0 {
				near[f] = l.cellsOf(of, kernelReach*sigma)
			}
		}
	}
	var done atomic.Int64
	const block = 256
	var stop atomic.Pointer[error]
	err := each(ctx, o.Engine.cores(), (len(points)+block-1)/block, func(_, b int) {
		for _, i := range points[b*block : min(len(points), (b+1)*block)] {
			f := l.feature[i]
			sum, err := l.kernelSum(ctx, i, near[f], sigma)
			if err != nil {
				return
			}
			if sum == 0 {
				other := map[Intensity]string{Shared: "other", Own: "other of its feature"}[o.Intensity]
				err := fmt.Errorf("the point at (%.10g, %.10g) has no %s within %.4g, so its %s intensity is 0: "+
					"want a larger points.CurveOptions.Bandwidth", l.x[i], l.y[i], other, kernelReach*sigma, o.Intensity)
				stop.Store(&err)
				return
			}
			if at[i] = sum / l.o.normal(l.x[i], l.y[i], sigma); o.Intensity == Shared {
				at[i] *= float64(len(members[f])) / float64(len(l.x)-1)
			}
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

// kernelReach is where the normal kernel is cut off, in standard deviations, as in spatstat.
const kernelReach = 8

// cellsOf sorts some points into cells, whose numbers are those of the plane.
func (l *plane) cellsOf(points []int32, side float64) *cells {
	some := l.moved(nil, nil, nil)
	for _, i := range points {
		some.x, some.y, some.feature = append(some.x, l.x[i]), append(some.y, l.y[i]), append(some.feature, i)
	}
	return newCells(some, side)
}

// kernelSum returns the sum of a normal kernel over the points of c, without point i itself. Their
// order is that of the cells, so the sum is the same on any number of threads.
func (l *plane) kernelSum(ctx context.Context, i int32, c *cells, sigma float64) (sum float64, err error) {
	x, y, per, limit := l.x[i], l.y[i], -1/(2*sigma*sigma), kernelReach*kernelReach*sigma*sigma
	for _, span := range c.around(c.key(x, y)) {
		for from := int(span[0]); from < int(span[1]); from += 0x10000 {
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			for j := from; j < min(from+0x10000, int(span[1])); j++ {
				dx, dy := c.x[j]-x, c.y[j]-y
				if d2 := float64(dx*dx) + float64(dy*dy); d2 <= limit && c.feature[j] != i {
					sum += math.Exp(d2 * per)
				}
			}
		}
	}
	return sum / (2 * math.Pi * sigma * sigma), nil
}
