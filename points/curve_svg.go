package points

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// DrawCurves draws up to six curves as SVG: L - r with the mean of the null model and the global
// envelope of its rounds. Independence is a horizontal line. test says what the curves were
// compared with, and in which study area (Fit).
func DrawCurves(w io.Writer, p *Set, curves []Curve, test string) error {
	curves = curves[:min(6, len(curves))]
	const width, margin, gap, top, panelH = 1200.0, 48.0, 40.0, 112.0, 300.0
	columns := []int{1, 1, 2, 3, 2, 3, 3}[len(curves)]
	rows := (len(curves) + columns - 1) / columns
	panelW := (width - 2*margin - gap*float64(columns-1)) / float64(columns)
	height := top + float64(rows)*(panelH+70)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif">`+"\n", width, height, width, height)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" fill="#fbfaf8"/>`+"\n")
	fmt.Fprintf(b, `<text x="%.0f" y="46" font-size="24" font-weight="600" fill="#1d2330">At which distances are kinds of places found together?</text>`+"\n", margin)
	note := "L(r) − r: above the band they attract one another, below they avoid one another."
	if len(curves) > 0 && curves[0].Expected != nil {
		note += " Band: 95% of the rounds lie wholly in it; dashed: their mean."
	}
	fmt.Fprintf(b, `<text x="%.0f" y="72" font-size="14" fill="#667085">%s</text>`+"\n", margin,
		html.EscapeString(note))
	fmt.Fprintf(b, `<text x="%.0f" y="92" font-size="14" fill="#667085">%s</text>`+"\n", margin, html.EscapeString(test))
	for i, c := range curves {
		x := margin + float64(i%columns)*(panelW+gap)
		y := top + float64(i/columns)*(panelH+70)
		c.draw(b, p, x, y, panelW, panelH)
	}
	fmt.Fprintln(b, "</svg>")
	return b.Flush()
}

func (c *Curve) draw(b *bufio.Writer, p *Set, x, y, width, height float64) {
	low, high := 0.0, 0.0
	minus := func(v []float64, r int) float64 { return v[r] - c.R[r] }
	for r := range c.R {
		for _, v := range [][]float64{c.L, c.Low, c.High} {
			if v != nil {
				low, high = min(low, minus(v, r)), max(high, minus(v, r))
			}
		}
	}
	if high == low {
		high = 1
	}
	pad := (high - low) * 0.06
	low, high = low-pad, high+pad
	most := c.R[len(c.R)-1]
	px := func(r float64) float64 { return width * r / most }
	py := func(v float64) float64 { return height - height*(v-low)/(high-low) }
	line := func(v []float64) string {
		var s strings.Builder
		for r := range c.R {
			fmt.Fprintf(&s, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[r == 0], px(c.R[r]), py(minus(v, r)))
		}
		return s.String()
	}
	fmt.Fprintf(b, `<g transform="translate(%.1f %.1f)">`+"\n", x, y)
	title := p.Features[c.A] + " and " + p.Features[c.B]
	if room := int(width / 8.5); len([]rune(title)) > room {
		title = string([]rune(title)[:room-1]) + "…"
	}
	fmt.Fprintf(b, `<text y="14" font-size="15" font-weight="600" fill="#1d2330">%s</text>`, html.EscapeString(title))
	if !math.IsNaN(c.P) {
		fmt.Fprintf(b, `<text x="%.1f" y="14" font-size="12.5" text-anchor="end" fill="#667085">p %.3g, q %.3g</text>`, width, c.P, c.Q)
	}
	fmt.Fprintf(b, `<g transform="translate(0 24)"><rect width="%.1f" height="%.1f" fill="#ffffff" stroke="#e3e0da"/>`+"\n", width, height)
	if c.Expected != nil {
		var back strings.Builder
		for r := len(c.R) - 1; r >= 0; r-- {
			fmt.Fprintf(&back, "L%.1f %.1f", px(c.R[r]), py(minus(c.Low, r)))
		}
		fmt.Fprintf(b, `<path d="%s%sZ" fill="#56b4e9" fill-opacity=".3"/>`+"\n", line(c.High), back.String())
		fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#667085" stroke-dasharray="5 4"/>`+"\n", line(c.Expected))
	}
	fmt.Fprintf(b, `<path d="M0 %.1fH%.1f" stroke="#98a2b3" stroke-width=".7"/>`+"\n", py(0), width)
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#d55e00" stroke-width="2.2"/>`+"\n", line(c.L))
	unit := p.CRS.DistanceUnit()
	for _, t := range []float64{0, 0.5, 1} {
		anchor := []string{"start", "middle", "end"}[int(2*t)]
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="11.5" text-anchor="%s" fill="#667085">%s</text>`, t*width, height+16, anchor, strings.TrimSpace(fmt.Sprintf("%.4g %s", t*most, unit)))
	}
	axis, rise := "distance r, "+p.CRS.UnitName(), "L(r) − r, "+p.CRS.UnitName()
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="11.5" text-anchor="middle" fill="#667085">%s</text>`,
		width/2, height+32, html.EscapeString(axis))
	fmt.Fprintf(b, `<text transform="translate(-8 %.1f) rotate(-90)" font-size="11.5" text-anchor="middle" fill="#667085">%s</text>`,
		height/2, html.EscapeString(rise))
	for _, v := range []float64{low + pad, high - pad} {
		fmt.Fprintf(b, `<text x="4" y="%.1f" font-size="11.5" fill="#667085">%.3g</text>`, py(v)+4, v)
	}
	fmt.Fprintf(b, "</g></g>\n")
}
