package coloc

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// project converts the positions of places to pixels of a panel, with one scale for both axes and
// north at the top. A few outliers do not shrink the rest: with 1,000 places or more, up to five in
// a thousand on each axis may be outside the map.
func (d *drawing) project(width float64) {
	n := d.g.len()
	d.x, d.y = make([]float64, n), make([]float64, n)
	for i := range int32(n) {
		m := d.g.membersOf(i)[0]
		d.x[i], d.y[i] = d.s.pts.X[m], d.s.pts.Y[m]
	}
	perUnit, squeeze := 1.0, 1.0 // distance units per map unit; width of a degree on the map
	if d.s.job.Geographic {
		unwrap(d.x)
		middle := 0.0
		for _, y := range d.y {
			middle += y / float64(n)
		}
		squeeze = math.Max(0.05, math.Cos(middle*math.Pi/180))
		for i := range d.x {
			d.x[i] *= squeeze
		}
		perUnit = earthRadius * math.Pi / 180
	}
	lowX, highX := bulk(d.x)
	lowY, highY := bulk(d.y)
	spanX, spanY := highX-lowX, highY-lowY
	if spanX == 0 && spanY == 0 {
		spanX, spanY = 1, 1
	}
	d.mapH = min(max(width*spanY/math.Max(spanX, 1e-12), width*0.5), width*0.95)
	const pad = 14
	scale := min((width-2*pad)/math.Max(spanX, 1e-300), (d.mapH-2*pad)/math.Max(spanY, 1e-300))
	offX := (width - spanX*scale) / 2
	offY := (d.mapH - spanY*scale) / 2
	place := func(x, y float64) (float64, float64) {
		return offX + (x-lowX)*scale, d.mapH - offY - (y-lowY)*scale
	}
	d.unit = scale / perUnit
	d.window = d.border(squeeze, place)
	for i := range d.x {
		d.x[i], d.y[i] = place(d.x[i], d.y[i])
	}
}

// border returns the border of the study area as a path, or "" if none is known.
func (d *drawing) border(squeeze float64, place func(x, y float64) (float64, float64)) string {
	w := d.s.pts.Window
	if w == nil {
		return ""
	}
	var b strings.Builder
	for _, ring := range w.Rings() {
		for i, p := range ring {
			x, near := p[0], d.x[0]/squeeze
			if d.s.job.Geographic { // on the same side of the date line as the points
				x += 360 * math.Round((near-x)/360)
			}
			x, y := place(x*squeeze, p[1])
			fmt.Fprintf(&b, "%s%s %s", map[bool]string{true: "M", false: "L"}[i == 0], px(x), px(y))
		}
		b.WriteString("Z")
	}
	return b.String()
}

// bulk returns the range of the values without a few outliers.
func bulk(v []float64) (low, high float64) {
	if len(v) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(v))
	cut := 0
	if len(v) >= 1000 {
		cut = len(v) / 400
	}
	low, high = sorted[cut], sorted[len(sorted)-1-cut]
	all := sorted[len(sorted)-1] - sorted[0]
	if high-low > 0.8*all { // no outliers
		return sorted[0], sorted[len(sorted)-1]
	}
	return low, high
}

// unwrap shifts longitudes so that the widest gap between them is at the ends.
func unwrap(lon []float64) {
	for i := range lon {
		lon[i] = math.Mod(lon[i]+540, 360) - 180
	}
	sorted := slices.Sorted(slices.Values(lon))
	if len(sorted) < 2 {
		return
	}
	widest, after := sorted[0]+360-sorted[len(sorted)-1], math.Inf(-1)
	for i := 1; i < len(sorted); i++ {
		if gap := sorted[i] - sorted[i-1]; gap > widest {
			widest, after = gap, sorted[i-1]
		}
	}
	for i := range lon {
		if lon[i] <= after {
			lon[i] += 360
		}
	}
}

