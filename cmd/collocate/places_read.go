package main

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/points"
)

// addReading adds the flags for reading points to a verb that asks no question about them.
func addReading(cmd *cobra.Command, r *api.PointsReading) {
	addFlags(cmd, api.PointsReadingQuestion, r)
}

// readPoints reads the files, or standard input for "-", and notes what was guessed. The points may
// take a share of --memory.
func (a *app) readPoints(ctx context.Context, r *api.PointsReading, share int64, paths []string) (*points.Input, error) {
	opt, err := r.Options()
	if err != nil {
		return nil, asFlags(api.PointsReadingQuestion, err)
	}
	opt.Memory = int64(a.memory) / share
	if a.watched() {
		of := int64(-1)
		opt.Progress = func(done, total int64) {
			if total != of { // another file
				a.endProgress()
			}
			of = total
			a.bars.show(a, "reading", done, total, true)
		}
		defer a.endProgress()
	}
	var in *points.Input
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
	if left := in.LeftOut(); left != "" {
		a.summary("%s", left)
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
func checkDegrees(a *app, in *points.Input, distances ...float64) error {
	if in.CRS == points.Plane || !in.LooksGeographic() {
		return nil
	}
	width := slices.Max(in.X) - slices.Min(in.X)
	depth := slices.Max(in.Y) - slices.Min(in.Y)
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

// readServed reads the points of a server, in their study area.
func (a *app) readServed(ctx context.Context, s *api.Served, path string) (*points.Input, error) {
	in, err := a.readPoints(ctx, &s.PointsReading, 2, []string{path})
	if err != nil {
		return nil, err
	}
	on := a.places(in)
	if err := s.In(ctx, on); err != nil {
		return nil, asFlags(api.ServedQuestion, err)
	}
	in.Set = on.Set
	return in, nil
}

// readingFlags returns the flags for reading points that the user has set, as a command line:
// 'collocate places' with them reads the same points. It refuses them without --points.
func readingFlags(cmd *cobra.Command, points string) (string, error) {
	var reading []string
	for _, p := range api.ServedQuestion.Params() {
		name := p.Flag
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
			value := flag.Value.String()
			if list, ok := flag.Value.(pflag.SliceValue); ok {
				value = strings.Join(list.GetSlice(), ",")
			}
			reading = append(reading, "--"+name+" "+shellWord(value))
		}
	}
	return strings.Join(reading, " "), nil
}

// shellWord quotes a word of a command line, if it must be.
func shellWord(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"\\$&;|<>()*?[]#~`!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
