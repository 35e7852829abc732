package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/atomicfile"
)

// placesFlags are the flags of `collocate places`.
type placesFlags struct {
	read      coloc.ReadOptions
	distances []float64
	opt       coloc.Options
	algorithm string
	format    string

	rules         bool
	maxIf         int
	minConfidence float64
	instances     int
	significance  int
	seed          uint64
	geojson       string
	svg           string
	top           int
}

func newPlacesCmd(a *app) *cobra.Command {
	var p placesFlags
	cmd := &cobra.Command{
		Use:   "places POINTS",
		Short: "Find kinds of places that are often together",
		Long: `Finds the maximal sets of features (kinds of places) whose points are often
mutual neighbours. POINTS is a CSV or TSV table with a header, GeoJSON, Parquet
or GeoParquet, plain or compressed; - reads standard input.

Points are neighbours at a distance of at most --distance. An instance of a set
is one point of each of its features, all neighbours of one another. The
participation index of a set is the least share, over its features, of points
that occur in an instance. Sets that reach --min-prevalence and have no larger
one that does are printed, ordered by length, then by names. A feature with one
or two points easily reaches any share: --min-points leaves such features out.`,
		GroupID:     groupPlaces,
		Annotations: hasGPU,
		Args:        cobra.ExactArgs(1),
		Example: `  collocate places shops.csv --distance 150 --min-prevalence 0.3
  collocate places poi.csv --geographic --distance 100,200,400 --min-prevalence 0.2
  collocate places poi.csv --geographic -d 100 -p 0.3 --min-points 20
  collocate places trees.csv --knn 5 --min-prevalence 0.25 --all --json
  collocate places shops.csv -d 150 -p 0.3 --rules --significance 99 --svg map.svg
  collocate places poi.csv --geographic -d 100,200,400 -p 0.1 --engine gpu --gpu-memory 8GB`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args[0]) },
	}
	f := cmd.Flags()
	readFlags(cmd, &p.read)
	f.Float64SliceVarP(&p.distances, "distance", "d", nil, "neighbours are at most `D` apart; several, such as 50,100, are mined one after the other")
	f.Lookup("distance").DefValue = "" // not "[]"
	f.IntVar(&p.opt.KNN, "knn", 0, "neighbours are one of the other's `K` nearest (and within --distance if given)")
	f.Float64VarP(&p.opt.MinPrevalence, "min-prevalence", "p", 0, "least participation index, more than 0 and at most 1")
	f.BoolVar(&p.opt.All, "all", false, "print all prevalent patterns, not only the maximal ones")
	f.StringVar(&p.algorithm, "algorithm", "auto", "auto, sgct or joinless; all give the same result")
	f.StringVar(&p.format, "format", "table", "table, csv or json")
	f.BoolVar(&p.rules, "rules", false, "also print co-location rules with their conditional probability")
	f.IntVar(&p.maxIf, "max-if", 0, "with --rules: at most so many features before the arrow (0: any number)")
	f.Float64Var(&p.minConfidence, "min-confidence", 0, "with --rules: least conditional probability")
	f.IntVar(&p.instances, "instances", 0, "also list the first `N` instances of each pattern")
	f.IntVar(&p.significance, "significance", 0, "test each pattern against `R` random relabellings (a p-value)")
	f.Uint64Var(&p.seed, "seed", 1, "with --significance: seed of the relabellings")
	f.StringVar(&p.geojson, "geojson", "", "write participating points and edges of instances to `FILE`")
	f.StringVar(&p.svg, "svg", "", "draw a map of the best patterns (up to six) to `FILE`")
	f.IntVar(&p.top, "top", 0, "in --geojson and --svg: only the `N` best patterns, longest first (0: all, six in a picture)")
	choices(cmd, map[string][]string{"algorithm": {"auto", "sgct", "joinless"}, "format": {"table", "csv", "json"}})
	cmd.AddCommand(newPlacesPairsCmd(a))
	return cmd
}

