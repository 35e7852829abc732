package coloc

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/gpkg"
	"github.com/collocate/collocate/points"
)

// WriteGeoPackage writes two layers and two tables to an empty file. They are in the points' own
// reference system if it has an EPSG code or a definition. Otherwise they are in WGS 84, or in a
// plane if the system cannot be converted. The layers are the participating points with the numbers
// (from 1) of their patterns, and instances that together contain these points, as lines. The
// tables are the patterns, with the results of tests if the report of these patterns has them (nil
// means none), and the participating points of each of their features.
func (s *Survey) WriteGeoPackage(ctx context.Context, f interface {
	io.Writer
	io.WriterAt
}, patterns []Pattern, report *Report) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	l, err := s.layers(ctx, patterns)
	if err != nil {
		return err
	}
	system, convert := packageSystem(s.pts.CRS)
	at := func(point int32) [2]float64 {
		x, y := convert(s.pts.X[point], s.pts.Y[point])
		return [2]float64{x, y}
	}
	columns := []gpkg.Column{{Name: "feature", Type: "TEXT"}, {Name: "row", Type: "INTEGER"},
		{Name: "patterns", Type: "TEXT"}, {Name: "count", Type: "INTEGER"}}
	if s.pts.Time != nil {
		columns = append(columns, gpkg.Column{Name: "time", Type: "DATETIME"})
	}
	text := func(p Pattern) string { return strings.Join(s.pts.Names(p.Features), ", ") }
	return gpkg.Write(f, system, []gpkg.Layer{
		{Name: "points", Geometry: "POINT", Columns: columns,
			Rows: func(yield func(gpkg.Row) bool) {
				for row, numbers := range l.of {
					if len(numbers) == 0 {
						continue
					}
					values := []any{s.pts.Features[s.pts.Feature[row]], int64(s.pts.Row(int32(row))), listed(numbers), int64(len(numbers))}
					if s.pts.Time != nil {
						values = append(values, isoTime(s.pts.Time[row]))
					}
					if !yield(gpkg.Row{Lines: [][][2]float64{{at(int32(row))}}, Values: values}) {
						return
					}
				}
			}},
		{Name: "instances", Geometry: "MULTILINESTRING", Columns: []gpkg.Column{{Name: "pattern", Type: "INTEGER"},
			{Name: "features", Type: "TEXT"}, {Name: "participation_index", Type: "REAL"}},
			Rows: func(yield func(gpkg.Row) bool) {
				for i, p := range patterns {
					for _, clique := range l.cliques[i] {
						lines := s.edgesOf(clique, at)
						if len(lines) > 0 && !yield(gpkg.Row{Lines: lines, Values: []any{int64(i) + 1, text(p), p.Index}}) {
							return
						}
					}
				}
			}},
		{Name: "patterns", Columns: []gpkg.Column{{Name: "pattern", Type: "INTEGER"}, {Name: "size", Type: "INTEGER"},
			{Name: "features", Type: "TEXT"}, {Name: "participation_index", Type: "REAL"},
			{Name: "expected_index", Type: "REAL"}, {Name: "ratio", Type: "REAL"}, {Name: "p_value", Type: "REAL"},
			{Name: "q_value", Type: "REAL"}, {Name: "distance", Type: "REAL"}, {Name: "unit", Type: "TEXT"},
			{Name: "null_model", Type: "TEXT"}, {Name: "rounds", Type: "INTEGER"}, {Name: "study_area", Type: "REAL"},
			{Name: "bandwidth", Type: "REAL"}},
			Rows: func(yield func(gpkg.Row) bool) {
				for i, p := range patterns {
					values := []any{int64(i) + 1, int64(len(p.Features)), text(p), p.Index, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil}
					if report != nil {
						r := &report.Patterns[i]
						for k, v := range []*float64{r.Expected, r.Ratio, r.PValue, r.QValue} {
							if v != nil {
								values[4+k] = *v
							}
						}
						values[8], values[9] = report.Distance, report.Unit
						if report.Rounds > 0 {
							values[10], values[11] = report.Null, int64(report.Rounds)
						}
						for k, v := range []float64{report.StudyArea, report.Bandwidth} {
							if v > 0 {
								values[12+k] = v
							}
						}
					}
					if !yield(gpkg.Row{Values: values}) {
						return
					}
				}
			}},
		{Name: "participation", Columns: []gpkg.Column{{Name: "pattern", Type: "INTEGER"}, {Name: "feature", Type: "TEXT"},
			{Name: "points", Type: "INTEGER"}, {Name: "total", Type: "INTEGER"}, {Name: "participation_ratio", Type: "REAL"}},
			Rows: func(yield func(gpkg.Row) bool) {
				for i, p := range patterns {
					for k, f := range p.Features {
						share := Share{p.Counts[k], s.g.total[f]}
						if !yield(gpkg.Row{Values: []any{int64(i) + 1, s.pts.Features[f], share.Points, share.Total, share.Ratio()}}) {
							return
						}
					}
				}
			}},
	})
}

// edgesOf returns the lines between the places of an instance.
func (s *Survey) edgesOf(clique []int32, at func(point int32) [2]float64) (lines [][][2]float64) {
	for i, a := range clique {
		for _, b := range clique[:i] {
			lines = append(lines, [][2]float64{at(s.g.membersOf(b)[0]), at(s.g.membersOf(a)[0])})
		}
	}
	return lines
}

// packageSystem returns the reference system in which positions are written.
func packageSystem(crs *points.CRS) (gpkg.System, func(x, y float64) (float64, float64)) {
	asTheyAre := func(x, y float64) (float64, float64) { return x, y }
	definition := crs.WellKnownText()
	switch {
	case crs != nil && crs.EPSG > 0:
		return gpkg.System{EPSG: crs.EPSG, Name: crs.Name, Definition: definition}, asTheyAre
	case definition != "" && len(definition)+2*len(crs.Name) <= gpkg.LongestDefinition:
		return gpkg.System{EPSG: gpkg.Custom, Name: crs.Name, Definition: definition}, asTheyAre
	case crs.Convertible():
		return gpkg.System{EPSG: points.WGS84.EPSG}, crs.ToWGS84
	}
	return gpkg.Plane, asTheyAre
}

// listed returns the numbers in ascending order, separated by commas.
func listed(numbers []int32) string {
	var b []byte
	for _, n := range slices.Sorted(slices.Values(numbers)) {
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return string(b)
}
