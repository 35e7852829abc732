package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/points"
)

// summaryShare is how many times the memory of the points a summary takes: the points, their order
// by position, and two grids of them.
const summaryShare = 5

func newPlacesSummaryCmd(a *app) *cobra.Command {
	var ask api.Summary
	cmd := &cobra.Command{
		Use:   "summary POINTS...",
		Short: "Describe points before they are mined",
		Long: `Print the numbers of points and features, their extent and unit, likely faults in positions,
distances between neighbours, and the distances worth mining: between the median distance to the
nearest other position, below which most points have no neighbour, and that to the eighth
nearest, above which most points have many of any kind. --distance auto uses that to the fourth
nearest.`,
		Args: cobra.MinimumNArgs(1),
		Example: `  collocate places summary poi.geojson
  collocate places summary trees.shp --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer boundHeap(a.memory)()
			in, err := a.readPoints(cmd.Context(), &ask.PointsReading, summaryShare, args)
			if err != nil {
				return err
			}
			s, err := ask.Do(cmd.Context(), a.places(in))
			if err != nil {
				return asFlags(api.SummaryQuestion, err)
			}
			if a.json {
				return a.printJSON(s)
			}
			return printSummary(a, in, s)
		},
	}
	addFlags(cmd, api.SummaryQuestion, &ask)
	return cmd
}

func printSummary(a *app, in *points.Input, s *points.Summary) error {
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	unit := s.Unit
	if unit == "" {
		unit = "units"
	}
	row("points", "%d at %d positions (%s)", s.Points, s.Positions, in.Format)
	var names []string
	for i, f := range s.Features {
		if i == 5 {
			names = append(names, "...")
			break
		}
		names = append(names, fmt.Sprintf("%s %d", f.Name, f.Points))
	}
	row("features", "%d: %s", len(s.Features), strings.Join(names, ", "))
	row("reference system", "%s", s.CRS)
	var extent [4]any
	for i, v := range s.Extent {
		extent[i] = strconv.FormatFloat(v, 'f', -1, 64) // %v writes 6e+06 from millions on
	}
	row("extent", "%s, %s to %s, %s", extent[:]...)
	row("size", "%.6g x %.6g %s", s.Width, s.Depth, unit)
	if in.Time != nil {
		row("time", "%s to %s, %.4g days: %s", utc(s.TimeSpan[0]), utc(s.TimeSpan[1]),
			float64(s.TimeSpan[1]-s.TimeSpan[0])/86400, counted(s.Times, "different time"))
	}
	if s.Nearest != nil {
		row("nearest other position", "%.4g, %.4g, %.4g %s (quartiles)", s.Nearest[0], s.Nearest[1], s.Nearest[2], unit)
		for _, n := range s.Near {
			row("neighbours within "+fmt.Sprintf("%v %s", n.Distance, unit),
				"%.4g on average, %.4g at the median", n.Mean, n.Median)
		}
		row("distances worth mining",
			"%v to %v %s, such as %v: half of all points have a neighbour from %v on, and eight at %v",
			s.Low, s.High, unit, s.Suggested, s.Low, s.High)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, w := range s.Warnings {
		if i == 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintf(a.stdout, "look at: %s\n", w)
	}
	return nil
}

func utc(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.DateTime) }
