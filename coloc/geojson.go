package coloc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/points"
)

// WriteGeoJSON writes a FeatureCollection for a map, in WGS 84 as RFC 7946 requires, or with the
// "crs" member of the GeoJSON that the points came from. It has a Point for each participating
// point with its feature, its row in the input (from 1), its time if it has one, and the numbers
// (from 1) of the patterns in which it takes part. Then it has, for each pattern, the edges of
// instances that together contain all its participating points, one MultiLineString per instance.
// The member "patterns" lists the patterns with the participating points of their features, and the
// results of tests if the report of these patterns has them; nil makes one without.
// Positions in a plane (points.Plane) are written unchanged, with "crs": null; an unknown reference
// system is an error.
func (s *Survey) WriteGeoJSON(ctx context.Context, w io.Writer, patterns []Pattern, report *Report) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	convert, err := toGeoJSON(s.pts.CRS)
	if err != nil {
		return err
	}
	l, err := s.layers(ctx, patterns)
	if err != nil {
		return err
	}
	g := &geoWriter{w: bufio.NewWriter(w), s: s, convert: convert}
	g.text(`{"type":"FeatureCollection",`)
	if s.pts.CRS == points.Plane {
		g.text(`"crs":null,`)
	} else if s.pts.CRS != nil && s.pts.CRS.Member != "" {
		name, err := json.Marshal(s.pts.CRS.Member)
		if err != nil {
			return err
		}
		g.text(`"crs":{"type":"name","properties":{"name":` + string(name) + `}},`)
	}
	if err := g.patterns(patterns, report); err != nil {
		return err
	}
	g.text(`"features":[`)
	for row, numbers := range l.of {
		if len(numbers) > 0 {
			g.point(int32(row), numbers)
		}
	}
	for i, p := range patterns {
		for _, clique := range l.cliques[i] {
			g.instance(i+1, p, clique)
		}
	}
	g.text("\n]}\n")
	return g.w.Flush() // a bufio.Writer keeps its first error
}

// CanWriteGeoJSON returns an error if points of a reference system cannot be written as GeoJSON.
func CanWriteGeoJSON(crs *points.CRS) error {
	_, err := toGeoJSON(crs)
	return err
}

// toGeoJSON returns the conversion of positions to longitudes and latitudes.
func toGeoJSON(crs *points.CRS) (func(x, y float64) (float64, float64), error) {
	switch {
	case crs == points.Plane || crs != nil && crs.Member != "":
		return func(x, y float64) (float64, float64) { return x, y }, nil
	case crs == nil:
		return nil, errors.New("GeoJSON is in WGS 84, and the points' reference system is not known: name it with points.ReadOptions.CRS=EPSG:n, or use points.Plane to write the numbers as they are")
	case !crs.Convertible():
		return nil, fmt.Errorf("GeoJSON is in WGS 84, and %v cannot be converted to it: name another system with points.ReadOptions.CRS=EPSG:n, or use points.Plane to write the numbers as they are", crs)
	}
	return func(x, y float64) (float64, float64) {
		lon, lat := crs.ToWGS84(x, y)
		return math.Round(lon*1e8) / 1e8, math.Round(lat*1e8) / 1e8 // about a millimetre
	}, nil
}

// layers are the contents of a map of patterns.
type layers struct {
	of      [][]int32   // for each point, the numbers of its patterns, from 1
	cliques [][][]int32 // for each pattern, its instances as places
}

func (s *Survey) layers(ctx context.Context, patterns []Pattern) (*layers, error) {
	l := &layers{of: make([][]int32, s.pts.Len()), cliques: make([][][]int32, len(patterns))}
	for i, p := range patterns {
		shown, err := s.show(ctx, p)
		if err != nil {
			return nil, err
		}
		l.cliques[i] = shown.cliques
		in := make(map[int32]bool, len(p.Features))
		for _, f := range p.Features {
			in[f] = true
		}
		for place, part := range shown.part {
			for k := s.g.first[place]; part && k < s.g.first[place+1]; k++ {
				if !in[s.g.feat[k]] {
					continue
				}
				for _, m := range s.g.pointsOf(k) {
					l.of[m] = append(l.of[m], int32(i+1))
				}
			}
		}
	}
	return l, nil
}

