package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/points"
)

// placesFlags are the flags of `collocate places`.
type placesFlags struct {
	points    pointFlags
	part      partFlags
	distance  string
	distances []float64
	opt       coloc.Options
	format    string

	rules         bool
	rulesCSV      string
	maxIf         int
	minConfidence float64
	instances     int
	significance  int
	seed          uint64
	null          points.Null
	bandwidth     float64
	adjust        coloc.Adjust
	geojson       string
	geopackage    string
	svg           string
	out           string
	top           int
}

// autoDistance is the distance that a summary suggests.
const autoDistance = "auto"

func newPlacesCmd(a *app) *cobra.Command {
	var p placesFlags
	cmd := &cobra.Command{
		Use:   "places POINTS...",
		Short: "Find kinds of places that are often together",
		Long: `Find the maximal sets of features (kinds of places) whose points are often
mutual neighbours. POINTS are files or folders: CSV or TSV with a header, GeoJSON,
GeoJSONSeq, Parquet, GeoParquet, Shapefile, GeoPackage or GPX waypoints; - reads
standard input.

Distances of longitudes and latitudes are metres; others are in the unit of the
positions' reference system, which the file or --crs names.

Points are neighbours at a distance of at most --distance. An instance of a set
is one point of each of its features, all neighbours of one another. The
participation index of a set is the least share, over its features, of points
that occur in an instance. Sets that reach --min-prevalence and have no larger
one that does are printed, ordered by length, then by names. A feature with one
or two points easily reaches any share: --min-points leaves such features out.

--significance compares each index with random rounds of a null model, in which features are
independent of each other. --null shift (the default) moves each feature as a whole and keeps
its own clustering; relabel, cluster and inhomogeneous are described in 'places curve --help'. q
corrects for all sets of a pattern's size that could have been found. With --engine gpu the
rounds run there, too: hundreds at once for pairs in a plane, otherwise one after the other.`,
		GroupID:     groupPlaces,
		Annotations: hasGPU,
		Args:        cobra.MinimumNArgs(1),
		Example: `  collocate places shops.csv --distance 150 --min-prevalence 0.3
  collocate places poi.csv --distance 100,200,400 --min-prevalence 0.2
  collocate places poi.geojson -d 100 -p 0.3 --min-points 20
  collocate places poi.geojson --distance auto -p 0.3 --svg map.svg
  collocate places trees.csv --knn 5 --min-prevalence 0.25 --all --json
  collocate places shops.csv -d 150 -p 0.3 --rules --significance 99 --svg map.svg
  collocate places poi.gpkg -d 100,200,400 -p 0.1 --engine gpu --gpu-memory 8GB`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	f := cmd.Flags()
	p.points.add(cmd)
	p.part.add(cmd)
	f.StringVarP(&p.distance, "distance", "d", "",
		"neighbours are at most `D` apart, 0: at the same position; several, such as 50,100, are mined one after the other; auto: as places summary suggests")
	f.IntVar(&p.opt.KNN, "knn", 0, "points are neighbours if one is among the `K` nearest of the other (and within --distance if given)")
	f.Float64VarP(&p.opt.MinPrevalence, "min-prevalence", "p", 0,
		"least participation index, above 0 and at most 1")
	f.BoolVar(&p.opt.All, "all", false, "print all prevalent patterns, not only the maximal ones")
	f.Var(textFlag{&p.opt.Algorithm, "algorithm"}, "algorithm",
		"auto, sgct, joinless, icpi (iCPI-tree) or miner (Co-location Miner); all give the same result")
	f.StringVar(&p.format, "format", "table", "table, csv or json")
	f.BoolVar(&p.rules, "rules", false, "also print co-location rules with their conditional probability")
	f.StringVar(&p.rulesCSV, "rules-csv", "", "write co-location rules as CSV to `FILE`")
	f.IntVar(&p.maxIf, "max-if", 0, "with --rules: at most this many features before the arrow (0: any number)")
	f.Float64Var(&p.minConfidence, "min-confidence", 0, "with --rules: least conditional probability")
	f.IntVar(&p.instances, "instances", 0, "also list the first `N` instances of each pattern")
	f.IntVar(&p.significance, "significance", 0,
		"compare each pattern with `R` rounds of a null model: expected index, ratio, p and q")
	f.Uint64Var(&p.seed, "seed", 1, "with --significance: seed of the null model")
	nullFlag(cmd, &p.null, &p.bandwidth)
	f.Var(textFlag{&p.adjust, "adjustment"}, "adjust",
		"with --significance: q by fdr (Benjamini-Hochberg) or max (Westfall-Young)")
	f.StringVar(&p.geojson, "geojson", "",
		"write participating points and edges of instances, in WGS 84, to `FILE` (-: standard output)")
	f.StringVar(&p.geopackage, "geopackage", "",
		"write participating points, edges of instances and patterns as layers of a GeoPackage `FILE`")
	f.StringVar(&p.svg, "svg", "", "draw a map of the best patterns (up to six) to `FILE` (-: standard output)")
	f.StringVarP(&p.out, "out", "o", "", "also write the patterns as a table to `FILE`: .csv, .parquet or .json")
	f.IntVar(&p.top, "top", 0,
		"in --geojson, --geopackage and --svg: only the `N` best patterns, longest first (0: all, six in a picture)")
	choices(cmd, map[string][]string{"algorithm": coloc.Algorithms(),
		"format": {"table", "csv", "json"}, "adjust": coloc.Adjusts()})
	cmd.AddCommand(newPlacesSummaryCmd(a), newPlacesCurveCmd(a), newPlacesPairsCmd(a),
		newPlacesCoOccurrenceCmd(a), newPlacesEnrichmentCmd(a))
	return cmd
}

func (p *placesFlags) check(flags *pflag.FlagSet) error {
	p.distances = nil
	if p.distance != "" && p.distance != autoDistance {
		for _, text := range strings.Split(p.distance, ",") {
			d, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				return usagef("--distance %q: want numbers, with commas between them, or auto", p.distance)
			}
			p.distances = append(p.distances, d)
		}
	}
	switch {
	case p.opt.MinPrevalence == 0:
		return usagef("--min-prevalence is missing: the least participation index, such as 0.3")
	case !(p.opt.MinPrevalence > 0 && p.opt.MinPrevalence <= 1):
		return usagef("--min-prevalence %v: want more than 0 and at most 1", p.opt.MinPrevalence)
	case p.opt.KNN < 0:
		return usagef("--knn %d: want at least 1", p.opt.KNN)
	case p.distance == "" && p.opt.KNN == 0:
		return usagef("want --distance or --knn, to say which points are neighbours")
	case len(p.distances) > 1 && p.mapped():
		return usagef("--geojson, --geopackage and --svg show one distance: give only one")
	case p.geopackage == "-":
		return usagef("--geopackage -: a GeoPackage cannot be written to standard output; name a file")
	case p.svg == "-" && p.geojson == "-":
		return usagef("--svg - and --geojson -: only one of them can be written to standard output")
	case p.part.regions != "" && p.mapped():
		return usagef("--svg, --geojson and --geopackage show all points: leave out --regions")
	case p.part.level != allLevels && !isPositive(p.part.level):
		return usagef("--level %s: want a number of levels, at least 1, or all", p.part.level)
	case p.part.level == allLevels && p.opt.KNN > 0:
		return usagef("--level all needs --distance, not --knn: a point of several levels would be its own nearest neighbour")
	case (p.part.within == "") != (p.points.opt.Time == ""):
		return usagef("--time and --within go together: the column of times, and the largest difference between neighbours")
	case p.out != "" && tableWriter(p.out) == nil:
		return usagef("--out %s: want a name that ends in .csv, .parquet or .json", p.out)
	case p.format == "csv" && p.instances > 0:
		return usagef("--instances needs --format table or json: CSV is one table of patterns")
	case p.format == "csv" && p.rules:
		return usagef("--rules needs --format table or json; for CSV use --rules-csv FILE")
	case p.format != "table" && p.format != "csv" && p.format != "json":
		return usagef("--format %q: want table, csv or json", p.format)
	}
	if err := notNegative(flags, "instances", "significance", "top", "max-if"); err != nil {
		return err
	}
	for _, n := range []struct {
		flag string
		goes bool
		with string
	}{
		{"max-if", p.rules || p.rulesCSV != "", "--rules"},
		{"min-confidence", p.rules || p.rulesCSV != "", "--rules"},
		{"seed", p.significance > 0, "--significance"},
		{"null", p.significance > 0, "--significance"},
		{"adjust", p.significance > 0, "--significance"},
		{"bandwidth", p.significance > 0, "--significance"},
		{"top", p.mapped(), "--geojson, --geopackage or --svg"},
	} {
		if flags.Changed(n.flag) && !n.goes {
			return usagef("--%s needs %s", n.flag, n.with)
		}
	}
	for _, d := range p.distances {
		if !(d >= 0) {
			return usagef("--distance %v: want 0 or more", d)
		}
		if d == 0 && p.opt.KNN > 0 {
			return usagef("--distance 0 and --knn: give only one; points at the same position are the nearest")
		}
	}
	return nil
}

