package coloc

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/points"
)

// Points is a set of points, as package points reads it.
type Points = points.Set

// positions returns the coordinates in which distances are Euclidean: those of the points or, for
// longitudes and latitudes, unit vectors.
func positions(p *Points, geographic bool, c cores) (x, y, z []float64) {
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

// checkPoints validates points, which a caller may have put together by hand. It returns the number
// of points of each feature.
func checkPoints(p *Points, geographic bool, c cores) (total []int64, err error) {
	if len(p.X) != len(p.Y) || len(p.X) != len(p.Feature) {
		return nil, fmt.Errorf("points: %d x, %d y and %d features: want equally many", len(p.X),
			len(p.Y), len(p.Feature))
	}
	if len(p.X) > math.MaxInt32 {
		return nil, fmt.Errorf("points: %d: want at most %d", len(p.X), math.MaxInt32)
	}
	for i := 1; i < len(p.Features); i++ {
		if p.Features[i-1] >= p.Features[i] {
			return nil, fmt.Errorf("points: features %q and %q are not in ascending order",
				p.Features[i-1], p.Features[i])
		}
	}
	mostX, mostY := points.MaxCoordinate, points.MaxCoordinate
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
			if err := checkPoint(p, i, geographic); err != nil {
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

func checkPoint(p *Points, i int, geographic bool) error {
	if err := points.CheckPosition(p.X[i], p.Y[i], geographic); err != nil {
		return fmt.Errorf("point %d: %w", i, err)
	}
	if f := p.Feature[i]; f < 0 || int(f) >= len(p.Features) {
		return fmt.Errorf("point %d: feature %d is not one of %d", i, f, len(p.Features))
	}
	return nil
}
