package points

import (
	"context"
	"math"
	"math/rand/v2"
)

// slides draws random shifts of features in the plane, without a torus: the random shifts with
// variance correction of Mrkvička, Dvořák, González and Mateu (2021). Each feature keeps its own
// clustering exactly, whatever the shape of the study area.
//
// A pair of points counts as in K with the translation correction: by the overlap of the area with
// itself, shifted by the vector between the points before they moved. So K of independent features
// has the same mean whatever they moved by. Its variance is inversely proportional to the overlap
// of the area with itself, shifted by how far one feature moved relative to the other.
//
// If features share a density, points count with its inverse, which moves with them. This is the
// inhomogeneous cross K of Møller and Waagepetersen.
type slides struct {
	all    *overlaps // for shifts of any size
	weight []float64 // by point; nil if the density is uniform
}

// slideSteps is the number of steps of all up to the longer side of the study area.
const slideSteps = 24

// slide moves the features of a plane. It is part of planes of rounds, and of the observed one.
type slide struct {
	*slides
	by [][2]float64 // by feature; nil means that none has moved
}

func (l *plane) newSlides(r raster, density []float64) *slides {
	s := &slides{all: l.overlapsIn(max(l.width, l.depth), slideSteps)}
	if density != nil {
		s.weight = make([]float64, len(l.x))
		for i := range l.x {
			s.weight[i] = 1 / (density[r.key(l.x[i], l.y[i])] * l.area())
		}
	}
	return s
}

// draw returns how far features move in a round: at most so far that the area, shifted by twice as
// much, overlaps a quarter of itself.
func (s *slides) draw(rng *rand.Rand, features int) [][2]float64 {
	by := make([][2]float64, features)
	width, depth := s.all.o.maxX-s.all.o.minX, s.all.o.maxY-s.all.o.minY
	for f := range by {
		for try := 0; ; try++ {
			// Where the area is very narrow, few shifts are short enough.
			size := math.Pow(0.5, float64(try/1000))
			x, y := size*width*(rng.Float64()-0.5), size*depth*(rng.Float64()-0.5)
			if s.all.of(2*x, 2*y) >= s.all.o.area/4 {
				by[f] = [2]float64{x, y}
				break
			}
		}
	}
	return by
}

// between returns the vector by which b has moved relative to a.
func (s *slide) between(a, b int32) (dx, dy float64) {
	if s.by == nil {
		return 0, 0
	}
	return s.by[b][0] - s.by[a][0], s.by[b][1] - s.by[a][1]
}

// share returns the overlap of the area with itself, as a share of the area, for a pair of
// features.
func (s *slide) share(a, b int32) float64 {
	dx, dy := s.between(a, b)
	return min(1, max(1./16, s.all.of(dx, dy)/s.all.o.area))
}

// overlap returns the area by which a pair of points counts, which are dx and dy apart, as they
// have moved.
func (s *slide) overlap(a, b int32, dx, dy float64) float64 {
	x, y := s.between(a, b)
	dx, dy = dx-x, dy-y
	width, depth := s.all.o.maxX-s.all.o.minX, s.all.o.maxY-s.all.o.minY
	return s.all.of(max(-width, min(width, dx)), max(-depth, min(depth, dy)))
}

// weigh returns the weight of a pair of points, by the density around them.
func (s *slide) weigh(i, j int32) float64 {
	if s.weight == nil {
		return 1
	}
	return s.weight[i] * s.weight[j]
}

// slid returns the plane with its features moved by slides.
func (l *plane) slid(s *slides, by [][2]float64) *plane {
	m := l.moved(l.x, l.y, l.feature)
	m.slide = &slide{s, by}
	if by == nil {
		return m
	}
	m.x, m.y = make([]float64, len(l.x)), make([]float64, len(l.y))
	for i, f := range l.feature {
		m.x[i], m.y[i] = l.x[i]+by[f][0], l.y[i]+by[f][1]
	}
	return m
}

// seen returns the sums of the observed points, weighed as those of the rounds are.
func (m *NullModel) seen(ctx context.Context, on sums, o CurveOptions, some *somePairs) (*pairSums,
	error) {
	return on.of(ctx, m.plane.slid(m.slides, nil), o.Bins, o.Most, true, some)
}
