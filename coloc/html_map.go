package coloc

import (
	"bufio"
	"context"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/given"
)

// A page is one file that needs no server: html_map.html with the points, the study area and the
// patterns as JSON in it. Its script draws them on a canvas. Positions are in the points' own
// reference system, longitudes narrowed by the cosine of the mean latitude.

//go:embed html_map.html
var pageTemplate string

// What a page has at most; it says what was left out.
const (
	pagePoints   = 200_000 // that take part in no pattern
	pagePatterns = 200
	pageEdges    = 20_000 // of a pattern
)

// page is the data of a page.
type page struct {
	Note       string        `json:"note"`
	Positions  string        `json:"positions"`
	Axes       [2]string     `json:"axes"`
	Squeeze    float64       `json:"squeeze"` // width of a unit of x, in units of y
	PerUnit    float64       `json:"per_unit"`
	Unit       string        `json:"unit"`
	Features   []string      `json:"features"`
	Totals     []int64       `json:"totals"`
	X          []float64     `json:"x"`
	Y          []float64     `json:"y"`
	Feature    []int32       `json:"feature"`
	Row        []int32       `json:"row"`
	Window     [][]float64   `json:"window"` // rings of x and y in turn
	WindowNote string        `json:"window_note"`
	Patterns   []pagePattern `json:"patterns"`
}

// pagePattern is a pattern with the points that take part, and edges between them, as indices into
// the points of the page.
type pagePattern struct {
	ReportPattern
	Points []int32 `json:"points"`
	Edges  []int32 `json:"edges"`
}

// WriteHTML writes a map as one HTML file, which works without a network. The report has the
// patterns in their order, with the results of tests if there are any.
func (s *Survey) WriteHTML(ctx context.Context, w io.Writer, patterns []Pattern, report *Report) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if len(report.Patterns) != len(patterns) {
		return fmt.Errorf("a report of %d patterns for %d patterns: want equal numbers", len(report.Patterns), len(patterns))
	}
	if _, err := s.graph(ctx); err != nil {
		return err
	}
	all := len(patterns)
	patterns = patterns[:min(all, pagePatterns)]
	l, err := s.layers(ctx, patterns)
	if err != nil {
		return err
	}
	p := s.newPage()
	at := s.choosePoints(p, l)
	for i := range patterns {
		p.Patterns = append(p.Patterns, pagePattern{ReportPattern: report.Patterns[i],
			Points: []int32{}, Edges: s.pageEdges(l.cliques[i], at)})
	}
	for point, numbers := range l.of {
		for _, n := range numbers {
			p.Patterns[n-1].Points = append(p.Patterns[n-1].Points, at[point])
		}
	}
	if test := report.Test(); test != "" {
		p.Note += " Compared with " + test + "."
	}
	if all > len(patterns) {
		p.Note += fmt.Sprintf(" The first %d of %d patterns are listed.", len(patterns), all)
	}
	if n := s.pts.Len(); len(p.X) < n {
		p.Note += fmt.Sprintf(" %s of %s points are drawn, with all that take part in a listed pattern.",
			thousands(int64(len(p.X))), thousands(int64(n)))
	}
	data, err := json.Marshal(p) // which escapes <, > and &
	if err != nil {
		return err
	}
	head, tail, _ := strings.Cut(pageTemplate, "{{data}}")
	b := bufio.NewWriter(w)
	b.WriteString(head)
	b.Write(data)
	b.WriteString(tail)
	return b.Flush()
}

// newPage returns a page with all but points and patterns.
func (s *Survey) newPage() *page {
	d := &drawing{s: s}
	crs := s.pts.CRS
	p := &page{Note: d.described(), Positions: d.positions(), Features: s.pts.Features, Totals: s.g.total,
		Squeeze: 1, PerUnit: 1, Unit: crs.UnitName(), Axes: [2]string{"x, " + crs.UnitName(), "y, " + crs.UnitName()},
		X: []float64{}, Y: []float64{}, Feature: []int32{}, Row: []int32{}, Window: [][]float64{}, Patterns: []pagePattern{}}
	if s.job.Geographic {
		p.Axes = [2]string{"longitude, degrees", "latitude, degrees"}
		middle := 0.0
		for _, y := range s.pts.Y {
			middle += y / float64(s.pts.Len())
		}
		p.Squeeze = math.Max(0.05, math.Cos(middle*math.Pi/180))
		p.PerUnit = earthRadius * math.Pi / 180
	}
	if w := s.pts.Window; w != nil {
		for _, ring := range w.Rings() {
			flat := make([]float64, 0, 2*len(ring))
			for _, at := range ring {
				flat = append(flat, at[0], at[1])
			}
			p.Window = append(p.Window, flat)
		}
		p.WindowNote = "Outline: the study area."
		if w.Estimated() {
			p.WindowNote = "Outline: the study area, estimated from the points."
		}
	}
	return p
}

// choosePoints lists the points that take part in a pattern, and every n-th of the others. It
// returns the index of each in the page.
func (s *Survey) choosePoints(p *page, l *layers) (at []int32) {
	others := 0
	for _, numbers := range l.of {
		if len(numbers) == 0 {
			others++
		}
	}
	step := max(1, (others+pagePoints-1)/pagePoints)
	at = make([]int32, s.pts.Len())
	for i := range at {
		at[i] = -1 // not drawn
	}
	x := append([]float64(nil), s.pts.X...)
	if s.job.Geographic && len(x) > 0 {
		unwrap(x)
	}
	other := 0
	for i, numbers := range l.of {
		if len(numbers) == 0 {
			if other++; (other-1)%step != 0 {
				continue
			}
		}
		at[i] = int32(len(p.X))
		p.X, p.Y = append(p.X, x[i]), append(p.Y, s.pts.Y[i])
		p.Feature, p.Row = append(p.Feature, s.pts.Feature[i]), append(p.Row, int32(s.pts.Row(int32(i))))
	}
	for _, ring := range p.Window { // on the same side of the date line as the points
		for k := 0; s.job.Geographic && len(p.X) > 0 && k < len(ring); k += 2 {
			ring[k] += 360 * math.Round((p.X[0]-ring[k])/360)
		}
	}
	return at
}

// pageEdges lists pairs of points that are joined by an edge of an instance, each once.
func (s *Survey) pageEdges(cliques [][]int32, at []int32) []int32 {
	edges, seen := []int32{}, make(map[[2]int32]bool)
	for _, clique := range cliques {
		for i, a := range clique {
			for _, b := range clique[:i] {
				key := [2]int32{min(a, b), max(a, b)}
				if seen[key] || len(seen) >= pageEdges {
					continue
				}
				seen[key] = true
				for _, place := range key { // of which some points take part, so they are drawn
					members := s.g.membersOf(place)
					k := slices.IndexFunc(members, func(m int32) bool { return at[m] >= 0 })
					edges = append(edges, at[members[k]])
				}
			}
		}
	}
	return edges
}
