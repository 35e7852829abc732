package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
)

// placesFlags are the flags of `collocate places`: those of the question, and files.
type placesFlags struct {
	ask        api.Mine
	format     string
	rulesCSV   string
	geojson    string
	geopackage string
	svg        string
	html       string
	out        string
}

func newPlacesCmd(a *app) *cobra.Command {
	var p placesFlags
	cmd := &cobra.Command{
		Use:   "places POINTS...",
		Short: "Find kinds of places that are often together",
		Long: `Find the maximal sets of features (kinds of places) whose points are often
mutual neighbours. POINTS are files or folders: CSV or TSV with a header, GeoJSON,
GeoJSONSeq, Parquet, GeoParquet, Shapefile, GeoPackage, FlatGeobuf, KML, GPX
waypoints or OSM PBF (--feature amenity,shop: keys of tags), also in a ZIP
archive; - reads standard input.

Distances of longitudes and latitudes are metres; others are in the unit of the
positions' reference system, which the file or --crs names.

Points are neighbours at a distance of at most --distance. An instance of a set
is one point of each of its features, all neighbours of one another. The
participation index of a set is the least share, over its features, of points
that occur in an instance. Sets that reach --min-prevalence and have no larger
one that does are printed, ordered by length, then by names; --top prints the
best, longest first. A feature with one
or two points easily reaches any share: --min-points leaves such features out.

More:
A PostgreSQL database with PostGIS is a connection string, such as postgres://user@host/database,
with --layer TABLE or --layer 'SELECT ...'; its password is best left to PGPASSWORD or .pgpass.

--significance compares each index with random rounds of a null model, in which features are
independent of each other. --null inhomogeneous (the default) moves each feature as a whole inside
the study area (--window) and keeps its own clustering and the density that all features share;
shift, relabel and cluster are described in 'places curve --help'. With --within, --null times
permutes the times of each feature's points: are features near at the same times (Knox)?
--alternative both also looks for avoidance, among the patterns that --min-prevalence leaves. q
corrects for all sets of a pattern's size that could have been found. With --engine gpu the rounds
run there, too: hundreds at once for pairs in a plane, otherwise one after the other.
Several GPUs (--more-devices) share the work of --algorithm auto.`,
		GroupID:     groupPlaces,
		Annotations: hasGPU,
		Args:        cobra.MinimumNArgs(1),
		Example: `  collocate places shops.csv --distance 150 --min-prevalence 0.3
  collocate places poi.csv --distance 100,200,400 --min-prevalence 0.2
  collocate places poi.geojson -d 100 -p 0.3 --min-points 20
  collocate places poi.geojson --distance auto -p 0.3 --html map.html
  collocate places poi.geojson -d 100 -p 0.3 --window city.geojson --significance 999
  collocate places trees.csv --knn 5 --min-prevalence 0.25 --all --json
  collocate places shops.csv -d 150 -p 0.3 --rules --significance 99 --svg map.svg
  collocate places postgres://me@localhost/city --layer poi -d 100 --significance 99
  collocate places poi.gpkg -d 100,200,400 -p 0.1 --engine gpu --gpu-memory 8GB`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	addFlags(cmd, api.MineQuestion, &p.ask)
	a.registerSharing(cmd, "the places and patterns, and the rounds of --significance")
	f := cmd.Flags()
	f.StringVar(&p.format, "format", "table", "table, csv or json")
	f.StringVar(&p.rulesCSV, "rules-csv", "", "write co-location rules as CSV to `FILE`")
	group(cmd, "Rules and instances", "rules-csv")
	f.StringVar(&p.geojson, "geojson", "",
		"write participating points and edges of instances, in WGS 84, to `FILE` (-: standard output)")
	f.StringVar(&p.geopackage, "geopackage", "",
		"write participating points, edges of instances and patterns as layers of a GeoPackage `FILE`")
	f.StringVar(&p.svg, "svg", "", "draw a map of the best patterns (up to six) to `FILE` (-: standard output)")
	f.StringVar(&p.html, "html", "", "write an interactive map of the patterns, one page that works offline, to `FILE` (-: standard output)")
	f.StringVarP(&p.out, "out", "o", "", "also write the patterns as a table to `FILE`: .csv, .parquet or .json")
	group(cmd, "Files", "geojson", "geopackage", "svg", "html", "out")
	choices(cmd, map[string][]string{"format": {"table", "csv", "json"}})
	a.registerStats(cmd)
	cmd.AddCommand(newPlacesSummaryCmd(a), newPlacesCurveCmd(a), newPlacesPairsCmd(a),
		newPlacesCoOccurrenceCmd(a), newPlacesEnrichmentCmd(a))
	return cmd
}

func (p *placesFlags) check(flags *pflag.FlagSet) error {
	switch {
	case len(p.ask.Distance.List) > 1 && p.mapped():
		return usagef("--geojson, --geopackage, --svg and --html show one distance: give only one")
	case p.geopackage == "-":
		return usagef("--geopackage -: a GeoPackage cannot be written to standard output; name a file")
	case dashes(p.svg, p.geojson, p.html) > 1:
		return usagef("--svg -, --geojson - and --html -: only one of them can be written to standard output")
	case p.ask.Regions != "" && p.mapped():
		return usagef("--svg, --html, --geojson and --geopackage show all points: leave out --regions")
	case p.out != "" && tableWriter(p.out) == nil:
		return usagef("--out %s: want a name that ends in .csv, .parquet or .json", p.out)
	case p.format == "csv" && p.ask.Instances > 0:
		return usagef("--instances needs --format table or json: CSV is one table of patterns")
	case p.format == "csv" && p.ask.Rules:
		return usagef("--rules needs --format table or json; for CSV use --rules-csv FILE")
	case p.format != "table" && p.format != "csv" && p.format != "json":
		return usagef("--format %q: want table, csv or json", p.format)
	}
	for _, n := range []struct {
		flag string
		goes bool
		with string
	}{
		{"max-if", p.ask.Rules || p.rulesCSV != "", "--rules"},
		{"min-confidence", p.ask.Rules || p.rulesCSV != "", "--rules"},
		{"seed", p.ask.Significance > 0, "--significance"},
		{"null", p.ask.Significance > 0, "--significance"},
		{"adjust", p.ask.Significance > 0, "--significance"},
		{"bandwidth", p.ask.Significance > 0, "--significance"},
		{"alternative", p.ask.Significance > 0, "--significance"},
		{"level", p.ask.Hierarchy != "", "--hierarchy"},
	} {
		if flags.Changed(n.flag) && !n.goes {
			return usagef("--%s needs %s", n.flag, n.with)
		}
	}
	ask := p.ask
	ask.Rules = ask.Rules || p.rulesCSV != ""
	return asFlags(api.MineQuestion, ask.Check())
}

// dashes counts the files that are standard output.
func dashes(files ...string) (n int) {
	for _, f := range files {
		if f == "-" {
			n++
		}
	}
	return n
}

// mapped reports whether a flag asks for a map.
func (p *placesFlags) mapped() bool {
	return p.svg != "" || p.html != "" || p.geojson != "" || p.geopackage != ""
}

func (p *placesFlags) run(a *app, cmd *cobra.Command, paths []string) (err error) {
	if err := p.check(cmd.Flags()); err != nil {
		return err
	}
	if err := canWrite(p.svg, p.html, p.geojson, p.geopackage, p.rulesCSV, p.out); err != nil {
		return err
	}
	defer boundHeap(a.memory)()
	ctx := cmd.Context()
	measured := a.meter(a.stats)
	in, err := a.readPoints(ctx, &p.ask.PointsReading, 2, paths)
	if err != nil {
		return err
	}
	if err := checkDegrees(a, in, p.ask.Distance.List...); err != nil {
		return err
	}
	if p.geojson != "" { // fail before the work begins
		if err := coloc.CanWriteGeoJSON(in.CRS); err != nil {
			return err
		}
	}
	ask := p.ask
	ask.Rules = ask.Rules || p.rulesCSV != ""
	none, parts := 0, 0
	answer, err := ask.Do(ctx, a.places(in), func(m *api.Mined) error {
		parts++
		p.summarise(a, m, &none)
		return p.draw(ctx, a, m)
	})
	if err != nil {
		return asFlags(api.MineQuestion, err)
	}
	p.nothing(a, none, parts)
	return p.print(a, in, answer, measured(int64(in.Len()), perPoints))
}

// places returns points with the engine for questions about them.
func (a *app) places(in *points.Input) *api.Places {
	return &api.Places{Set: in.Set, Engine: a.engine, Device: a.gpu, Also: a.alsoGPUs(),
		Threads: a.threads, Memory: int64(a.memory),
		Log: a.log, Progress: a.stages(), Tell: func(note string) { a.summary("%s", note) }, Named: option.Flags}
}

// askPlaces answers a question about the points in files, which become those in the study area.
func askPlaces[A any](a *app, cmd *cobra.Command, q *api.Question, ask any, paths []string) (
	in *points.Input, answer A, err error) {
	if err := api.Check(ask); err != nil {
		return nil, answer, asFlags(q, err)
	}
	defer boundHeap(a.memory)()
	if in, err = a.readPoints(cmd.Context(), api.PointsReadingOf(ask), 2, paths); err != nil {
		return nil, answer, err
	}
	if near, ok := ask.(*api.Pairs); ok {
		if err := checkDegrees(a, in, near.Distance); err != nil {
			return nil, answer, err
		}
	}
	on := a.places(in)
	found, err := q.AskPlaces(cmd.Context(), on, ask)
	if in.Set = on.Set; err != nil {
		return nil, answer, asFlags(q, err)
	}
	return in, found.(A), nil
}

// summarise prints what was mined in a part of the map. Parts without patterns are counted in none.
func (p *placesFlags) summarise(a *app, m *api.Mined, none *int) {
	part := ""
	if m.Report.Region != "" {
		part = m.Report.Region + ": "
	}
	a.summary("%s%s: %s of %s, %s (%s)", part, what(m.Distance, p.ask.KNN, m.Points.CRS),
		counted(m.Points.Len(), "point"), counted(len(m.Points.Features), "feature"),
		counted(len(m.Report.Patterns), "pattern"), m.Result.Engine)
	switch {
	case m.Points.Len() == 0:
		a.summary("no points in the input")
	case len(m.Points.Features) == 1:
		a.summary("a pattern needs two features, and all points have the same: check --feature")
	case len(m.Report.Patterns) == 0:
		*none++
	}
	if m.Tested != "" {
		a.summary("%ssignificance: %s of null %s (%s)%s", part, counted(p.ask.Significance, "round"), p.ask.Null, m.Tested,
			after("; ", points.Fit(m.Report.Null, m.Report.StudyArea, m.Report.Bandwidth, m.Report.Unit)))
	}
}

// after returns a text after a separator, and "" for "".
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}

