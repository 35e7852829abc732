package points

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/par"
)

// Summary describes points before they are mined.
type Summary struct {
	Points   int          `json:"points"`   // number of points
	Features []FeatureSum `json:"features"` // most points first, then by name
	CRS      string       `json:"crs"`      // name of the reference system, or "unknown"
	Unit     string       `json:"unit"`     // unit of distances; "" means unknown
	Extent   [4]float64   `json:"extent"`   // least x, least y, largest x, largest y
	Width    float64      `json:"width"`    // west to east, or along x, in the unit of distances
	Depth    float64      `json:"depth"`    // south to north, or along y, in the unit of distances

	// Positions is the number of different positions.
	Positions int `json:"positions"`
	// Repeated is the number of points that repeat an earlier one in position and feature.
	Repeated int `json:"duplicates"`
	// MostAtOne is the largest number of points at one position.
	MostAtOne int `json:"most_at_one_position"`
	// Busiest is the position with MostAtOne points, as x and y, or one of several such.
	Busiest [2]float64 `json:"busiest_position"`

	// Nearest has the quartiles of the distance to the nearest other position. It is nil if there
	// is only one position; Near is then nil, too, and Low, High and Suggested are 0.
	Nearest []float64 `json:"nearest_quartiles"`
	// Near has the numbers of neighbours within Low, Suggested, High and twice High.
	Near []NearCount `json:"neighbours"`
	// Low is the median distance to the nearest other position, rounded up to two digits. With
	// less, most points have no neighbour.
	Low float64 `json:"distance_low"`
	// High is the median distance to the eighth nearest position, rounded up to two digits. With
	// more, most points have many neighbours of any kind.
	High float64 `json:"distance_high"`
	// Suggested is the median distance to the fourth nearest position, rounded up to two digits.
	Suggested float64 `json:"distance_suggested"`
	// Sampled is the number of points that distances and neighbours were computed from.
	Sampled int `json:"sampled"`

	// Warnings are sentences about what may be wrong with the points; empty if nothing is.
	Warnings []string `json:"warnings"`
	// TimeSpan has the first and the last time, in seconds since 1970; zeros, and no field in JSON,
	// without times.
	TimeSpan [2]int64 `json:"time_span,omitzero"`
	// Times is the number of different times; 0 without any.
	Times int `json:"times,omitempty"`

	singles int // number of features with a single point
}

// FeatureSum is a feature with its number of points.
type FeatureSum struct {
	Name   string `json:"feature"` // the feature, as in Set.Features
	Points int    `json:"points"`  // number of points that have it
}

// NearCount is the number of neighbours that points have within a distance.
type NearCount struct {
	Distance float64 `json:"distance"` // in Summary.Unit
	Mean     float64 `json:"mean"`     // mean number of other points within Distance
	Median   float64 `json:"median"`   // median of that number
}

// summarySample is the number of positions from which on only a sample is measured, which has at
// least this many and fewer than twice as many.
const summarySample = 20_000

// Which nearest neighbours' median distances become Low, Suggested and High.
const (
	lowNeighbour, middleNeighbour, highNeighbour = 1, 4, 8
)

// Summarise describes points. The suggested distances are between two medians. The lower one is of
// the distance to the nearest other position: within less, most points have no neighbour. The upper
// one is of the distance to the eighth nearest: within more, most points have many neighbours of
// any kind. The distance suggested between them is the median distance to the fourth nearest.
func Summarise(ctx context.Context, p *Set, workers int) (*Summary, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	l, err := layOut(p)
	if err != nil {
		return nil, err
	}
	s := &Summary{
		Points: p.Len(), CRS: p.CRS.String(), Unit: p.CRS.DistanceUnit(), Width: l.width,
		Depth: l.depth, Warnings: []string{},
		Extent: [4]float64{slices.Min(p.X), slices.Min(p.Y), slices.Max(p.X), slices.Max(p.Y)},
	}
	for f, n := range p.Totals() {
		s.Features = append(s.Features, FeatureSum{p.Features[f], int(n)})
		if n == 1 {
			s.singles++
		}
	}
	slices.SortStableFunc(s.Features, func(a, b FeatureSum) int { return b.Points - a.Points })
	if p.Time != nil {
		s.TimeSpan = [2]int64{slices.Min(p.Time), slices.Max(p.Time)}
		sorted := slices.Sorted(slices.Values(p.Time))
		s.Times = len(slices.Compact(sorted))
	}
	one := s.positions(p, workers)
	if err := s.distances(ctx, l, one, workers); err != nil {
		return nil, err
	}
	var most bulk
	par.For(workers, 2, 1, func(_, axis, _ int) { most[axis] = middle98([2][]float64{p.X, p.Y}[axis]) })
	s.warn(p, most)
	return s, nil
}