// readFlags are those that say how points are read.
func readFlags(cmd *cobra.Command, r *coloc.ReadOptions) {
	f := cmd.Flags()
	f.StringVar(&r.X, "x", "", "column of x or longitude, by name or number (guessed)")
	f.StringVar(&r.Y, "y", "", "column of y or latitude (guessed)")
	f.StringVar(&r.Feature, "feature", "", "column or property of the feature (guessed)")
	f.BoolVar(&r.Geographic, "geographic", false, "positions are longitude and latitude, distances are metres along the great circle")
	f.IntVar(&r.MinPoints, "min-points", 1, "leave out features with fewer than `N` points")
	f.BoolVar(&r.SkipBad, "skip-bad", false, "leave out rows without a valid position or feature, instead of stopping")
}

// readPoints reads the file, or standard input for "-".
func readPoints(a *app, path string, opt coloc.ReadOptions) (*coloc.Input, error) {
	if opt.MinPoints < 1 {
		return nil, usagef("--min-points %d: want at least 1", opt.MinPoints)
	}
	var in *coloc.Input
	var err error
	if path == "-" {
		if in, err = coloc.Read(a.stdin, opt); err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
	} else {
		in, err = coloc.ReadFile(path, opt)
	}
	if err != nil {
		return nil, err
	}
	if in.Skipped > 0 {
		a.summary("%d bad rows left out", in.Skipped)
	}
	if in.Rare > 0 {
		a.summary("%d points of features with fewer than %d left out", in.Rare, opt.MinPoints)
	}
	if !opt.Geographic && in.LooksGeographic() {
		a.summary("positions look like longitude and latitude, but distances are taken in the plane: add --geographic for metres")
	}
	a.log.Info("points read", "points", in.Len(), "features", len(in.Features), "format", in.Format, "columns", strings.Join(in.Columns[:], ","))
	return in, nil
}

func (p *placesFlags) check(flags *pflag.FlagSet) error {
	switch {
	case p.opt.MinPrevalence == 0:
		return usagef("--min-prevalence is missing: the least participation index, such as 0.3")
	case !(p.opt.MinPrevalence > 0 && p.opt.MinPrevalence <= 1):
		return usagef("--min-prevalence %v: want more than 0 and at most 1", p.opt.MinPrevalence)
	case p.opt.KNN < 0:
		return usagef("--knn %d: want at least 1", p.opt.KNN)
	case len(p.distances) == 0 && p.opt.KNN == 0:
		return usagef("say who is a neighbour with --distance or --knn")
	case len(p.distances) > 1 && (p.geojson != "" || p.svg != ""):
		return usagef("--geojson and --svg show one distance: give one")
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
		{"max-if", p.rules, "--rules"}, {"min-confidence", p.rules, "--rules"}, {"seed", p.significance > 0, "--significance"},
		{"top", p.geojson != "" || p.svg != "", "--geojson or --svg"},
	} {
		if flags.Changed(n.flag) && !n.goes {
			return usagef("--%s goes with %s", n.flag, n.with)
		}
	}
	for _, d := range p.distances {
		if !(d >= 0) {
			return usagef("--distance %v: want 0 or more", d)
		}
	}
	switch p.algorithm {
	case "auto", "sgct", "joinless":
	default:
		return usagef("--algorithm %q: want auto, sgct or joinless", p.algorithm)
	}
	return nil
}

