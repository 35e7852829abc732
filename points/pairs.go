package points

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// pairSums are what all statistics by distance need: for every pair of features and
// every ring of distances the number of pairs of points, or the sum of their weights of
// the edge correction and, for every ordered pair of features, how many points of the
// first have their nearest of the second there. Sums are of integers, so that the
// order of adding does not matter.
type pairSums struct {
	features int
	bins     int
	step     float64 // width of a ring
	edges    bool    // weighted and nearest, not count
	count    []int64 // of unordered pairs of features
	weighted []int64 // likewise, in units of 1/weightUnit
	nearest  []int64 // of ordered pairs of features
}

// weightUnit is fine enough for six digits and leaves room for 2^37 pairs.
const weightUnit = 1 << 24

func newPairSums(k, bins int, most float64, edges bool) *pairSums {
	s := &pairSums{features: k, bins: bins, step: most / float64(bins), edges: edges}
	if edges {
		s.weighted, s.nearest = make([]int64, unorderedPairs(k)*bins), make([]int64, k*k*bins)
	} else {
		s.count = make([]int64, unorderedPairs(k)*bins)
	}
	return s
}

// unorderedPairs is how many there are of k features, each with itself included.
func unorderedPairs(k int) int { return k * (k + 1) / 2 }

// at is the place of an ordered pair of features in nearest.
func (s *pairSums) at(a, b int32, bin int) int {
	return (int(a)*s.features+int(b))*s.bins + bin
}

// unordered is the place of a pair of features in count and weighted.
func (s *pairSums) unordered(a, b int32) int {
	low, high := int(min(a, b)), int(max(a, b))
	return (high*(high+1)/2 + low) * s.bins
}

// add adds the sums of others.
func (s *pairSums) add(o *pairSums) {
	for i, n := range o.count {
		s.count[i] += n
	}
	for i, n := range o.weighted {
		s.weighted[i] += n
	}
	for i, n := range o.nearest {
		s.nearest[i] += n
	}
}

// blockPoints is how many points a core takes at a time.
const blockPoints = 1 << 10

// sumPairs goes once over all pairs of points up to a distance. Weights are those
// of the translation correction: the area over that of the rectangle's overlap with
// itself, moved as the one point lies from the other.
func (l *plane) sumPairs(ctx context.Context, workers, bins int, most float64, edges bool) (*pairSums, error) {
	if err := l.fits(most, edges); err != nil {
		return nil, err
	}
	k := l.features
	c := newCells(l, most)
	parts := make([]*pairSums, max(1, workers))
	var mu sync.Mutex
	err := each(ctx, workers, (len(c.x)+blockPoints-1)/blockPoints, func(w, b int) {
		if parts[w] == nil {
			mu.Lock()
			parts[w] = newPairSums(k, bins, most, edges)
			mu.Unlock()
		}
		parts[w].block(l, c, b*blockPoints, min(len(c.x), (b+1)*blockPoints), most)
	})
	if err != nil {
		return nil, err
	}
	sum := newPairSums(k, bins, most, edges)
	for _, p := range parts {
		if p != nil {
			sum.add(p)
		}
	}
	return sum, nil
}

// fits reports whether the edge correction holds up to a distance.
func (l *plane) fits(most float64, edges bool) error {
	if edges && (!(most > 0) || 2*most > min(l.width, l.depth)) {
		return fmt.Errorf("distance %v: want more than 0 and at most half the shorter side of the area, %v",
			most, min(l.width, l.depth)/2)
	}
	return nil
}

// block adds the pairs of which the first point is one of [lo, hi). Neighbours are
// gathered without a branch to mispredict, then added.
func (s *pairSums) block(l *plane, c *cells, lo, hi int, most float64) {
	limit := most * most
	perStep := 1 / s.step
	nearest := make([]float64, s.features)
	area := l.area() * weightUnit
	var near []int32
	var far []float64
	for i := lo; i < hi; i++ {
		for f := range nearest {
			nearest[f] = math.Inf(1)
		}
		x, y, a := c.x[i], c.y[i], c.feature[i]
		spans := c.around(c.key(x, y))
		if !s.edges { // each pair once, and no nearest
			spans[0], spans[1][0] = [2]int32{}, int32(i)+1
		}
		for _, span := range spans {
			n := int(span[1] - span[0])
			if len(near) < n {
				near, far = make([]int32, n+n/2), make([]float64, n+n/2)
			}
			xs, ys := c.x[span[0]:span[1]], c.y[span[0]:span[1]]
			ys = ys[:len(xs)]
			found := 0
			for k, other := range xs {
				dx, dy := other-x, ys[k]-y
				d2 := float64(dx*dx) + float64(dy*dy)
				near[found], far[found] = span[0]+int32(k), d2
				step := 0
				if d2 <= limit {
					step = 1
				}
				found += step
			}
			for k, j := range near[:found] {
				if int(j) == i {
					continue
				}
				b, d2 := c.feature[j], far[k]
				nearest[b] = min(nearest[b], d2)
				if int(j) < i {
					continue // each pair once
				}
				at := s.unordered(a, b) + s.ring(d2, perStep)
				if !s.edges {
					s.count[at]++
					continue
				}
				overlap := (l.width - math.Abs(c.x[j]-x)) * (l.depth - math.Abs(c.y[j]-y))
				s.weighted[at] += int64(area/overlap + 0.5)
			}
		}
		row := int(a) * s.features * s.bins
		for b, d2 := range nearest {
			if d2 <= limit && s.edges {
				s.nearest[row+b*s.bins+s.ring(d2, perStep)]++
			}
		}
	}
}

// ring is the one that a squared distance lies in: ring k holds distances of more
// than k steps and at most k+1.
func (s *pairSums) ring(d2, perStep float64) int {
	return max(0, min(s.bins-1, int(math.Ceil(math.Sqrt(d2)*perStep))-1))
}