// mapped reports whether a flag asks for a map.
func (p *placesFlags) mapped() bool { return p.svg != "" || p.geojson != "" || p.geopackage != "" }

// isPositive reports whether text is a whole number of at least 1.
func isPositive(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1
}

func (p *placesFlags) run(a *app, cmd *cobra.Command, paths []string) (err error) {
	if err := p.check(cmd.Flags()); err != nil {
		return err
	}
	if p.part.within != "" && a.engine == engine.GPU {
		return usagef("--within has no GPU engine: use --engine multicore")
	}
	if err := canWrite(p.svg, p.geojson, p.geopackage, p.rulesCSV, p.out); err != nil {
		return err
	}
	defer boundHeap(a.memory)()
	in, err := p.points.read(cmd.Context(), a, paths)
	if err != nil {
		return err
	}
	if err := checkDegrees(a, in, p.distances...); err != nil {
		return err
	}
	if err := p.part.choose(a, in); err != nil {
		return err
	}
	if p.geojson != "" { // fail before the work begins
		if err := coloc.CanWriteGeoJSON(in.CRS); err != nil {
			return err
		}
	}
	opt := p.opt
	opt.Engine, opt.Threads, opt.Memory, opt.Log = a.engine, a.threads, int64(a.memory), a.log
	opt.Device, opt.Progress = a.gpu, a.stages()
	if a.engine == engine.GPU { // opened once for all distances
		if opt.GPU, err = coloc.OpenGPU(a.gpu); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opt.GPU.Close()) }()
	}
	distances := p.distances
	if p.distance == autoDistance {
		s, err := points.Summarise(cmd.Context(), in.Set, a.threads)
		if err != nil {
			return err
		}
		a.summary("distance %s, the median to the fourth nearest position; distances worth mining are %v to %v", withUnit(s.Suggested, in.CRS), s.Low, s.High)
		distances = []float64{s.Suggested}
	}
	if len(distances) == 0 {
		distances = []float64{0}
	}
	if opt.Within, err = duration(p.part.within); err != nil {
		return err
	}
	parts, err := p.part.cut(a, in)
	if err != nil {
		return err
	}
	all := opt.All
	opt.All = all || p.part.level == allLevels // unrelated selects the maximal patterns later
	var reports []*coloc.Report
	for _, d := range distances {
		for _, region := range parts {
			if opt.Distance = d; d == 0 && opt.KNN == 0 {
				opt.Distance = coloc.SamePosition
			}
			r, err := p.mine(cmd.Context(), a, region.in, opt, len(parts), all)
			if err != nil {
				return err
			}
			r.Region, r.Distance, r.Unit = region.name, d, in.CRS.DistanceUnit()
			if region.name == "" || len(r.Patterns) > 0 {
				reports = append(reports, r)
			}
		}
	}
	return p.print(a, in, reports)
}