func (p *placesFlags) run(a *app, cmd *cobra.Command, path string) (err error) {
	if err := p.check(cmd.Flags()); err != nil {
		return err
	}
	if err := canWrite(p.svg, p.geojson); err != nil {
		return err
	}
	in, err := readPoints(a, path, p.read)
	if err != nil {
		return err
	}
	opt := p.opt
	opt.Geographic = p.read.Geographic
	opt.Algorithm = coloc.Algorithm(p.algorithm)
	opt.Engine, opt.Threads, opt.Memory, opt.Log = a.engine, a.threads, int64(a.memory), a.log
	opt.GPU = a.gpu
	if a.engine == engine.GPU { // one for all distances
		if opt.Device, err = coloc.OpenGPU(a.gpu); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opt.Device.Close()) }()
	}
	distances := p.distances
	if len(distances) == 0 {
		distances = []float64{0}
	}
	var reports []*coloc.Report
	for _, d := range distances {
		opt.Distance = d
		r, err := p.mine(cmd.Context(), a, in, opt)
		if err != nil {
			return err
		}
		if len(distances) > 1 {
			r.Distance = d
		}
		reports = append(reports, r)
	}
	return p.print(a, reports)
}

// mine is one run: one distance.
func (p *placesFlags) mine(ctx context.Context, a *app, in *coloc.Input, opt coloc.Options) (*coloc.Report, error) {
	s, err := coloc.NewSurvey(in.Points, opt)
	if err != nil {
		return nil, err
	}
	res, err := s.Mine(ctx)
	if err != nil {
		return nil, err
	}
	a.summary("%s: %s of %s, %s (%s)", what(opt.Distance, opt.KNN), counted(in.Len(), "point"), counted(len(in.Features), "feature"), counted(len(res.Patterns), "pattern"), res.Engine)
	switch {
	case in.Len() == 0:
		a.summary("there are no points in the file")
	case len(in.Features) == 1:
		a.summary("a pattern needs two features, and all points are of one: is --feature the right column?")
	case len(res.Patterns) == 0:
		a.summary("no set reaches an index of %v: lower --min-prevalence or widen the neighbourhood", opt.MinPrevalence)
	}
	r := coloc.NewReport(in.Points, res)
	if p.significance > 0 {
		values, err := s.Significance(ctx, res.Patterns, p.significance, p.seed)
		if err != nil {
			return nil, err
		}
		for i := range values {
			r.Patterns[i].PValue = &values[i]
		}
	}
	for i := range res.Patterns {
		if p.instances == 0 {
			break
		}
		list, err := s.Instances(ctx, res.Patterns[i], p.instances)
		if err != nil {
			return nil, err
		}
		r.AddInstances(in.Points, i, list)
	}
	if p.rules {
		rules, err := s.Rules(ctx, res.Patterns, p.maxIf, p.minConfidence)
		if err != nil {
			return nil, err
		}
		r.AddRules(in.Points, rules)
	}
	best := res.Patterns
	if p.top > 0 {
		best = res.Best(p.top)
	}
	if p.geojson != "" {
		err := atomicfile.WriteFile(p.geojson, func(f *atomicfile.File) error { return s.WriteGeoJSON(ctx, f, best) })
		if err != nil {
			return nil, fmt.Errorf("writing GeoJSON: %w", err)
		}
	}
	if p.svg != "" {
		panels := 6
		if p.top > 0 {
			panels = min(panels, p.top)
		}
		err := atomicfile.WriteFile(p.svg, func(f *atomicfile.File) error { return s.WriteSVG(ctx, f, res.Best(panels)) })
		if err != nil {
			return nil, fmt.Errorf("drawing the map: %w", err)
		}
	}
	return r, nil
}

// what names a neighbourhood.
func what(distance float64, knn int) string {
	switch {
	case knn == 0:
		return fmt.Sprintf("distance %v", distance)
	case distance == 0:
		return fmt.Sprintf("%d nearest", knn)
	}
	return fmt.Sprintf("%d nearest within %v", knn, distance)
}

func (p *placesFlags) print(a *app, reports []*coloc.Report) error {
	if a.json || p.format == "json" {
		if len(reports) == 1 {
			return a.printJSON(reports[0])
		}
		return a.printJSON(map[string]any{"runs": reports})
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		var err error
		if p.format == "csv" {
			err = r.WriteCSV(a.stdout)
		} else {
			if len(reports) > 1 {
				fmt.Fprintf(a.stdout, "Distance %v\n", r.Distance)
			}
			err = r.WriteTable(a.stdout)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
