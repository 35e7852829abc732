package points

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// Window is a study area: where points could have been. It is made of polygons, which may have
// holes, and has the coordinates of the points.
type Window struct {
	rings     [][][2]float64 // directed; see checkRings
	estimated bool
	share     float64 // of the rectangle around the points, if it was estimated
}

// ParseWindow reads a study area: the polygons of GeoJSON, which are converted to a reference
// system, or POLYGON or MULTIPOLYGON in well-known text, which has the points' own coordinates or,
// after SRID=n; those of an EPSG system. Polygons that share sides, as districts do, are merged.
// Those that cross or overlap are an error.
func ParseWindow(data []byte, to *CRS) (*Window, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, errors.New("it is empty: want polygons as GeoJSON or well-known text")
	}
	if data[0] == '{' {
		list, err := parsePolygons(data, to)
		if err != nil {
			return nil, err
		}
		return joined(list)
	}
	text, from := string(data), to
	if srid, rest, ok := strings.Cut(text, ";"); ok && strings.HasPrefix(strings.ToUpper(srid), "SRID=") { // as PostGIS writes
		var err error
		if from, err = ParseCRS("EPSG:" + srid[len("SRID="):]); err != nil {
			return nil, err
		}
		text = strings.TrimSpace(rest)
	}
	all, err := parseWKTPolygons(text)
	if err != nil {
		return nil, err
	}
	list := []namedPolygons{{polygons: all}}
	if from != to {
		convert, err := conversion(from, to)
		if err == nil {
			err = convertRings(list, convert)
		}
		if err != nil {
			return nil, err
		}
	}
	return newWindow(list[0].polygons)
}

// joined makes a window of regions, which may share sides.
func joined(list []namedPolygons) (*Window, error) {
	var all [][][][2]float64
	for _, l := range list {
		all = append(all, l.polygons...)
	}
	return newWindow(all)
}

// newWindow makes a window of polygons: an outer ring and holes each.
func newWindow(polygons [][][][2]float64) (*Window, error) {
	var rings [][][2]float64
	var outer []bool
	for _, p := range polygons {
		for i, r := range p {
			rings, outer = append(rings, r), append(outer, i == 0)
		}
	}
	if len(rings) == 0 {
		return nil, errors.New("it has no polygon")
	}
	rings, err := checkRings(rings, outer)
	if err != nil {
		return nil, err
	}
	return &Window{rings: rings}, nil
}

// Rings returns the borders of the window's parts and of its holes. The last position of each is
// joined with the first.
func (w *Window) Rings() [][][2]float64 { return w.rings }

// Estimated reports whether the window was estimated from the points.
func (w *Window) Estimated() bool { return w.estimated }

// Share returns the share of an estimated window in the rectangle around the points.
func (w *Window) Share() float64 { return w.share }

// Contains reports whether a position lies in the window, in the coordinates of the points.
func (w *Window) Contains(x, y float64) bool {
	in := false
	for _, r := range w.rings {
		if ringHolds(r, [2]float64{x, y}) {
			in = !in
		}
	}
	return in
}

