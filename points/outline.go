package points

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// outline is a study area in the plane: polygons, with holes, that do not cross. Rings are directed
// so that the area is on their left.
type outline struct {
	rings                  [][][2]float64
	edges                  []edge
	minX, minY, maxX, maxY float64
	area                   float64
	rect                   bool      // it is the rectangle of its extremes
	columns                [][]int32 // edges that reach into each of some equal columns
	pieces                 []piece   // of the edges, ascending by their left ends; for overlap
	longest                float64   // extent of a piece along x
}

// edge is a side of a ring. The area is on its left.
type edge struct{ x0, y0, x1, y1 float64 }

// at returns the height of an edge that is not vertical. It is exact at both ends.
func (e *edge) at(x float64) float64 {
	t := (x - e.x0) / (e.x1 - e.x0)
	return float64(e.y0*(1-t)) + float64(e.y1*t)
}

// rectangle returns a rectangle as an area.
func rectangle(minX, minY, width, depth float64) *outline {
	o := newOutline([][][2]float64{{{minX, minY}, {minX + width, minY}, {minX + width, minY + depth},
		{minX, minY + depth}}})
	o.area = width * depth // without the rounding of sums
	return o
}

// outlineColumns is the number of columns by which edges are found.
const outlineColumns = 256

// newOutline makes an area of rings that checkRings has accepted.
func newOutline(rings [][][2]float64) *outline {
	o := &outline{rings: rings, minX: math.Inf(1), minY: math.Inf(1), maxX: math.Inf(-1), maxY: math.Inf(-1)}
	for _, r := range rings {
		last := r[len(r)-1]
		for _, p := range r {
			o.edges = append(o.edges, edge{last[0], last[1], p[0], p[1]})
			o.minX, o.maxX = min(o.minX, p[0]), max(o.maxX, p[0])
			o.minY, o.maxY = min(o.minY, p[1]), max(o.maxY, p[1])
			last = p
		}
	}
	for _, e := range o.edges {
		// Heights above the lowest point keep the sum free of cancellation.
		o.area += (e.x0 - e.x1) * ((e.y0 - o.minY) + (e.y1 - o.minY)) / 2
	}
	o.rect = len(o.edges) == 4
	for _, e := range o.edges {
		onSide := e.x0 == e.x1 && (e.x0 == o.minX || e.x0 == o.maxX) ||
			e.y0 == e.y1 && (e.y0 == o.minY || e.y0 == o.maxY)
		o.rect = o.rect && onSide
	}
	o.columns = make([][]int32, outlineColumns)
	for i, e := range o.edges {
		for c := o.column(min(e.x0, e.x1)); c <= o.column(max(e.x0, e.x1)); c++ {
			o.columns[c] = append(o.columns[c], int32(i))
		}
		o.cut(e)
	}
	slices.SortFunc(o.pieces, func(a, b piece) int { return cmp.Compare(a.left, b.left) })
	return o
}

// cut appends the pieces of an edge, short enough that few overlap along x. Vertical edges have no
// area below them.
func (o *outline) cut(e edge) {
	if e.x0 == e.x1 {
		return
	}
	n := int(math.Ceil(math.Abs(e.x1-e.x0) / ((o.maxX - o.minX) / 64)))
	for k := range max(1, n) {
		a := e.x0 + (e.x1-e.x0)*float64(k)/float64(n)
		b := e.x0 + (e.x1-e.x0)*float64(k+1)/float64(n)
		p := piece{a, b, e.at(a), 0, -1}
		if k == n-1 {
			p.right = e.x1
		}
		p.slope = (e.at(p.right) - p.y) / (p.right - p.left)
		if p.left > p.right {
			p = piece{p.right, p.left, e.at(p.right), p.slope, 1}
		}
		o.longest = max(o.longest, p.right-p.left)
		o.pieces = append(o.pieces, p)
	}
}

// piece is a part of an edge that is not vertical.
type piece struct {
	left, right float64 // its ends along x
	y, slope    float64 // height at the left end, and how it rises
	sign        float64 // 1 if the area is below
}