// mine finds the patterns of one distance.
func (p *placesFlags) mine(ctx context.Context, a *app, in *points.Input, opt coloc.Options,
	regions int, all bool) (*coloc.Report, error) {
	s, err := coloc.NewSurvey(in.Set, opt)
	if err != nil {
		return nil, err
	}
	res, err := s.Mine(ctx)
	if err != nil {
		return nil, err
	}
	if p.part.level == allLevels {
		p.part.unrelated(in, res, all)
	}
	keepWith(in, res, p.part.with)
	a.summary("%s: %s of %s, %s (%s)", what(max(opt.Distance, 0), opt.KNN, in.CRS),
		counted(in.Len(), "point"), counted(len(in.Features), "feature"),
		counted(len(res.Patterns), "pattern"), res.Engine)
	switch {
	case in.Len() == 0:
		a.summary("no points in the input")
	case len(in.Features) == 1:
		a.summary("a pattern needs two features, and all points have the same: check --feature")
	case len(res.Patterns) == 0:
		a.summary("no pattern has a participation index of %v or more: lower --min-prevalence or increase --distance or --knn", opt.MinPrevalence)
	}
	r := coloc.NewReport(in.Set, res)
	if p.significance > 0 {
		o := coloc.SignificanceOptions{Rounds: p.significance, Null: p.null,
			Bandwidth: p.bandwidth, Seed: p.seed, Adjust: p.adjust,
			Tell: func(where string) {
				a.summary("significance: %s of null %s (%s)",
					counted(p.significance, "round"), p.null, where)
			}}
		tests, err := s.Significance(ctx, res.Patterns, o)
		if err != nil {
			return nil, err
		}
		r.AddSignificance(tests, regions)
		p.reach(a, s, res)
	}
	for i := range res.Patterns {
		if p.instances == 0 {
			break
		}
		list, err := s.Instances(ctx, res.Patterns[i], p.instances)
		if err != nil {
			return nil, err
		}
		r.AddInstances(in.Set, i, list)
	}
	if p.rules || p.rulesCSV != "" {
		rules, err := s.Rules(ctx, res.Patterns, p.maxIf, p.minConfidence)
		if err != nil {
			return nil, err
		}
		r.AddRules(in.Set, rules)
	}
	best := res.Patterns
	if p.top > 0 {
		best = res.Best(p.top)
	}
	if p.geojson != "" {
		err := a.writeTo(p.geojson, func(w io.Writer) error { return s.WriteGeoJSON(ctx, w, best) })
		if err != nil {
			return nil, fmt.Errorf("write GeoJSON: %w", err)
		}
	}
	if p.geopackage != "" {
		err := atomicfile.WriteFile(p.geopackage,
			func(f *atomicfile.File) error { return s.WriteGeoPackage(ctx, f.OS(), best) })
		if err != nil {
			return nil, fmt.Errorf("write GeoPackage: %w", err)
		}
	}
	if p.svg != "" {
		panels := 6
		if p.top > 0 {
			panels = min(panels, p.top)
		}
		err := a.writeTo(p.svg, func(w io.Writer) error { return s.WriteSVG(ctx, w, res.Best(panels)) })
		if err != nil {
			return nil, fmt.Errorf("draw the map: %w", err)
		}
	}
	return r, nil
}