// positions counts positions and duplicates, and returns one point of each position.
func (s *Summary) positions(p *Set, workers int) []int32 {
	order := make([]int32, p.Len())
	for i := range order {
		order[i] = int32(i)
	}
	// Points at one position have the same key. After a radix sort, only runs of equal keys, which
	// are nearly always one position, need comparisons.
	key := make([]uint64, p.Len())
	for i := range key {
		h := math.Float64bits(p.X[i]+0)*0x9e3779b97f4a7c15 ^ math.Float64bits(p.Y[i]+0)
		h ^= h >> 29
		key[i] = h * 0xbf58476d1ce4e5b9
	}
	par.RadixSortPairs(workers, key, order, nil, nil, 0, 64)
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && key[hi] == key[lo] {
			hi++
		}
		slices.SortFunc(order[lo:hi], func(a, b int32) int {
			return cmp.Or(cmp.Compare(p.X[a], p.X[b]), cmp.Compare(p.Y[a], p.Y[b]),
				cmp.Compare(p.Feature[a], p.Feature[b]), cmp.Compare(a, b))
		})
		lo = hi
	}
	var one []uint32
	run := 0
	for k, i := range order {
		if k > 0 && p.X[i] == p.X[order[k-1]] && p.Y[i] == p.Y[order[k-1]] {
			run++
			if p.Feature[i] == p.Feature[order[k-1]] {
				s.Repeated++
			}
		} else {
			run = 1
			one = append(one, uint32(i))
		}
		if run > s.MostAtOne {
			s.MostAtOne, s.Busiest = run, [2]float64{p.X[i], p.Y[i]}
		}
	}
	s.Positions = len(one)
	par.RadixSort(workers, one, nil, 0, 32)
	out := make([]int32, len(one))
	for i, v := range one {
		out[i] = int32(v)
	}
	return out
}

// distances measures a sample: the distances to the nearest positions, and the numbers of
// neighbouring points.
func (s *Summary) distances(ctx context.Context, l *plane, one []int32, workers int) error {
	spots := &plane{features: 1, minX: l.minX, minY: l.minY, width: l.width, depth: l.depth}
	spots.x, spots.y = make([]float64, len(one)), make([]float64, len(one))
	for k, i := range one {
		spots.x[k], spots.y[k] = l.x[i], l.y[i]
	}
	spots.feature = make([]int32, len(one))
	if len(one) < 2 {
		return nil
	}
	c := newCells(spots, 0)
	stride := max(1, len(one)/summarySample)
	n := (len(one) + stride - 1) / stride
	s.Sampled = n
	found := make([][highNeighbour]float64, n)
	const part = 256
	err := each(ctx, workers, (n+part-1)/part, func(_, b int) {
		for i := b * part; i < min(n, (b+1)*part); i++ {
			at := one[i*stride]
			found[i] = c.nearest(l.x[at], l.y[at])
		}
	})
	if err != nil {
		return err
	}
	quantile := func(neighbour int, q float64) float64 {
		var v []float64
		for _, f := range found {
			v = append(v, f[neighbour-1])
		}
		slices.Sort(v)
		return v[min(len(v)-1, int(q*float64(len(v))))]
	}
	s.Nearest = []float64{quantile(1, 0.25), quantile(1, 0.5), quantile(1, 0.75)}
	neighbour := func(k int) float64 { return quantile(min(k, len(one)-1), 0.5) }
	s.Low, s.High = roundUp(neighbour(lowNeighbour)), roundUp(neighbour(highNeighbour))
	s.Suggested = roundUp(neighbour(middleNeighbour))
	// Count neighbours among all points, within the suggested distances and twice the largest.
	all := newCells(l, 2*s.High)
	for _, d := range slices.Compact([]float64{s.Low, s.Suggested, s.High, 2 * s.High}) {
		counts := make([]float64, n)
		limit := d * d
		err := each(ctx, workers, (n+part-1)/part, func(_, b int) {
			for i := b * part; i < min(n, (b+1)*part); i++ {
				at := one[i*stride]
				counts[i] = float64(all.within(l.x[at], l.y[at], limit) - 1)
			}
		})
		if err != nil {
			return err
		}
		mean := 0.0
		for _, v := range counts {
			mean += v / float64(n)
		}
		slices.Sort(counts)
		s.Near = append(s.Near, NearCount{d, mean, counts[n/2]})
	}
	return nil
}