// column returns the column of a position, which may lie outside.
func (o *outline) column(x float64) int {
	if o.maxX == o.minX {
		return 0 // all points are on a vertical line
	}
	return int(max(0, min((x-o.minX)/(o.maxX-o.minX)*outlineColumns, outlineColumns-1)))
}

// contains reports whether a position lies in the area: whether the number of edges below it is
// odd. Positions on the border may lie on either side.
func (o *outline) contains(x, y float64) bool {
	if !(x >= o.minX && x <= o.maxX && y >= o.minY && y <= o.maxY) {
		return false
	}
	in := false
	for _, i := range o.columns[o.column(x)] {
		e := &o.edges[i]
		if (e.x0 <= x) != (e.x1 <= x) && e.at(x) <= y {
			in = !in
		}
	}
	return in
}

// holds is contains with a border that is as wide as rounding may move a position.
func (o *outline) holds(x, y float64) bool {
	if o.contains(x, y) {
		return true
	}
	return o.fromBorder(x, y) <= 1e-9*(o.maxX-o.minX+o.maxY-o.minY)+1e-12*max(math.Abs(x), math.Abs(y))
}

// chord appends the heights at which the line at x crosses the border, in ascending order: the area
// lies between the first and the second, the third and the fourth, and so on.
func (o *outline) chord(x float64, to []float64) []float64 {
	from := len(to)
	for _, i := range o.columns[o.column(x)] {
		e := &o.edges[i]
		if (e.x0 <= x) != (e.x1 <= x) {
			to = append(to, e.at(x))
		}
	}
	slices.Sort(to[from:])
	return to
}

// fromBorder returns the distance of a position from the border.
func (o *outline) fromBorder(x, y float64) float64 {
	least := math.Inf(1)
	for i := range o.edges {
		e := &o.edges[i]
		dx, dy := e.x1-e.x0, e.y1-e.y0
		t := max(0, min(1, ((x-e.x0)*dx+(y-e.y0)*dy)/(dx*dx+dy*dy)))
		px, py := x-(e.x0+t*dx), y-(e.y0+t*dy)
		least = min(least, px*px+py*py)
	}
	return math.Sqrt(least)
}

// overlap returns the area of the intersection of the area with itself, shifted by a vector: the
// set covariance. The area is the sum of the trapezoids between its edges and a horizontal line
// below, with the sign of the edges' direction, so the intersection is a sum over pairs of edges.
func (o *outline) overlap(vx, vy float64) float64 {
	if o.rect {
		return max(0, o.maxX-o.minX-math.Abs(vx)) * max(0, o.maxY-o.minY-math.Abs(vy))
	}
	base := min(o.minY, o.minY+vy)
	sum := 0.0
	first := 0
	for i := range o.pieces {
		e := &o.pieces[i]
		for first < len(o.pieces) && o.pieces[first].left+vx+o.longest <= e.left {
			first++
		}
		for k := first; k < len(o.pieces); k++ {
			f := &o.pieces[k]
			if f.left+vx >= e.right {
				break
			}
			if from, to := max(e.left, f.left+vx), min(e.right, f.right+vx); from < to {
				a0 := e.y - base + float64(e.slope*(from-e.left))
				b0 := f.y + vy - base + float64(f.slope*(from-vx-f.left))
				a1, b1 := a0+float64(e.slope*(to-from)), b0+float64(f.slope*(to-from))
				sum += e.sign * f.sign * lesser(a0, a1, b0, b1) * (to - from)
			}
		}
	}
	return max(0, sum)
}

// lesser returns the mean of the lesser of two linear functions, given their values at both ends.
func lesser(a0, a1, b0, b1 float64) float64 {
	d0, d1 := a0-b0, a1-b1
	switch {
	case d0 <= 0 && d1 <= 0:
		return (a0 + a1) / 2
	case d0 >= 0 && d1 >= 0:
		return (b0 + b1) / 2
	}
	t := d0 / (d0 - d1) // where they cross
	c := a0 + t*(a1-a0)
	if d0 < 0 {
		return t*(a0+c)/2 + (1-t)*(c+b1)/2
	}
	return t*(b0+c)/2 + (1-t)*(c+a1)/2
}

