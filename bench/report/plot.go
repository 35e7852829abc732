package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// Plot is a line plot. Its SVG file has its name.
type Plot struct {
	Name       string
	Title      string
	X, Y       string // labels of the axes, with units
	LogX, LogY bool
	Series     []Series
}

// Series is one line: points in the order in which they are joined. A NaN in Y is a point that was
// not measured; the line has a gap there.
type Series struct {
	Name string
	X, Y []float64
}

func (p *Plot) check() error {
	for _, s := range p.Series {
		if len(s.X) != len(s.Y) {
			return fmt.Errorf("report: plot %s, %s: %d values of x and %d of y", p.Name, s.Name, len(s.X), len(s.Y))
		}
		for i := range s.X {
			if p.LogX && s.X[i] <= 0 || p.LogY && s.Y[i] <= 0 {
				return fmt.Errorf("report: plot %s, %s: (%v, %v): want positive values on a logarithmic axis", p.Name, s.Name, s.X[i], s.Y[i])
			}
			if math.IsInf(s.X[i], 0) || math.IsInf(s.Y[i], 0) {
				return fmt.Errorf("report: plot %s, %s: want finite values", p.Name, s.Name)
			}
		}
	}
	return nil
}

// Sizes in pixels. The legend is at the right.
const (
	plotWidth, plotHeight           = 760, 400
	plotLeft, plotRight, plotTop    = 80, 200, 44
	plotBottom                      = 56
	plotInnerWidth, plotInnerHeight = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// Okabe and Ito's colours, which can be distinguished with any colour vision. The marks of the
// lines differ too.
var plotColours = []string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8a7b00"}

// axis maps values to [0, 1].
type axis struct {
	log      bool
	from, to float64 // logarithms if log is set
}

func newAxis(log bool, values func(yield func(float64))) axis {
	a := axis{log: log, from: math.Inf(1), to: math.Inf(-1)}
	values(func(v float64) {
		if math.IsNaN(v) {
			return
		}
		if log {
			v = math.Log10(v)
		}
		a.from, a.to = min(a.from, v), max(a.to, v)
	})
	if math.IsInf(a.from, 1) {
		a.from, a.to = 0, 1
	}
	switch {
	case log:
		a.from, a.to = math.Floor(a.from), math.Ceil(a.to)
		if a.to == a.from {
			a.to++
		}
	default:
		a.from = min(a.from, 0)
		a.to = max(a.to, 0)
		if a.to == a.from {
			a.to = a.from + 1
		}
		step := niceStep((a.to - a.from) / 5)
		a.from, a.to = math.Floor(a.from/step)*step, math.Ceil(a.to/step)*step
	}
	return a
}

func (a axis) at(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return (v - a.from) / (a.to - a.from)
}

// ticks returns the values that get a grid line and a label.
func (a axis) ticks() (list []float64) {
	if a.log {
		for e := a.from; e <= a.to; e++ {
			list = append(list, math.Pow(10, e))
		}
		return list
	}
	step := niceStep((a.to - a.from) / 5)
	for i := 0.0; a.from+i*step <= a.to+step/2; i++ {
		list = append(list, a.from+i*step)
	}
	return list
}

// niceStep returns the least value of at least x that is 1, 2 or 5 times a power of ten.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickLabel formats 20000 as 20,000 and 0.001 as it is; larger and smaller values get an exponent.
func tickLabel(v float64) string {
	v = math.Round(v*1e9) / 1e9
	if v != 0 && (math.Abs(v) >= 1e9 || math.Abs(v) < 1e-4) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

func (p *Plot) writeSVG(w io.Writer) error {
	all := func(of func(Series) []float64) func(func(float64)) {
		return func(yield func(float64)) {
			for _, s := range p.Series {
				for _, v := range of(s) {
					yield(v)
				}
			}
		}
	}
	ax := newAxis(p.LogX, all(func(s Series) []float64 { return s.X }))
	ay := newAxis(p.LogY, all(func(s Series) []float64 { return s.Y }))
	px := func(v float64) float64 { return plotLeft + ax.at(v)*plotInnerWidth }
	py := func(v float64) float64 { return plotTop + (1-ay.at(v))*plotInnerHeight }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text x="%d" y="24" font-size="15" font-weight="bold">%s</text>`+"\n",
		plotLeft, html.EscapeString(p.Title))
	for _, v := range ax.ticks() {
		x := px(v)
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, plotTop, plotTop+plotInnerHeight, x, plotTop+plotInnerHeight+18, tickLabel(v))
	}
	for _, v := range ay.ticks() {
		y := py(v)
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, y, plotLeft+plotInnerWidth, plotLeft-8, y+4, tickLabel(v))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n",
		plotLeft+plotInnerWidth/2, plotHeight-12, html.EscapeString(p.X))
	fmt.Fprintf(&b, `<text transform="translate(18 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		plotTop+plotInnerHeight/2, html.EscapeString(p.Y))
	for i, s := range p.Series {
		colour := plotColours[i%len(plotColours)]
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", s.path(px, py), colour)
		for j := range s.X {
			if !math.IsNaN(s.X[j]) && !math.IsNaN(s.Y[j]) {
				mark(&b, i, px(s.X[j]), py(s.Y[j]), colour)
			}
		}
		x, y := float64(plotLeft+plotInnerWidth+20), float64(plotTop+10+20*i)
		mark(&b, i, x, y, colour)
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`+"\n", x+12, y+4, html.EscapeString(s.Name))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// path returns the SVG path through the points, with a gap at each NaN.
func (s *Series) path(px, py func(float64) float64) string {
	var b strings.Builder
	pen := byte('M')
	for i := range s.X {
		if math.IsNaN(s.X[i]) || math.IsNaN(s.Y[i]) {
			pen = 'M'
			continue
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", pen, px(s.X[i]), py(s.Y[i]))
		pen = 'L'
	}
	return b.String()
}

// mark draws the mark of the i-th series: a circle, a square, a triangle or a diamond.
func mark(b *strings.Builder, i int, x, y float64, colour string) {
	switch i % 4 {
	case 0:
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", x, y, colour)
	case 1:
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="7" height="7" fill="%s"/>`+"\n", x-3.5, y-3.5, colour)
	case 2:
		fmt.Fprintf(b, `<path d="M%.1f %.1fl4.5 8h-9z" fill="%s"/>`+"\n", x, y-5, colour)
	case 3:
		fmt.Fprintf(b, `<path d="M%.1f %.1fl5 5l-5 5l-5 -5z" fill="%s"/>`+"\n", x, y-5, colour)
	}
}