// roundUp rounds up to two significant digits.
func roundUp(v float64) float64 { return twoDigits(v, math.Ceil) }

// roundDown rounds down to two significant digits.
func roundDown(v float64) float64 { return twoDigits(v, math.Floor) }

func twoDigits(v float64, round func(float64) float64) float64 {
	if !(v > 0) {
		return v
	}
	digits := 1 - int(math.Floor(math.Log10(v)))
	if digits < 0 {
		unit := math.Pow10(-digits)
		return round(v/unit) * unit
	}
	unit := math.Pow10(digits)
	return round(v*unit) / unit
}

// within counts the points within a distance of a position, at most a cell's side. limit is the
// distance squared.
func (c *cells) within(x, y, limit float64) int {
	n := 0
	for _, span := range c.around(c.key(x, y)) {
		for j := span[0]; j < span[1]; j++ {
			dx, dy := c.x[j]-x, c.y[j]-y
			if float64(dx*dx)+float64(dy*dy) <= limit {
				n++
			}
		}
	}
	return n
}

// nearest returns the distances to the nearest other positions. It looks at rings of cells around
// the position, until no cell farther out can hold a nearer one.
func (c *cells) nearest(x, y float64) (out [highNeighbour]float64) {
	best := [highNeighbour]float64{}
	for k := range best {
		best[k] = math.Inf(1)
	}
	col, row := c.place(x, y)
	look := func(r, k int) {
		if r < 1 || r >= c.rows-1 || k < 1 || k >= c.cols-1 {
			return
		}
		cell := r*c.cols + k
		for j := c.start[cell]; j < c.start[cell+1]; j++ {
			dx, dy := c.x[j]-x, c.y[j]-y
			d2 := float64(dx*dx) + float64(dy*dy)
			if d2 == 0 || d2 >= best[highNeighbour-1] {
				continue
			}
			at := highNeighbour - 1
			for ; at > 0 && best[at-1] > d2; at-- {
				best[at] = best[at-1]
			}
			best[at] = d2
		}
	}
	for ring := 0; ring <= max(c.cols, c.rows); ring++ {
		// Rings reach far beyond a grid that is long and narrow.
		for k := max(1, col-ring); k <= min(c.cols-2, col+ring) && (row-ring >= 1 || row+ring < c.rows-1); k++ {
			look(row-ring, k)
			if ring > 0 {
				look(row+ring, k)
			}
		}
		for r := max(1, row-ring+1); r < min(c.rows-1, row+ring); r++ {
			look(r, col-ring)
			look(r, col+ring)
		}
		if reach := float64(ring) * c.side; best[highNeighbour-1] <= reach*reach {
			break
		}
	}
	for k, d2 := range best {
		out[k] = math.Sqrt(d2)
	}
	return out
}