// around returns the share of a circle that lies in the area.
func (o *outline) around(x, y, r float64, angles []float64) (float64, []float64) {
	angles = angles[:0]
	for i := range o.edges {
		e := &o.edges[i]
		dx, dy := e.x1-e.x0, e.y1-e.y0
		fx, fy := e.x0-x, e.y0-y
		a, b, c := dx*dx+dy*dy, fx*dx+fy*dy, fx*fx+fy*fy-r*r
		d := b*b - a*c
		if d <= 0 {
			continue
		}
		root := math.Sqrt(d)
		for _, t := range [2]float64{(-b - root) / a, (-b + root) / a} {
			if t >= 0 && t <= 1 {
				angles = append(angles, math.Atan2(fy+t*dy, fx+t*dx))
			}
		}
	}
	inside := func(angle float64) bool { return o.contains(x+r*math.Cos(angle), y+r*math.Sin(angle)) }
	if len(angles) == 0 {
		if inside(0) {
			return 1, angles
		}
		return 0, angles
	}
	slices.Sort(angles)
	sum := 0.0
	for i, from := range angles {
		to := angles[0] + 2*math.Pi
		if i+1 < len(angles) {
			to = angles[i+1]
		}
		if to > from && inside((from+to)/2) {
			sum += to - from
		}
	}
	return sum / (2 * math.Pi), angles
}

// checkRings refuses rings that are no area, and directs them. outer says which of them are the
// outer rings of polygons; the others are holes.
func checkRings(rings [][][2]float64, outer []bool) ([][][2]float64, error) {
	type side struct {
		edge
		ring, at int
	}
	var all []side
	clean := make([][][2]float64, 0, len(rings))
	for k, r := range rings {
		r = slices.CompactFunc(slices.Clone(r), func(a, b [2]float64) bool { return a == b })
		if len(r) > 1 && r[0] == r[len(r)-1] {
			r = r[:len(r)-1]
		}
		if len(r) < 3 {
			return nil, fmt.Errorf("ring %d has no area", k+1)
		}
		for _, p := range r {
			if math.IsNaN(p[0]+p[1]) || math.IsInf(p[0]+p[1], 0) {
				return nil, fmt.Errorf("ring %d has a position that is not finite: (%v, %v)", k+1, p[0], p[1])
			}
		}
		for i, p := range r {
			q := r[(i+1)%len(r)]
			all = append(all, side{edge{p[0], p[1], q[0], q[1]}, k, i})
		}
		clean = append(clean, r)
	}
	slices.SortStableFunc(all, func(a, b side) int { return cmp.Compare(min(a.x0, a.x1), min(b.x0, b.x1)) })
	var active []side
	for _, s := range all {
		left := min(s.x0, s.x1)
		active = slices.DeleteFunc(active, func(a side) bool { return max(a.x0, a.x1) < left })
		for _, a := range active {
			if x, y, ok := cross(&a.edge, &s.edge); ok {
				what := "its border crosses itself"
				if a.ring != s.ring {
					what = fmt.Sprintf("rings %d and %d cross", min(a.ring, s.ring)+1, max(a.ring, s.ring)+1)
				}
				return nil, fmt.Errorf("%s at (%.10g, %.10g): mend the polygons, or merge those that overlap", what, x, y)
			}
		}
		active = append(active, s)
	}
	for k, r := range clean {
		if ringArea(r) == 0 {
			return nil, fmt.Errorf("ring %d has no area", k+1)
		}
		depth := 0
		for other, o := range clean {
			if other != k && ringHolds(o, inner(r)) {
				depth++
			}
		}
		switch {
		case outer[k] && depth%2 == 1:
			return nil, fmt.Errorf("ring %d lies in another polygon: merge polygons that overlap", k+1)
		case !outer[k] && depth%2 == 0:
			return nil, fmt.Errorf("ring %d is a hole outside its polygon", k+1)
		}
		if (ringArea(r) > 0) != outer[k] {
			slices.Reverse(r)
		}
	}
	return merged(clean), nil
}

