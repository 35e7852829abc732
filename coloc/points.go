package coloc

import (
	"fmt"
	"math"
	"slices"
)

// Points is the input: one row per point. Feature[i] indexes Features, which
// is sorted and without repetition. Coordinates are in any unit in the plane,
// or longitude (X) and latitude (Y) in degrees.
type Points struct {
	X, Y     []float64
	Feature  []int32
	Features []string
}

// Len is the number of points.
func (p *Points) Len() int { return len(p.X) }

// Totals counts the points of each feature.
func (p *Points) Totals() []int64 {
	total := make([]int64, len(p.Features))
	for _, f := range p.Feature {
		total[f]++
	}
	return total
}

// positions are the coordinates in which distances are straight: those given,
// or unit vectors.
func (p *Points) positions(geographic bool, c crew) (x, y, z []float64) {
	if !geographic {
		return p.X, p.Y, nil
	}
	n := p.Len()
	x, y, z = make([]float64, n), make([]float64, n), make([]float64, n)
	c.sweep(n, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i], y[i], z[i] = unitVector(p.X[i], p.Y[i])
		}
	})
	return x, y, z
}

// maxCoordinate keeps squares and sums of squares far from overflow.
const maxCoordinate = 1e150

// checkCoordinates says what is wrong with one position, or nothing.
func checkCoordinates(x, y float64, geographic bool) error {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(y) || math.IsInf(y, 0):
		return fmt.Errorf("position (%v, %v) is not finite", x, y)
	case geographic && (y < -90 || y > 90):
		return fmt.Errorf("latitude %v is not between -90 and 90", y)
	case geographic && (x < -360 || x > 360):
		return fmt.Errorf("longitude %v is not between -360 and 360", x)
	case math.Abs(x) > maxCoordinate || math.Abs(y) > maxCoordinate:
		return fmt.Errorf("position (%v, %v) is larger than %g", x, y, maxCoordinate)
	}
	return nil
}

// check validates points that a caller put together by hand, and counts those
// of each feature on the way.
func (p *Points) check(geographic bool, c crew) (total []int64, err error) {
	if len(p.X) != len(p.Y) || len(p.X) != len(p.Feature) {
		return nil, fmt.Errorf("points: %d x, %d y and %d features: want equally many", len(p.X), len(p.Y), len(p.Feature))
	}
	if len(p.X) > math.MaxInt32 {
		return nil, fmt.Errorf("points: %d are more than %d", len(p.X), math.MaxInt32)
	}
	for i := 1; i < len(p.Features); i++ {
		if p.Features[i-1] >= p.Features[i] {
			return nil, fmt.Errorf("points: features %q and %q are not in ascending order", p.Features[i-1], p.Features[i])
		}
	}
	mostX, mostY := maxCoordinate, maxCoordinate
	if geographic {
		mostX, mostY = 360, 90
	}
	bad := make([]error, shares(p.Len()))
	counts := make([][]int64, c.workers)
	c.sweep(p.Len(), func(w, lo, hi int) {
		if counts[w] == nil {
			counts[w] = make([]int64, len(p.Features))
		}
		count := counts[w]
		for i := lo; i < hi; i++ {
			f := p.Feature[i]
			if math.Abs(p.X[i]) <= mostX && math.Abs(p.Y[i]) <= mostY && uint(f) < uint(len(count)) {
				count[f]++
				continue
			}
			if err := p.checkPoint(i, geographic); err != nil {
				bad[lo/share] = err
				return
			}
		}
	})
	for _, err := range bad {
		if err != nil {
			return nil, err
		}
	}
	total = make([]int64, len(p.Features))
	for _, part := range counts {
		for f, n := range part {
			total[f] += n
		}
	}
	return total, nil
}

func (p *Points) checkPoint(i int, geographic bool) error {
	if err := checkCoordinates(p.X[i], p.Y[i], geographic); err != nil {
		return fmt.Errorf("point %d: %w", i, err)
	}
	if f := p.Feature[i]; f < 0 || int(f) >= len(p.Features) {
		return fmt.Errorf("point %d: feature %d is not one of %d", i, f, len(p.Features))
	}
	return nil
}

// Builder collects points whose features come as names.
type Builder struct {
	x, y    []float64
	feature []int32
	names   []string
	id      map[string]int32
	last    int32 // the number of the feature added last
}

// Add appends a point. Its position is checked when it is mined.
func (b *Builder) Add(x, y float64, feature string) { b.add(x, y, []byte(feature)) }

func (b *Builder) add(x, y float64, feature []byte) {
	id := b.last // points often come feature by feature
	ok := int(id) < len(b.names) && b.names[id] == string(feature)
	if !ok {
		id, ok = b.id[string(feature)]
	}
	if !ok {
		if b.id == nil {
			b.id = make(map[string]int32)
		}
		id = int32(len(b.names))
		b.names = append(b.names, string(feature))
		b.id[b.names[id]] = id
	}
	b.last = id
	b.x, b.y, b.feature = append(b.x, x), append(b.y, y), append(b.feature, id)
}

// Points gives what was added, in the order it was added, with the features
// sorted by name. The builder must not be used afterwards.
func (b *Builder) Points() *Points {
	sorted := slices.Clone(b.names)
	slices.Sort(sorted)
	rank := make([]int32, len(sorted))
	for i, name := range sorted {
		rank[b.id[name]] = int32(i)
	}
	for i, f := range b.feature {
		b.feature[i] = rank[f]
	}
	return &Points{X: b.x, Y: b.y, Feature: b.feature, Features: sorted}
}

// withoutRare drops the features of fewer than least points, and their points.
func (p *Points) withoutRare(least int) *Points {
	id := make([]int32, len(p.Features))
	kept := &Points{}
	for f, n := range p.Totals() {
		id[f] = -1
		if n >= int64(least) {
			id[f] = int32(len(kept.Features))
			kept.Features = append(kept.Features, p.Features[f])
		}
	}
	if len(kept.Features) == len(p.Features) {
		return p
	}
	for i, f := range p.Feature {
		if id[f] >= 0 {
			kept.X, kept.Y = append(kept.X, p.X[i]), append(kept.Y, p.Y[i])
			kept.Feature = append(kept.Feature, id[f])
		}
	}
	return kept
}