// warn adds warnings about what is often wrong with points.
func (s *Summary) warn(p *Set, most bulk) {
	say := func(format string, args ...any) { s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...)) }
	inDegrees := s.Extent[0] >= -180 && s.Extent[2] <= 180 && s.Extent[1] >= -90 && s.Extent[3] <= 90
	switch {
	case p.CRS == nil && inDegrees:
		say("all positions are between -180 and 180, -90 and 90: if they are longitude and latitude, say points.WGS84; distances are then metres")
	case p.CRS == nil:
		say("the reference system is not known: distances are in the coordinates' own unit (points.ReadOptions.CRS=EPSG:n)")
	case !p.CRS.Geographic() && p.CRS != Plane && inDegrees:
		say("%v has coordinates in %s, but all positions look like degrees", p.CRS, p.CRS.Unit)
	default:
		if what := misplaced(p); what != "" {
			say("%s", what)
		}
	}
	if s.MostAtOne >= 1000 || s.MostAtOne > 10 && 100*s.MostAtOne > s.Points {
		say("%d points are at one position, (%v, %v): a default position for unknown ones?",
			s.MostAtOne, s.Busiest[0], s.Busiest[1])
	}
	if s.Repeated > 0 {
		say("%d points repeat an earlier one's position and feature", s.Repeated)
	}
	zero := 0
	for i := range p.X {
		if p.X[i] == 0 && p.Y[i] == 0 {
			zero++
		}
	}
	if zero > 0 && (s.Extent[0] < 0 || s.Extent[1] < 0 || p.CRS.Geographic()) {
		say("%d points are at (0, 0): missing positions?", zero)
	}
	if p.CRS.Geographic() {
		if n := swapped(p, most); n > 0 {
			say("%d points would be among the others with longitude and latitude swapped", n)
		}
	}
	if n := outliers(p, most); n > 0 {
		say("%d points lie far from all others", n)
	}
	if n, example := s.alike(); n > 0 {
		say("%d features differ from others in capitals or spaces only, such as %q and %q: are they the same?", n, example[0], example[1])
	}
	if s.singles > 0 {
		say("%d features have a single point, which easily reaches any prevalence: points.ReadOptions.MinPoints leaves them out", s.singles)
	}
}

// alike counts the features whose names are those of others but for capitals and spaces.
func (s *Summary) alike() (n int, example [2]string) {
	first := make(map[string]string, len(s.Features))
	for _, f := range s.Features {
		key := strings.ToLower(strings.Join(strings.Fields(f.Name), " "))
		if other, ok := first[key]; !ok {
			first[key] = f.Name
		} else if n++; n == 1 {
			example = [2]string{other, f.Name}
		}
	}
	return n, example
}

// bulk has the ranges along x and y that hold most points.
type bulk [2]valueRange

type valueRange struct{ low, high float64 }

// middle98 returns the range of the middle 98% of values.
func middle98(v []float64) valueRange {
	values, cut := slices.Clone(v), len(v)/100
	return valueRange{nth(values, cut), nth(values, len(v)-1-cut)}
}

// far reports whether a value is outside the range by more than four times its width.
func (r valueRange) far(v float64) bool {
	w := 4 * (r.high - r.low)
	return v < r.low-w || v > r.high+w
}

func (r valueRange) holds(v float64) bool { return v >= r.low && v <= r.high }

// far reports whether a point is far from the bulk.
func (b bulk) far(x, y float64) bool { return b[0].far(x) || b[1].far(y) }

// swapped counts the points that are far from the bulk, but within it once their coordinates are
// swapped.
func swapped(p *Set, most bulk) (n int) {
	for i, x := range p.X {
		if y := p.Y[i]; most.far(x, y) && most[0].holds(y) && most[1].holds(x) {
			n++
		}
	}
	return n
}

func outliers(p *Set, most bulk) (n int) {
	for i, x := range p.X {
		if most.far(x, p.Y[i]) {
			n++
		}
	}
	return n
}
