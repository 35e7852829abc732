package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/points"
)

// pointFlags are the flags for reading points.
type pointFlags struct {
	opt        points.ReadOptions
	crs        string
	geographic bool
	planar     bool
}

func (p *pointFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	r := &p.opt
	f.StringVar(&r.X, "x", "", "column of x or longitude, by name or number (guessed)")
	f.StringVar(&r.Y, "y", "", "column of y or latitude (guessed)")
	f.StringVar(&r.Geometry, "geometry", "", "column of points as well-known text (guessed)")
	f.StringVar(&r.Feature, "feature", "", "column or property of the feature (guessed); @file: each file's name")
	f.StringVar(&r.Time, "time", "", "column or property of the time (not guessed)")
	f.StringSliceVar(&r.Columns, "columns", nil, "names of the columns of a table without a header, such as x,y,type")
	f.StringVar(&r.Layer, "layer", "", "layer of a GeoPackage with several")
	f.StringVar(&p.crs, "crs", "", "reference system of the positions, such as EPSG:25832, whatever the file says")
	f.BoolVar(&p.geographic, "geographic", false, "positions are longitude and latitude: the same as --crs EPSG:4326")
	f.BoolVar(&p.planar, "planar", false, "positions are plain numbers in a plane, whatever the file says")
	f.IntVar(&r.MinPoints, "min-points", 1, "leave out features with fewer than `N` points")
	f.BoolVar(&r.SkipBad, "skip-bad", false, "leave out rows without a valid position or feature, instead of stopping")
	cmd.MarkFlagsMutuallyExclusive("crs", "geographic", "planar")
}

// read reads the files, or standard input for "-", and notes what was guessed.
func (p *pointFlags) read(ctx context.Context, a *app, paths []string) (*points.Input, error) {
	opt := p.opt
	if opt.Memory == 0 { // growing slices hold the points twice
		opt.Memory = int64(a.memory) / 2
	}
	if opt.MinPoints < 1 {
		return nil, usagef("--min-points %d: want at least 1", opt.MinPoints)
	}
	switch {
	case p.geographic:
		opt.CRS = points.WGS84
	case p.planar:
		opt.CRS = points.Plane
	case p.crs != "":
		var err error
		if opt.CRS, err = points.ParseCRS(p.crs); err != nil {
			return nil, usagef("--crs: %w", err)
		}
	}
	var in *points.Input
	var err error
	switch {
	case len(paths) == 1 && paths[0] == "-":
		if in, err = points.Read(a.stdin, opt); err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
	case strings.Contains(" "+strings.Join(paths, " ")+" ", " - "):
		return nil, usagef("standard input (-) cannot be combined with files")
	default:
		in, err = points.ReadFiles(ctx, paths, opt)
	}
	if err != nil {
		return nil, err
	}
	for _, g := range in.Guesses {
		a.summary("%s", g)
	}
	if opt.X == "" && in.Columns[0] != "" && !in.CRS.Geographic() {
		a.summary("positions: columns %q and %q (others: --x and --y)", in.Columns[0], in.Columns[1])
	}
	if opt.Feature == "" && in.Columns[2] != "" {
		a.summary("feature: %q (another: --feature)", in.Columns[2])
	}
	if in.CRS != nil && in.CRS.EPSG == 3857 {
		a.summary("Web Mercator stretches distances away from the equator, to twice their length at 60 degrees: convert to a local system for true metres")
	}
	if in.Skipped > 0 {
		a.summary("left out %s", counted(in.Skipped, "bad row"))
	}
	if in.Rare > 0 {
		a.summary("left out %d points of features with fewer than %d points", in.Rare, opt.MinPoints)
	}
	a.log.Info("points read", "points", in.Len(), "features", len(in.Features), "format", in.Format,
		"columns", strings.Join(in.Columns[:], ","), "crs", in.CRS)
	return in, nil
}

// checkDegrees refuses distances that are larger than the extent of all points, if the positions
// look like longitudes and latitudes that were read as plane coordinates: the user means metres.
// Integer positions do not look like degrees.
func checkDegrees(a *app, in *points.Input, distances ...float64) error {
	if in.CRS.Geographic() || in.CRS == points.Plane || in.Len() < 2 {
		return nil
	}
	whole := true
	for i, x := range in.X {
		y := in.Y[i]
		if math.Abs(x) > 180 || math.Abs(y) > 90 {
			return nil
		}
		whole = whole && x == math.Trunc(x) && y == math.Trunc(y)
	}
	width := slices.Max(in.X) - slices.Min(in.X)
	depth := slices.Max(in.Y) - slices.Min(in.Y)
	if whole || width+depth == 0 {
		return nil
	}
	for _, d := range distances {
		if d > math.Hypot(width, depth) {
			return fmt.Errorf("--distance %v is more than the extent of all points, %.4g x %.4g, which look like "+
				"longitudes and latitudes: use --geographic, or --planar for plain numbers", d, width, depth)
		}
	}
	a.summary("positions look like longitudes and latitudes but are read as plain numbers: use --geographic, or --planar to keep that")
	return nil
}

// withUnit formats a distance with its unit, if that is known.
func withUnit(d float64, crs *points.CRS) string {
	if u := crs.DistanceUnit(); u != "" {
		return fmt.Sprintf("%v %s", d, u)
	}
	return fmt.Sprint(d)
}

// boundHeap sets the garbage collector's memory limit. Without it the heap grows to twice the live
// data.
func boundHeap(memory bytesize.Size) (restore func()) {
	old := debug.SetMemoryLimit(-1)
	if int64(memory) < old {
		debug.SetMemoryLimit(int64(memory))
	}
	return func() { debug.SetMemoryLimit(old) }
}

// readingFlags returns the flags of pointFlags that the user has set, as a command line: 'collocate
// places' with them reads the same points. It refuses them without --points.
func readingFlags(cmd *cobra.Command, points string) (string, error) {
	var reading []string
	for _, name := range []string{"x", "y", "geometry", "feature", "columns", "layer", "crs",
		"geographic", "planar", "min-points", "skip-bad"} {
		flag := cmd.Flags().Lookup(name)
		if !flag.Changed {
			continue
		}
		if points == "" {
			return "", usagef("--%s needs --points", name)
		}
		if flag.Value.Type() == "bool" {
			reading = append(reading, "--"+name)
		} else {
			reading = append(reading, fmt.Sprintf("--%s %s", name, strings.Trim(flag.Value.String(), "[]")))
		}
	}
	return strings.Join(reading, " "), nil
}