// reach prints a message if there are too few rounds for any q-value to reach 0.05.
func (p *placesFlags) reach(a *app, s *coloc.Survey, res *coloc.Result) {
	if p.adjust != coloc.FDR {
		return
	}
	found := make(map[int]int)
	for _, q := range res.Patterns {
		found[len(q.Features)]++
	}
	for size := range 64 {
		if found[size] > 0 {
			if least := s.LeastQ(p.significance, size, res.Patterns); least > 0.05 {
				a.summary("with %d rounds, q of patterns of size %d cannot be less than %.2g: use %d rounds or more, or --adjust max",
					p.significance, size, least, s.RoundsFor(0.05, size, res.Patterns))
			}
		}
	}
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

func (p *placesFlags) print(a *app, in *points.Input, reports []*coloc.Report) error {
	if p.rulesCSV != "" {
		if err := a.writeTo(p.rulesCSV,
			func(w io.Writer) error { return coloc.WriteRulesCSV(w, reports...) }); err != nil {
			return fmt.Errorf("write rules: %w", err)
		}
		for _, r := range reports {
			if !p.rules {
				r.Rules = nil
			}
		}
	}
	if p.out != "" {
		if err := a.writeTo(p.out, func(w io.Writer) error { return tableWriter(p.out)(w, reports...) }); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
	}
	switch {
	case p.svg == "-" || p.geojson == "-":
		return nil // standard output has the table
	case a.json || p.format == "json":
		if len(reports) == 1 {
			return a.printJSON(reports[0])
		}
		return a.printJSON(map[string]any{"runs": reports})
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
