package coloc

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// localClass is a class of local quotients with its name and colour in the legend.
type localClass struct{ name, colour string }

var localClasses = []localClass{
	{"no neighbours, or no quotient", "#d0d5dd"}, {"isolated", "#9ecae1"}, {"colocated", "#f4c08a"},
	{"isolated, p at most 0.05", "#0072b2"}, {"colocated, p at most 0.05", "#d55e00"},
}

func classOf(q LocalQuotient) int {
	switch {
	case math.IsNaN(q.Value):
		return 0
	case q.Value > 1 && q.P <= 0.05:
		return 4
	case q.P <= 0.05:
		return 3
	case q.Value > 1:
		return 2
	}
	return 1
}

// WriteLocalSVG draws local quotients as maps, a panel for each feature To, at most six. The colour
// of a point says whether its quotient is above 1, and whether it is significant.
func (s *Survey) WriteLocalSVG(ctx context.Context, w io.Writer, local []LocalQuotient) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	g, err := s.graph(ctx)
	if err != nil {
		return err
	}
	var to []int32
	by := make(map[int32][]LocalQuotient)
	for _, q := range local {
		if by[q.To] == nil {
			to = append(to, q.To)
		}
		by[q.To] = append(by[q.To], q)
	}
	to = to[:min(6, len(to))]
	d := &drawing{s: s, g: g, w: bufio.NewWriter(w)}
	columns := []int{1, 1, 2, 3, 2, 3, 3}[len(to)]
	rows := max(1, (len(to)+columns-1)/columns)
	d.panelW = (svgWidth - 2*svgMargin - svgGap*float64(columns-1)) / float64(columns)
	d.project(d.panelW)
	height := svgTop + float64(rows)*(panelTitle+d.mapH) + 78
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" %s>`+"\n", px(svgWidth), px(height), px(svgWidth), px(height), svgFont)
	d.printf(`<rect width="100%%" height="100%%" fill="#fbfaf8"/>` + "\n")
	d.printf(`<text x="%s" y="52" font-size="26" font-weight="600" fill="#1d2330">Local colocation quotients</text>`+"\n", px(svgMargin))
	d.printf(`<text x="%s" y="77" font-size="14" fill="#667085">How much more often than by chance neighbours are of the feature; 1 is chance.</text>`+"\n", px(svgMargin))
	at := g.placeOf(s.pts.Len())
	for i, f := range to {
		x := svgMargin + float64(i%columns)*(d.panelW+svgGap)
		y := svgTop + float64(i/columns)*(panelTitle+d.mapH)
		d.printf(`<g transform="translate(%s %s)">`+"\n", px(x), px(y))
		name := fitNames([]string{"near " + s.pts.Features[f]}, int(d.panelW/8.2))
		d.printf(`<text y="14" font-size="15" font-weight="600" fill="#1d2330">%s</text>`+"\n", html.EscapeString(name))
		d.printf(`<g transform="translate(0 24)"><clipPath id="local%d"><rect width="%s" height="%s" rx="8"/></clipPath>`, i, px(d.panelW), px(d.mapH))
		d.printf(`<rect width="%s" height="%s" rx="8" fill="#ffffff" stroke="#e3e0da"/><g clip-path="url(#local%d)">`+"\n", px(d.panelW), px(d.mapH), i)
		if d.window != "" {
			d.printf(`<path d="%s" fill="none" stroke="#667085" stroke-width="1"/>`+"\n", d.window)
		}
		paths := make([]strings.Builder, len(localClasses))
		for _, q := range by[f] {
			place := at[q.Point]
			fmt.Fprintf(&paths[classOf(q)], "M%s %sh0", px(d.x[place]), px(d.y[place]))
		}
		for c := range paths {
			if paths[c].Len() > 0 {
				d.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linecap="round"/>`+"\n", paths[c].String(), localClasses[c].colour, px(dotSize(len(by[f]))))
			}
		}
		d.printf("</g>")
		d.scaleBar()
		d.printf("</g></g>\n")
	}
	x := svgMargin
	for _, c := range localClasses {
		d.printf(`<circle cx="%s" cy="%s" r="5.5" fill="%s"/><text x="%s" y="%s" font-size="13" fill="#1d2330">%s</text>`+"\n", px(x+6), px(height-42), c.colour, px(x+18), px(height-37.5), c.name)
		x += 40 + 7*float64(len(c.name))
	}
	d.printf(`<text x="%s" y="%s" font-size="11.5" fill="#98a2b3">%s</text>`+"\n", px(svgMargin), px(height-14), html.EscapeString(d.positions()))
	d.printf("</svg>\n")
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}
