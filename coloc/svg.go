package coloc

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/points"
)

// A picture has a title, one panel for each pattern, and a legend. A panel shows all points as grey
// hexagons, darker where there are more, and the participating points in the colours of their
// features. A lens enlarges the area with the most of these and shows the edges of instances.

const (
	svgWidth   = 1200.0
	svgMargin  = 36.0
	svgGap     = 24.0
	svgTop     = 96.0
	panelTitle = 58.0
	lensRadius = 62.0
	svgFont    = "font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif\""
)

// The colours of Okabe and Ito, which colour-blind readers can tell apart, then darker ones.
var svgColours = []string{
	"#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#b8a600", "#7d838c",
	"#00466e", "#8f6300", "#7d3700", "#005c43", "#7e3f63", "#2a78a3", "#6e6400", "#3f444c",
}

// densePoints is the number of participating points above which a panel shows their density instead
// of dots, which would hide each other.
const densePoints = 20_000

// WriteSVG draws the patterns as maps, at most six panels in a picture.
func (s *Survey) WriteSVG(ctx context.Context, w io.Writer, patterns []Pattern) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return err
	}
	patterns = patterns[:min(6, len(patterns))]
	d := &drawing{s: s, g: g, w: bufio.NewWriter(w), colour: make(map[int32]string)}
	for _, p := range patterns {
		for _, f := range p.Features {
			if _, ok := d.colour[f]; !ok {
				d.colour[f] = svgColours[len(d.order)%len(svgColours)]
				d.order = append(d.order, f)
			}
		}
	}
	columns := []int{1, 1, 2, 3, 2, 3, 3}[len(patterns)]
	rows := max(1, (len(patterns)+columns-1)/columns)
	d.panelW = (svgWidth - 2*svgMargin - svgGap*float64(columns-1)) / float64(columns)
	d.project(d.panelW)
	legend := d.legendLines()
	height := svgTop + float64(rows)*(panelTitle+d.mapH+svgGap) + 48 + 24*float64(len(legend)) + svgMargin

	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" %s>`+"\n", px(svgWidth), px(height), px(svgWidth), px(height), svgFont)
	d.printf(`<rect width="100%%" height="100%%" fill="#fbfaf8"/>` + "\n")
	d.printf(`<text x="%s" y="52" font-size="26" font-weight="600" fill="#1d2330">Kinds of places found together</text>`+"\n", px(svgMargin))
	d.printf(`<text x="%s" y="77" font-size="14" fill="#667085">%s</text>`+"\n", px(svgMargin),
		html.EscapeString(d.subtitle(len(patterns))))
	if len(patterns) == 0 {
		d.printf(`<text x="%s" y="%s" font-size="16" fill="#667085">No pattern reaches the threshold.</text>`+"\n", px(svgMargin), px(svgTop+30))
	}
	for i, p := range patterns {
		x := svgMargin + float64(i%columns)*(d.panelW+svgGap)
		y := svgTop + float64(i/columns)*(panelTitle+d.mapH+svgGap)
		if err := d.panel(ctx, i, p, x, y); err != nil {
			return err
		}
	}
	d.legend(legend, svgTop+float64(rows)*(panelTitle+d.mapH+svgGap)+14)
	d.printf("</svg>\n")
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}

type drawing struct {
	s      *Survey
	g      *neighbours
	w      *bufio.Writer
	err    error
	colour map[int32]string
	order  []int32 // features in the order of their colours

	panelW, mapH float64
	x, y         []float64 // places, in pixels of a panel
	unit         float64   // pixels per unit of distance
	hexes        string
	window       string // path of the study area's border; "" if none is known
}

func (d *drawing) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