// geoWriter writes the features of a FeatureCollection.
type geoWriter struct {
	w       *bufio.Writer
	s       *Survey
	convert func(x, y float64) (float64, float64)
	more    bool
	buf     []byte
}

func (g *geoWriter) text(s string) { g.w.WriteString(s) }

// patterns writes the patterns as Report does.
func (g *geoWriter) patterns(list []Pattern, report *Report) error {
	if report == nil {
		report = NewReport(g.s.pts, &Result{Patterns: list, Totals: g.s.g.total})
	}
	patterns := slices.Clone(report.Patterns)
	for i := range patterns {
		patterns[i].Instances = nil // which are features
	}
	data, err := json.Marshal(patterns)
	if err != nil {
		return err
	}
	g.text(`"patterns":` + string(data) + ",\n")
	if test := report.Test(); test != "" {
		g.text(`"test":` + string(quoted(test)) + ",\n")
	}
	return nil
}

// feature separates a new feature from the previous one.
func (g *geoWriter) feature() {
	if g.more {
		g.text(",")
	}
	g.more = true
	g.text("\n")
}

// position appends the position of a point as [x,y].
func (g *geoWriter) position(buf []byte, point int32) []byte {
	x, y := g.convert(g.s.pts.X[point], g.s.pts.Y[point])
	buf = strconv.AppendFloat(append(buf, '['), x, 'f', -1, 64)
	return append(strconv.AppendFloat(append(buf, ','), y, 'f', -1, 64), ']')
}

func (g *geoWriter) point(row int32, patterns []int32) {
	g.feature()
	b := append(g.buf[:0], `{"type":"Feature","geometry":{"type":"Point","coordinates":`...)
	b = g.position(b, row)
	b = append(b, `},"properties":{"layer":"point","feature":`...)
	b = append(b, quoted(g.s.pts.Features[g.s.pts.Feature[row]])...)
	b = append(b, `,"row":`...)
	b = strconv.AppendInt(b, int64(g.s.pts.Row(row)), 10)
	if g.s.pts.Time != nil {
		b = append(append(append(b, `,"time":"`...), isoTime(g.s.pts.Time[row])...), '"')
	}
	b = append(b, `,"patterns":[`...)
	for i, p := range patterns {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(p), 10)
	}
	g.buf = append(b, "]}}"...)
	g.w.Write(g.buf)
}

func (g *geoWriter) instance(number int, p Pattern, clique []int32) {
	if len(clique) < 2 {
		return // all of its points are at one place
	}
	g.feature()
	b := append(g.buf[:0], `{"type":"Feature","geometry":{"type":"MultiLineString","coordinates":[`...)
	first := true
	for i, a := range clique {
		for _, o := range clique[:i] {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(g.position(append(b, '['), g.s.g.membersOf(o)[0]), ',')
			b = append(g.position(b, g.s.g.membersOf(a)[0]), ']')
		}
	}
	b = append(b, `]},"properties":{"layer":"instance","pattern":`...)
	b = strconv.AppendInt(b, int64(number), 10)
	b = append(b, `,"features":[`...)
	for i, name := range g.s.pts.Names(p.Features) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quoted(name)...)
	}
	b = append(b, `],"participation_index":`...)
	b = strconv.AppendFloat(b, p.Index, 'g', -1, 64)
	g.buf = append(b, "}}"...)
	g.w.Write(g.buf)
}

// isoTime writes seconds since 1970 as RFC 3339 and GeoPackages have times.
func isoTime(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05.000Z")
}

// quoted returns text as a JSON string.
func quoted(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil { // cannot fail for strings
		panic(err)
	}
	return b
}