// merged removes sides that two polygons share, as districts of a city do, and joins what is left
// into rings.
func merged(rings [][][2]float64) [][][2]float64 {
	sides := make(map[[4]float64]bool)
	for _, r := range rings {
		for i, p := range r {
			q := r[(i+1)%len(r)]
			sides[[4]float64{p[0], p[1], q[0], q[1]}] = true
		}
	}
	alone := true
	for s := range sides {
		alone = alone && !sides[[4]float64{s[2], s[3], s[0], s[1]}]
	}
	if alone {
		return rings
	}
	next := make(map[[2]float64][][2]float64)
	var starts [][2]float64
	for _, r := range rings {
		for i, p := range r {
			q := r[(i+1)%len(r)]
			if !sides[[4]float64{q[0], q[1], p[0], p[1]}] {
				next[p] = append(next[p], q)
				starts = append(starts, p)
			}
		}
	}
	var out [][][2]float64
	for _, s := range starts {
		var r [][2]float64
		for p := s; len(next[p]) > 0; {
			q := next[p][0]
			next[p] = next[p][1:]
			r = append(r, p)
			p = q
		}
		if len(r) > 2 {
			out = append(out, r)
		}
	}
	return out
}

// ringArea is the area of a ring, negative if it runs clockwise.
func ringArea(r [][2]float64) float64 {
	sum, at := 0.0, r[0]
	for i, p := range r {
		q := r[(i+1)%len(r)]
		sum += (p[0]-at[0])*(q[1]-at[1]) - (q[0]-at[0])*(p[1]-at[1])
	}
	return sum / 2
}

// inner returns a position in a ring, so near to its lowest corner that no other ring, which does
// not cross it, lies between the two.
func inner(r [][2]float64) [2]float64 {
	low := 0
	for i, p := range r {
		if p[1] < r[low][1] || p[1] == r[low][1] && p[0] < r[low][0] {
			low = i
		}
	}
	n := len(r)
	a, b, c := r[(low+n-1)%n], r[low], r[(low+1)%n]
	// The corner of the triangle a, b, c that lies in the ring, unless other corners lie in it:
	// then the one nearest to b.
	mid := [2]float64{(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3}
	least := math.Inf(1)
	for _, p := range r {
		if p != a && p != b && p != c && ringHolds([][2]float64{a, b, c}, p) {
			if d := math.Hypot(p[0]-b[0], p[1]-b[1]); d < least {
				least, mid = d, [2]float64{(p[0] + b[0]) / 2, (p[1] + b[1]) / 2}
			}
		}
	}
	return [2]float64{b[0] + 1e-6*(mid[0]-b[0]), b[1] + 1e-6*(mid[1]-b[1])}
}

// ringHolds reports whether a ring contains a position.
func ringHolds(r [][2]float64, at [2]float64) bool {
	in := false
	last := r[len(r)-1]
	for _, p := range r {
		if (p[1] > at[1]) != (last[1] > at[1]) &&
			at[0] < (last[0]-p[0])*(at[1]-p[1])/(last[1]-p[1])+p[0] {
			in = !in
		}
		last = p
	}
	return in
}

// cross returns where two sides cross. Sides that touch, or are the same, do not cross; sides of
// the same line that overlap in part do.
func cross(a, b *edge) (x, y float64, ok bool) {
	if max(a.y0, a.y1) < min(b.y0, b.y1) || max(b.y0, b.y1) < min(a.y0, a.y1) {
		return 0, 0, false
	}
	turn := func(e *edge, px, py float64) float64 {
		return (e.x1-e.x0)*(py-e.y0) - (e.y1-e.y0)*(px-e.x0)
	}
	a0, a1 := turn(a, b.x0, b.y0), turn(a, b.x1, b.y1)
	b0, b1 := turn(b, a.x0, a.y0), turn(b, a.x1, a.y1)
	if (a0 > 0) != (a1 > 0) && a0 != 0 && a1 != 0 && (b0 > 0) != (b1 > 0) && b0 != 0 && b1 != 0 {
		t := b0 / (b0 - b1)
		return a.x0 + t*(a.x1-a.x0), a.y0 + t*(a.y1-a.y0), true
	}
	return 0, 0, false
}
