package points

import (
	"math"
	"slices"
)

// somePairs are the pairs of features that a caller asks for. Sums over them take memory and time
// for these pairs alone, where all pairs of 20,000 features would take hundreds of gigabytes.
type somePairs struct {
	n     int       // number of pairs
	start []int32   // the partners of feature a are rows[start[a]:start[a+1]]
	rows  []partner // ascending by feature
}

// partner is the other feature of a pair, and the number of the pair in this order: twice that of
// the unordered pair, and one more if the other feature is the lower one.
type partner struct{ feature, ordered int32 }

// newSomePairs lists pairs of k features. Both orders of a pair are one.
func newSomePairs(pairs [][2]int32, k int) *somePairs {
	byFeature := make([][]partner, k)
	seen := make(map[[2]int32]bool, len(pairs))
	s := &somePairs{start: make([]int32, 1, k+1)}
	for _, p := range pairs {
		a, b := min(p[0], p[1]), max(p[0], p[1])
		if seen[[2]int32{a, b}] {
			continue
		}
		seen[[2]int32{a, b}] = true
		ordered := int32(2 * s.n)
		s.n++
		byFeature[a] = append(byFeature[a], partner{b, ordered})
		if a != b {
			byFeature[b] = append(byFeature[b], partner{a, ordered + 1})
		}
	}
	for _, row := range byFeature {
		slices.SortFunc(row, func(a, b partner) int { return int(a.feature) - int(b.feature) })
		s.rows = append(s.rows, row...)
		s.start = append(s.start, int32(len(s.rows)))
	}
	return s
}

// of returns the partners of a feature.
func (s *somePairs) of(a int32) []partner { return s.rows[s.start[a]:s.start[a+1]] }

// ordered returns the number of an ordered pair, which must be one of the pairs.
func (s *somePairs) ordered(a, b int32) int {
	row := s.of(a)
	i, _ := slices.BinarySearchFunc(row, b, func(p partner, b int32) int { return int(p.feature) - int(b) })
	return int(row[i].ordered)
}

// only returns the plane with only those points whose features have partners.
func (s *somePairs) only(l *plane) *plane {
	var x, y, weight []float64
	var feature []int32
	var at []int64
	for i, f := range l.feature {
		if len(s.of(f)) > 0 {
			if l.slide != nil && l.slide.weight != nil {
				weight = append(weight, l.slide.weight[i])
			}
			if l.times != nil {
				at = append(at, l.times.at[i])
			}
			x, y, feature = append(x, l.x[i]), append(y, l.y[i]), append(feature, f)
		}
	}
	if len(x) == 0 || len(x) == len(l.x) {
		return l
	}
	m := l.moved(x, y, feature)
	if l.times != nil {
		m.times = &times{at, l.times.within, l.times.near}
	}
	if weight != nil {
		m.slide = &slide{&slides{l.slide.all, weight}, l.slide.by}
	}
	return m
}

// targets are the features that count as neighbours of one point: all, or the partners of its own.
type targets struct {
	s       *pairSums
	own     int32     // the point's feature
	row     []partner // of own; nil if all pairs count
	place   []int32   // by feature: its index in nearest, or -1
	nearest []float64 // squared distance to the nearest point of each
}

func (s *pairSums) newTargets() *targets {
	t := &targets{s: s, place: make([]int32, s.features), nearest: make([]float64, s.features)}
	for f := range t.place {
		t.place[f] = int32(f)
		if s.some != nil {
			t.place[f] = -1
		}
	}
	return t
}

// begin starts with a point of a feature.
func (t *targets) begin(own int32) {
	t.own = own
	if t.s.some != nil {
		for _, p := range t.row {
			t.place[p.feature] = -1
		}
		t.row = t.s.some.of(own)
		for i, p := range t.row {
			t.place[p.feature] = int32(i)
		}
		t.nearest = t.nearest[:len(t.row)]
	}
	for i := range t.nearest {
		t.nearest[i] = math.Inf(1)
	}
}

// unordered returns the index in weighted of the pair with target i.
func (t *targets) unordered(i int32) int {
	if t.s.some == nil {
		return t.s.unordered(t.own, i)
	}
	return int(t.row[i].ordered) / 2 * t.s.bins
}

// ordered returns the index in nearest of the pair with target i.
func (t *targets) ordered(i int) int {
	if t.s.some == nil {
		return (int(t.own)*t.s.features + i) * t.s.bins
	}
	return int(t.row[i].ordered) * t.s.bins
}