// lens enlarges the area with the most participating points.
func (d *drawing) lens(number int, p Pattern, shown *showing) {
	reach := d.typicalEdge(shown) // in map pixels
	if len(shown.cliques) == 0 || reach > 14 || d.panelW < 220 {
		if reach > 2 {
			d.edges(shown, 0, 0, 1, d.panelW+d.mapH, 0.8)
			d.dots(p, shown)
		}
		return
	}
	radius := math.Max(reach*1.6, 1e-6) // of the area, in map pixels
	cx, cy := d.busiest(p, shown, radius)
	zoom := lensRadius / radius
	lx, ly := d.panelW-lensRadius-12, d.mapH-lensRadius-12
	if cx > d.panelW/2 && cy > d.mapH/2 {
		lx = lensRadius + 12
		if cx < 2*lensRadius+30 {
			ly = lensRadius + 12
		}
	}
	spot := math.Max(radius, 4)
	length := math.Hypot(lx-cx, ly-cy)
	if length > lensRadius+spot {
		ux, uy := (lx-cx)/length, (ly-cy)/length
		d.printf(`<path d="M%s %sL%s %s" stroke="#1d2330" stroke-width=".9" stroke-opacity=".55"/>`+"\n",
			px(cx+ux*spot), px(cy+uy*spot), px(lx-ux*lensRadius), px(ly-uy*lensRadius))
	}
	d.printf(`<circle cx="%s" cy="%s" r="%s" fill="none" stroke="#1d2330" stroke-width="1.1"/>`+"\n", px(cx), px(cy), px(spot))
	d.printf(`<clipPath id="lens%d"><circle cx="%s" cy="%s" r="%s"/></clipPath>`+"\n", number,
		px(lx), px(ly), px(lensRadius))
	d.printf(`<circle cx="%s" cy="%s" r="%s" fill="#ffffff" stroke="#1d2330" stroke-width="1.2"/>`+"\n", px(lx), px(ly), px(lensRadius))
	d.printf(`<g clip-path="url(#lens%d)"><g transform="translate(%s %s)">`+"\n", number, px(lx), px(ly))
	d.edges(shown, cx, cy, zoom, radius, 1)
	for _, f := range p.Features {
		var b strings.Builder
		for place, part := range shown.part {
			x, y := d.x[place]-cx, d.y[place]-cy
			if !part || math.Hypot(x, y) > radius*1.1 {
				continue
			}
			if _, ok := d.g.entry(int32(place), f); ok {
				fmt.Fprintf(&b, "M%s %sh0", px(x*zoom), px(y*zoom))
			}
		}
		d.printf(`<path d="%s" fill="none" stroke="#ffffff" stroke-width="7.5" stroke-linecap="round"/>`, b.String())
		d.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="5.5" stroke-linecap="round"/>`+"\n", b.String(), d.colour[f])
	}
	d.printf("</g></g>\n")
}

// typicalEdge returns the median, over the cliques, of the length of the longest edge.
func (d *drawing) typicalEdge(shown *showing) float64 {
	var longest []float64
	for _, c := range shown.cliques {
		most := 0.0
		for i, a := range c {
			for _, b := range c[:i] {
				most = max(most, math.Hypot(d.x[a]-d.x[b], d.y[a]-d.y[b]))
			}
		}
		longest = append(longest, most)
	}
	if len(longest) == 0 {
		return 0
	}
	slices.Sort(longest)
	return longest[len(longest)/2]
}

// busiest returns the position of the place with the most participating points within the radius.
// It visits squares by descending number of points in them and the squares around them, until no
// other can have more.
func (d *drawing) busiest(p Pattern, shown *showing, radius float64) (x, y float64) {
	type square struct {
		key    [2]int
		places []int32
		points int64 // of it and the eight around it
	}
	squares := make(map[[2]int]*square)
	weight := make(map[int32]int64)
	for i, part := range shown.part {
		px, py := d.x[i], d.y[i]
		if !part || px < 0 || py < 0 || px > d.panelW || py > d.mapH {
			continue
		}
		place := int32(i)
		for _, f := range p.Features {
			if k, ok := d.g.entry(place, f); ok {
				weight[place] += int64(d.g.weight[k])
			}
		}
		key := [2]int{int(px / radius), int(py / radius)}
		if squares[key] == nil {
			squares[key] = &square{key: key}
		}
		squares[key].places = append(squares[key].places, place)
	}
	around := func(key [2]int, do func(place int32)) {
		for dx := -1; dx <= 1; dx++ {
			for dy := -1; dy <= 1; dy++ {
				if s := squares[[2]int{key[0] + dx, key[1] + dy}]; s != nil {
					for _, place := range s.places {
						do(place)
					}
				}
			}
		}
	}
	var order []*square
	for _, s := range squares {
		around(s.key, func(place int32) { s.points += weight[place] })
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b *square) int {
		if c := cmp.Compare(b.points, a.points); c != 0 {
			return c
		}
		return slices.Compare(a.key[:], b.key[:])
	})
	best := int64(-1)
	for _, s := range order {
		if s.points <= best {
			break
		}
		const some = 300 // about the number of places that are tried in a crowded square
		for i := 0; i < len(s.places); i += 1 + len(s.places)/some {
			place, sum := s.places[i], int64(0)
			around(s.key, func(o int32) {
				if math.Hypot(d.x[o]-d.x[place], d.y[o]-d.y[place]) <= radius {
					sum += weight[o]
				}
			})
			if sum > best {
				best, x, y = sum, d.x[place], d.y[place]
			}
		}
	}
	return x, y
}

// edges draws the edges of cliques around (cx, cy), enlarged.
func (d *drawing) edges(shown *showing, cx, cy, zoom, radius, width float64) {
	var b strings.Builder
	drawn := make(map[[2]int32]bool)
	for _, c := range shown.cliques {
		for i, p := range c {
			for _, q := range c[:i] {
				x1, y1, x2, y2 := d.x[p]-cx, d.y[p]-cy, d.x[q]-cx, d.y[q]-cy
				k := [2]int32{min(p, q), max(p, q)}
				if drawn[k] || len(drawn) > 20000 || math.Hypot(x1, y1) > 2*radius || math.Hypot(x2, y2) > 2*radius {
					continue
				}
				drawn[k] = true
				fmt.Fprintf(&b, "M%s %sL%s %s", px(x1*zoom), px(y1*zoom), px(x2*zoom), px(y2*zoom))
			}
		}
	}
	d.printf(`<path d="%s" fill="none" stroke="#1d2330" stroke-opacity=".38" stroke-width="%s"/>`+"\n", b.String(), px(width))
}

// scaleBar draws a bar of a round length.
func (d *drawing) scaleBar() {
	if !(d.unit > 0) || math.IsInf(d.unit, 0) {
		return
	}
	want := d.panelW / 5 / d.unit
	step := math.Pow(10, math.Floor(math.Log10(want)))
	for _, m := range []float64{5, 2} {
		if m*step <= want {
			step *= m
			break
		}
	}
	label := ftoa(step)
	if unit := d.distanceUnit(); unit == "" {
		label += " units"
	} else {
		label += " " + unit
		if unit == "m" && step >= 1000 {
			label = ftoa(step/1000) + " km"
		}
	}
	w, y := step*d.unit, 18.0
	d.printf(`<g transform="translate(14 %s)"><rect x="-6" y="-13" width="%s" height="22" rx="4" fill="#ffffff" fill-opacity=".8"/>`, px(y), px(w+18+7*float64(len(label))))
	d.printf(`<path d="M0 -3v6h%sv-6" fill="none" stroke="#1d2330" stroke-width="1.2"/>`, px(w))
	d.printf(`<text x="%s" y="4" font-size="11" fill="#1d2330">%s</text></g>`+"\n", px(w+6), label)
}

// legendLines breaks the features of the legend into lines that fit.
func (d *drawing) legendLines() [][]int32 {
	var lines [][]int32
	room := 0.0
	for _, f := range d.order {
		w := legendWidth(d.s.pts.Features[f])
		if len(lines) == 0 || room < w {
			lines = append(lines, nil)
			room = svgWidth - 2*svgMargin
		}
		room -= w
		lines[len(lines)-1] = append(lines[len(lines)-1], f)
	}
	return lines
}

func legendWidth(name string) float64 { return 92 + 7*float64(len([]rune(name))) }

func (d *drawing) legend(lines [][]int32, y float64) {
	for _, line := range lines {
		x := svgMargin
		for _, f := range line {
			d.printf(`<circle cx="%s" cy="%s" r="5.5" fill="%s"/>`, px(x+6), px(y), d.colour[f])
			d.printf(`<text x="%s" y="%s" font-size="13" fill="#1d2330">%s <tspan fill="#98a2b3">%s</tspan></text>`+"\n",
				px(x+18), px(y+4.5), html.EscapeString(d.s.pts.Features[f]), thousands(d.g.total[f]))
			x += legendWidth(d.s.pts.Features[f])
		}
		y += 24
	}
	d.printf(`<text x="%s" y="%s" font-size="11.5" fill="#98a2b3">Grey: all points. Colours: points that take part. Lens: where most take part together, with the edges of instances.</text>`+"\n", px(svgMargin), px(y+6))
	d.printf(`<text x="%s" y="%s" font-size="11.5" fill="#98a2b3">%s</text>`+"\n", px(svgMargin), px(y+24), html.EscapeString(d.positions()))
}