// px writes a length with one decimal at most.
func px(v float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func (d *drawing) subtitle(shown int) string {
	return fmt.Sprintf("%s The best %d patterns, longest first.", d.described(), shown)
}

// described says what was mined.
func (d *drawing) described() string {
	opt := d.s.job
	near := fmt.Sprintf("within %v %s", opt.Distance, d.s.pts.CRS.UnitName())
	if opt.KNN > 0 {
		near = fmt.Sprintf("among the %d nearest", opt.KNN)
	}
	return fmt.Sprintf("%s points of %d features, neighbours %s, participation index at least %v.",
		thousands(int64(d.s.pts.Len())), len(d.s.pts.Features), near, opt.MinPrevalence)
}

// distanceUnit returns the unit of distances, or "" if it is not known.
func (d *drawing) distanceUnit() string {
	if d.s.job.Geographic {
		return "m"
	}
	return d.s.pts.CRS.DistanceUnit()
}

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// panel draws one pattern at (x, y).
func (d *drawing) panel(ctx context.Context, number int, p Pattern, x, y float64) error {
	shown, err := d.s.show(ctx, p)
	if err != nil {
		return err
	}
	d.printf(`<g transform="translate(%s %s)">`+"\n", px(x), px(y))
	d.printf(`<text y="20" font-size="15" font-weight="600" fill="#1d2330">%s</text>`+"\n",
		html.EscapeString(fitNames(d.s.pts.Names(p.Features), int(d.panelW/8.2))))
	d.printf(`<text y="41" font-size="12.5" fill="#667085">index <tspan font-weight="600" fill="#1d2330">%.3f</tspan> · participating points %s</text>`+"\n", p.Index, html.EscapeString(d.shares(p)))
	d.printf(`<g transform="translate(0 %s)">`+"\n", px(panelTitle-6))
	d.printf(`<clipPath id="map%d"><rect width="%s" height="%s" rx="8"/></clipPath>`+"\n", number,
		px(d.panelW), px(d.mapH))
	d.printf(`<rect width="%s" height="%s" rx="8" fill="#ffffff" stroke="#e3e0da"/>`+"\n", px(d.panelW), px(d.mapH))
	d.printf(`<g clip-path="url(#map%d)">`+"\n", number)
	d.hexagons()
	d.dots(p, shown)
	d.printf("</g>\n")
	d.lens(number, p, shown)
	d.scaleBar()
	d.printf("</g></g>\n")
	return nil
}

// shares lists the participating points of each feature, in the order of the title, as far as
// there is room.
func (d *drawing) shares(p Pattern) string {
	var all []string
	for k, f := range p.Features {
		all = append(all, fmt.Sprintf("%d/%d", p.Counts[k], d.g.total[f]))
	}
	return fitText(strings.Join(all, ", "), int((d.panelW-230)/6.5))
}

// fitText cuts a text to a number of characters.
func fitText(text string, room int) string {
	if r := []rune(text); len(r) > room {
		return string(r[:max(1, room-1)]) + "…"
	}
	return text
}

// positions says what the coordinates of a map are, and the unit of its distances.
func (d *drawing) positions() string {
	crs := d.s.pts.CRS
	system := "the file names no reference system"
	switch {
	case crs.Geographic():
		system = crs.String() + ", longitude and latitude in degrees"
	case crs == points.Plane:
		system = "numbers in a plane"
	case crs != nil:
		system = crs.String()
	}
	return fmt.Sprintf("Positions: %s. Distances: %s. North, or larger y, is up.", system, crs.UnitName())
}

// fitNames joins names, but leaves out those for which there is no room.
func fitNames(names []string, room int) string {
	out := ""
	for i, n := range names {
		next := out
		if i > 0 {
			next += " + "
		}
		next += n
		if i > 0 && len([]rune(next)) > room-8 && i < len(names)-1 || len([]rune(next)) > room {
			if i == 0 {
				return string([]rune(n)[:max(1, room-1)]) + "…"
			}
			return fmt.Sprintf("%s + %d more", out, len(names)-i)
		}
		out = next
	}
	return out
}

// dots draws the participating points, feature by feature. Of points that would cover each other,
// it draws one.
func (d *drawing) dots(p Pattern, shown *showing) {
	total := int64(0)
	for _, c := range p.Counts {
		total += c
	}
	if total > densePoints {
		d.density(p, shown)
		return
	}
	for i, f := range p.Features {
		// At this scale the points of an instance would cover each other. So the points of each
		// feature are moved by a pixel, in a direction of their own.
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(p.Features)))
		taken := make(map[[2]int32]bool)
		var b strings.Builder
		for place, part := range shown.part {
			if !part {
				continue
			}
			if _, ok := d.g.entry(int32(place), f); !ok {
				continue
			}
			x, y := d.x[place]+1.2*cos, d.y[place]+1.2*sin
			cell := [2]int32{int32(x / 1.6), int32(y / 1.6)}
			if x < 0 || y < 0 || x > d.panelW || y > d.mapH || taken[cell] {
				continue
			}
			taken[cell] = true
			fmt.Fprintf(&b, "M%s %sh0", px(x), px(y))
		}
		d.printf(`<path d="%s" fill="none" stroke="%s" stroke-opacity=".78" stroke-width="%s" stroke-linecap="round"/>`+"\n", b.String(), d.colour[f], px(dotSize(len(taken))))
	}
}

