package points

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// pairSums has the sums that all statistics by distance need, for every pair of features, or only
// for some, and every ring, a range of distances. All sums are of integers, so the order of
// addition does not matter.
type pairSums struct {
	features int
	some     *somePairs // nil means all pairs
	bins     int
	step     float64 // width of a ring
	edges    bool    // edge correction: sum weighted and nearest, otherwise count
	slide    *slide  // of the plane

	// For unordered pairs of features: the number of pairs of points, or the sum of their weights
	// in units of 1/weightUnit.
	count, weighted []int64
	// For ordered pairs of features: the number of points of the first whose nearest point of the
	// second is in the ring.
	nearest []int64
}

// weightUnit keeps six digits of a weight. Weights are at most 4, so sums have room for 2^37 pairs.
const weightUnit = 1 << 24

func newPairSums(k, bins int, most float64, edges bool, some *somePairs) *pairSums {
	s := &pairSums{features: k, some: some, bins: bins, step: most / float64(bins), edges: edges}
	if some != nil {
		s.weighted, s.nearest = make([]int64, some.n*bins), make([]int64, 2*some.n*bins)
	} else if edges {
		s.weighted, s.nearest = make([]int64, unorderedPairs(k)*bins), make([]int64, k*k*bins)
	} else {
		s.count = make([]int64, unorderedPairs(k)*bins)
	}
	return s
}

// unorderedPairs returns the number of unordered pairs of k features, each with itself included.
func unorderedPairs(k int) int { return k * (k + 1) / 2 }

// at returns the index of an ordered pair of features in nearest.
func (s *pairSums) at(a, b int32, bin int) int {
	if s.some != nil {
		return s.some.ordered(a, b)*s.bins + bin
	}
	return (int(a)*s.features+int(b))*s.bins + bin
}

// unordered returns the index of a pair of features in count and weighted.
func (s *pairSums) unordered(a, b int32) int {
	if s.some != nil {
		return s.some.ordered(a, b) / 2 * s.bins
	}
	low, high := int(min(a, b)), int(max(a, b))
	return (high*(high+1)/2 + low) * s.bins
}

// add adds the sums of o.
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

// blockPoints is the number of points that a core takes at a time.
const blockPoints = 1 << 10

// watch has sumPairs report its progress, unless report is nil.
func (l *plane) watch(report func(stage string, done, total int64)) {
	if report != nil {
		l.progress = func(done, total int64) { report("pairs of points", done, total) }
	}
}

// sumPairs computes the sums in one pass over all pairs of points up to a distance. Weights are
// those of the translation correction: the area of the window divided by that of its overlap with
// itself, shifted by the vector between the two points.
// With some, edges is true, and only the points of its features are looked at.
func (l *plane) sumPairs(ctx context.Context, workers, bins int, most float64, edges bool,
	some *somePairs) (*pairSums, error) {
	if err := l.fits(most, edges); err != nil {
		return nil, err
	}
	k := l.features
	if some != nil {
		l = some.only(l)
	}
	c := newCells(l, most)
	var covered *overlaps
	if edges && l.o != nil && !l.o.rect && l.slide == nil {
		covered = l.overlaps(most)
	}
	parts := make([]*pairSums, max(1, workers))
	var mu sync.Mutex
	var done atomic.Int64
	blocks := (len(c.x) + blockPoints - 1) / blockPoints
	if l.progress != nil {
		l.progress(0, int64(blocks))
	}
	err := each(ctx, workers, blocks, func(w, b int) {
		if parts[w] == nil {
			mu.Lock()
			parts[w] = newPairSums(k, bins, most, edges, some)
			mu.Unlock()
		}
		parts[w].block(ctx, l, c, b*blockPoints, min(len(c.x), (b+1)*blockPoints), most, covered)
		if l.progress != nil {
			l.progress(done.Add(1), int64(blocks))
		}
	})
	if err != nil {
		return nil, err
	}
	sum := newPairSums(k, bins, most, edges, some)
	sum.slide = l.slide
	for _, p := range parts {
		if p != nil {
			sum.add(p)
		}
	}
	return sum, nil
}

// fits returns an error if the edge correction is not valid up to a distance.
func (l *plane) fits(most float64, edges bool) error {
	if !edges || most > 0 && most <= l.reach() {
		return nil
	}
	if l.o != nil && !l.o.rect {
		return fmt.Errorf("distance %v: want more than 0 and at most %.5g, by which the study area can be "+
			"shifted and still overlap a quarter of itself", most, l.reach())
	}
	return fmt.Errorf("distance %v: want more than 0 and at most half the shorter side of the area, %v",
		most, l.reach())
}

// block adds the pairs whose first point is in [lo, hi). It first gathers the neighbours of a point
// without a branch, which would often be mispredicted, and then adds them. It stops when ctx is
// done: where everything is near, one block takes seconds.
// covered is nil in a rectangle.
func (s *pairSums) block(ctx context.Context, l *plane, c *cells, lo, hi int, most float64, covered *overlaps) {
	limit := most * most
	perStep := 1 / s.step
	t := s.newTargets()
	area := l.area() * weightUnit
	var near []int32
	var far []float64
	for i := lo; i < hi && (i&15 != 0 || ctx.Err() == nil); i++ {
		x, y := c.x[i], c.y[i]
		t.begin(c.feature[i])
		nearest := t.nearest
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
				b, d2 := t.place[c.feature[j]], far[k]
				if b < 0 {
					continue // nobody asked for this pair
				}
				if l.times != nil && !l.times.holds(c.point[i], c.point[j]) {
					continue
				}
				nearest[b] = min(nearest[b], d2)
				if int(j) < i {
					continue // each pair once
				}
				at := t.unordered(b) + s.ring(d2, perStep)
				if !s.edges {
					s.count[at]++
					continue
				}
				overlap := (l.width - math.Abs(c.x[j]-x)) * (l.depth - math.Abs(c.y[j]-y))
				if l.slide != nil {
					overlap = max(l.o.area/16, l.slide.overlap(c.feature[i], c.feature[j], c.x[j]-x, c.y[j]-y))
					overlap /= l.slide.weigh(c.point[i], c.point[j])
				} else if covered != nil {
					overlap = max(l.o.area/16, covered.of(c.x[j]-x, c.y[j]-y))
				}
				s.weighted[at] += int64(area/overlap + 0.5)
			}
		}
		for b, d2 := range nearest {
			if d2 <= limit && s.edges {
				s.nearest[t.ordered(b)+s.ring(d2, perStep)]++
			}
		}
	}
}

// ring returns the ring of a squared distance. Ring k holds distances of more than k steps and at
// most k+1.
func (s *pairSums) ring(d2, perStep float64) int {
	return max(0, min(s.bins-1, int(math.Ceil(math.Sqrt(d2)*perStep))-1))
}