// nothing advises if some parts of the map, or the only one, have no patterns.
func (p *placesFlags) nothing(a *app, none, parts int) {
	if none == 0 {
		return
	}
	where := "no pattern has"
	if parts > 1 {
		where = fmt.Sprintf("in %d of %s no pattern has", none, counted(parts, "part"))
	}
	advice := "lower --min-prevalence or increase --distance or --knn"
	if p.ask.Significance > 0 && p.ask.Alternative != coloc.Attraction {
		advice += "; features that avoid each other are found by 'collocate places curve' and 'collocate places pairs', which compare all pairs"
	}
	a.summary("%s a participation index of %v or more: %s", where, p.ask.MinPrevalence, advice)
}

// draw writes the maps.
func (p *placesFlags) draw(ctx context.Context, a *app, m *api.Mined) error {
	if p.geojson != "" {
		err := a.writeTo(p.geojson, func(w io.Writer) error { return m.Survey.WriteGeoJSON(ctx, w, m.Result.Patterns, m.Report) })
		if err != nil {
			return fmt.Errorf("write GeoJSON: %w", err)
		}
	}
	if p.geopackage != "" {
		err := atomicfile.WriteFile(p.geopackage,
			func(f *atomicfile.File) error {
				return m.Survey.WriteGeoPackage(ctx, f.OS(), m.Result.Patterns, m.Report)
			})
		if err != nil {
			return fmt.Errorf("write GeoPackage: %w", err)
		}
	}
	if p.html != "" {
		err := a.writeTo(p.html, func(w io.Writer) error { return m.Survey.WriteHTML(ctx, w, m.Result.Patterns, m.Report) })
		if err != nil {
			return fmt.Errorf("draw the page: %w", err)
		}
	}
	if p.svg != "" {
		err := a.writeTo(p.svg, func(w io.Writer) error { return m.Survey.WriteSVG(ctx, w, m.Result.Best(6)) })
		if err != nil {
			return fmt.Errorf("draw the map: %w", err)
		}
	}
	return nil
}