func dotSize(n int) float64 {
	switch {
	case n > 5000:
		return 1.8
	case n > 1000:
		return 2.4
	case n > 150:
		return 3.2
	}
	return 5
}

// hexagons draws all points as hexagons whose shade grows with the logarithm
// of their number.
func (d *drawing) hexagons() {
	if d.hexes == "" {
		d.hexes = d.makeHexagons()
	}
	d.printf("%s", d.hexes)
	if d.window != "" {
		d.printf(`<path d="%s" fill="none" stroke="#667085" stroke-width="1"/>`+"\n", d.window)
	}
}

func (d *drawing) makeHexagons() string {
	return d.hexagonsOf("#667085", 0.06, 0.075, func(place int32) int64 { return int64(len(d.g.membersOf(place))) })
}

// density draws the participating points of a pattern as hexagons.
func (d *drawing) density(p Pattern, shown *showing) {
	d.printf("%s", d.hexagonsOf("#d55e00", 0.15, 0.14, func(place int32) (n int64) {
		if shown.part[place] {
			for _, f := range p.Features {
				if k, ok := d.g.entry(place, f); ok {
					n += int64(d.g.weight[k])
				}
			}
		}
		return n
	}))
}

// hexagonsOf returns points as hexagons whose shade grows with the logarithm of their number.
func (d *drawing) hexagonsOf(colour string, least, step float64, points func(place int32) int64) string {
	const r = 4.2
	dx, dy := r*math.Sqrt(3), r*1.5
	count := make(map[[2]int]int64)
	for i := range d.x {
		x, y := d.x[i], d.y[i]
		if x < -r || y < -r || x > d.panelW+r || y > d.mapH+r {
			continue
		}
		row := math.Round(y / dy)
		shift := 0.0
		if int(row)&1 != 0 {
			shift = dx / 2
		}
		col := math.Round((x - shift) / dx)
		if n := points(int32(i)); n > 0 {
			count[[2]int{int(row), int(col)}] += n
		}
	}
	most := int64(1)
	for _, c := range count {
		most = max(most, c)
	}
	const shades = 6
	paths := make([]strings.Builder, shades)
	keys := make([][2]int, 0, len(count))
	for k := range count {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		shade := 0
		if most > 1 {
			shade = int(math.Log(float64(count[k])) / math.Log(float64(most)) * (shades - 0.001))
		}
		cx, cy := float64(k[1])*dx, float64(k[0])*dy
		if k[0]&1 != 0 {
			cx += dx / 2
		}
		fmt.Fprintf(&paths[min(shade, shades-1)], "M%s %sl3.6 2.1v4.2l-3.6 2.1l-3.6-2.1v-4.2z", px(cx), px(cy-r))
	}
	var b strings.Builder
	for i := range paths {
		if paths[i].Len() > 0 {
			fmt.Fprintf(&b, `<path d="%s" fill="%s" fill-opacity="%.2f"/>`+"\n", paths[i].String(),
				colour, least+step*float64(i))
		}
	}
	return b.String() + " "
}