// StudyArea returns the window of the points, which must hold all of them, or estimates one. The
// estimate is the rectangle around the points, or a concave hull if that predicts some kinds from
// the others better; see estimateOutline. Its second result is the area in the square of the unit
// of distances.
func (p *Set) StudyArea(ctx context.Context) (*Window, float64, error) {
	if err := given.Context(ctx); err != nil {
		return nil, 0, err
	}
	l, err := newFramed(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	if p.Window != nil {
		return p.Window, l.area(), nil
	}
	w := &Window{estimated: true, share: 1}
	if l.width > 0 && l.depth > 0 && !l.o.rect {
		w.share = l.o.area / (l.width * l.depth)
	}
	for _, r := range l.o.rings {
		ring := slices.Clone(r)
		for i, at := range ring {
			ring[i][0], ring[i][1] = l.back(at[0], at[1])
		}
		w.rings = append(w.rings, ring)
	}
	return w, l.area(), nil
}

// frame sets the study area of a plane.
func (l *plane) frame(ctx context.Context, p *Set) (err error) {
	w := p.Window
	switch {
	case w == nil:
		l.o, err = l.estimateOutline(ctx, p)
		return err
	case w.estimated && w.share == 1: // without the rounding of coordinates that were converted
		l.o = l.around(p)
		return nil
	}
	var rings [][][2]float64
	extent := 0.0
	for _, r := range w.rings {
		for _, a := range r {
			extent = max(extent, math.Abs(a[0]-w.rings[0][0][0]), math.Abs(a[1]-w.rings[0][0][1]))
		}
	}
	for _, r := range w.rings {
		var to [][2]float64
		for i, a := range r {
			x, y := l.forward(a[0], a[1])
			to = append(to, [2]float64{x, y})
			if !p.CRS.Geographic() || w.estimated {
				continue
			}
			// Sides are straight in longitude and latitude, so they are bent in the plane.
			b := r[(i+1)%len(r)]
			n := int(math.Ceil(64 * math.Hypot(b[0]-a[0], b[1]-a[1]) / extent))
			for k := 1; k < n; k++ {
				t := float64(k) / float64(n)
				x, y := l.forward(a[0]+t*(b[0]-a[0]), a[1]+t*(b[1]-a[1]))
				to = append(to, [2]float64{x, y})
			}
		}
		rings = append(rings, to)
	}
	l.o = newOutline(rings)
	outside, first := 0, -1
	for i, x := range l.x {
		if !l.o.holds(x, l.y[i]) {
			if outside++; first < 0 {
				first = i
			}
		}
	}
	if outside > 0 && !w.estimated {
		err := fmt.Errorf("%d of %d points lie outside the window, such as (%.10g, %.10g)", outside, len(l.x), p.X[first], p.Y[first])
		if 2*outside > len(l.x) && w.isSwapped(p) {
			return fmt.Errorf("%w: %s", err, swappedWindow)
		}
		return fmt.Errorf("%w: want a window that holds them, or points.Set.Clip, which leaves them out", err)
	}
	l.minX, l.minY, l.width, l.depth = l.o.minX, l.o.minY, l.o.maxX-l.o.minX, l.o.maxY-l.o.minY
	return nil
}

const swappedWindow = "with x and y of the window swapped, they lie inside; want x first, which is the longitude"

// isSwapped reports whether nine in ten points lie in the window once its axes are swapped.
func (w *Window) isSwapped(p *Set) bool {
	return share(p, func(x, y float64) bool { return w.Contains(y, x) }) >= 0.9
}

// Clip returns the points that lie in their window, and the number of the others. Features of which
// fewer are left than WithoutRare or ReadOptions.MinPoints asked for are dropped, too.
func (p *Set) Clip(ctx context.Context) (*Set, int, error) {
	if err := given.Context(ctx); err != nil {
		return nil, 0, err
	}
	l, err := newPlane(p)
	if err != nil || p.Window == nil {
		return p, 0, err
	}
	if l.frame(ctx, p) == nil {
		return p, 0, nil
	}
	in := p.Where(func(i int) bool { return l.o.holds(l.x[i], l.y[i]) })
	if in.Len() == 0 {
		if p.Window.isSwapped(p) {
			return nil, 0, fmt.Errorf("none of %d points lies in the window: %s", p.Len(), swappedWindow)
		}
		return nil, 0, fmt.Errorf("none of %d points lies in the window: is it in another reference system?", p.Len())
	}
	return in.DropRare(), p.Len() - in.Len(), nil
}

// parseWKTPolygons reads POLYGON ((...)) or MULTIPOLYGON (((...))).
func parseWKTPolygons(text string) ([][][][2]float64, error) {
	kind, rest, ok := strings.Cut(text, "(")
	kind = strings.ToUpper(strings.TrimSpace(kind))
	if kind == "POLYGON EMPTY" || kind == "MULTIPOLYGON EMPTY" {
		return nil, errors.New("it has no polygon")
	}
	if !ok || kind != "POLYGON" && kind != "MULTIPOLYGON" {
		return nil, fmt.Errorf("%.40q: want polygons as GeoJSON, or as well-known text "+
			"such as POLYGON ((0 0, 9 0, 9 9, 0 0))", text)
	}
	rest = "(" + rest
	if kind == "POLYGON" {
		rest = "(" + rest + ")"
	}
	var out [][][][2]float64
	depth, from := 0, 0
	for i, c := range rest {
		switch c {
		case '(':
			if depth++; depth == 2 {
				out = append(out, nil)
			}
			from = i + 1
		case ')':
			if depth == 3 {
				ring, err := wktRing(rest[from:i])
				if err != nil {
					return nil, err
				}
				out[len(out)-1] = append(out[len(out)-1], ring)
			}
			if depth--; depth < 0 {
				return nil, fmt.Errorf("%.40q: the parentheses do not match", text)
			}
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%.40q: the parentheses do not match", text)
	}
	return out, nil
}

// wktRing reads positions such as 0 0, 9 0, 9 9, 0 0.
func wktRing(text string) (ring [][2]float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		numbers := strings.Fields(part)
		if len(numbers) < 2 {
			return nil, fmt.Errorf("%.40q: want two numbers", part)
		}
		var at [2]float64
		for k := range at {
			if at[k], err = strconv.ParseFloat(numbers[k], 64); err != nil {
				return nil, fmt.Errorf("%.40q: want two numbers", part)
			}
		}
		ring = append(ring, at)
	}
	return ring, nil
}