// tableWriter returns the writer for the format of the file's ending, or nil if there is none.
func tableWriter(path string) func(w io.Writer, reports ...*coloc.Report) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return coloc.WriteCSV
	case ".parquet":
		return coloc.WriteParquet
	case ".json":
		return func(w io.Writer, reports ...*coloc.Report) error {
			e := json.NewEncoder(w)
			e.SetEscapeHTML(false)
			return e.Encode(map[string]any{"runs": reports})
		}
	}
	return nil
}

// writeTo writes a file, or standard output for "-".
func (a *app) writeTo(path string, fill func(w io.Writer) error) error {
	if path == "-" {
		return fill(a.stdout)
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error { return fill(f) })
}

// what describes a neighbourhood: its distance, its number of nearest points, or both.
func what(distance float64, knn int, crs *points.CRS) string {
	switch {
	case knn == 0:
		return "distance " + withUnit(distance, crs)
	case distance == 0:
		return fmt.Sprintf("%d nearest", knn)
	}
	return fmt.Sprintf("%d nearest within %s", knn, withUnit(distance, crs))
}

func (p *placesFlags) print(a *app, in *points.Input, answer *api.MineAnswer,
	used *energyUse) error {
	reports := answer.Reports()
	if p.rulesCSV != "" {
		if err := a.writeTo(p.rulesCSV,
			func(w io.Writer) error { return coloc.WriteRulesCSV(w, reports...) }); err != nil {
			return fmt.Errorf("write rules: %w", err)
		}
		for _, r := range reports {
			if !p.ask.Rules {
				r.Rules = nil
			}
		}
	}
	if p.out != "" {
		if err := a.writeTo(p.out, func(w io.Writer) error { return tableWriter(p.out)(w, reports...) }); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	if !a.json && p.format != "json" {
		a.printEnergy(used)
	}
	switch {
	case dashes(p.svg, p.geojson, p.html) > 0:
		return nil // standard output has the table
	case a.json || p.format == "json":
		answer.Engine = ""
		return a.printJSON(struct {
			*api.MineAnswer
			Energy *energyUse `json:"energy,omitempty"`
		}{answer, used})
	case p.format == "csv":
		return coloc.WriteCSV(a.stdout, reports...)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		if len(reports) > 1 || r.Region != "" {
			title := "Distance " + withUnit(r.Distance, in.CRS)
			if r.Region != "" {
				title += ", " + r.Region
			}
			fmt.Fprintln(a.stdout, title)
		}
		if err := r.WriteTable(a.stdout); err != nil {
			return err
		}
	}
	return nil
}
