package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/datagen"
)

func newGeneratePointsCmd(a *app) *cobra.Command {
	var out generateOutput
	var count countFlag
	var plant []string
	var patterns int
	var sizes string
	var prevalence float64
	var extent string
	var o datagen.PointOptions
	cmd := &cobra.Command{
		Use:   "points",
		Short: "Make points, evenly or in clusters, with planted co-location patterns",
		Long: `Make points of several features as CSV: feature,instance,x,y. Points are distributed uniformly,
or around --clusters centres.

A planted pattern A+B+C=0.6 puts 60% of the points of A, of B and of C into groups
of one point each that are mutual neighbours at --distance, so its participation index
is at least 0.6. --patterns plants several at once.`,
		Example: `  collocate generate points --count 65k --features 20 --clusters 2 -o points.csv
  collocate generate points --count 10k --plant A+B+C=0.6 --plant D+E=0.3 --distance 5
  collocate generate points --count 200k --features 50 --patterns 5 --pattern-size 3-6 --prevalence 0.4`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Count, o.Seed, o.Threads = int64(count), out.seed, a.textThreads()
			lo, hi, err := parseSizes(sizes)
			if err != nil {
				return err
			}
			if o.Features < 1 {
				return usagef("--features %d: want at least 1", o.Features)
			}
			if patterns < 0 || patterns > o.Features/2 {
				return usagef("--patterns %d: want 0 to %d, as each needs two of the %d features", patterns,
					o.Features/2, o.Features)
			}
			o.Patterns = datagen.Patterns(patterns, lo, hi, prevalence)
			for _, s := range plant {
				p, err := datagen.ParsePattern(s)
				if err != nil {
					return usagef("--plant: %w", err)
				}
				o.Patterns = append(o.Patterns, p)
			}
			if extent != "" {
				if o.Extent, err = parseExtent(extent); err != nil {
					return err
				}
			}
			return out.write(a, 0, func(w io.Writer) error { return datagen.Points(cmd.Context(), w, o) })
		},
	}
	out.addFlags(cmd)
	f := cmd.Flags()
	count = 10_000
	f.Var(&count, "count", "number of points")
	f.IntVar(&o.Features, "features", 10, "number of features: A to Z, AA, AB and so on")
	f.StringVar(&extent, "extent", "", "rectangle as minx,miny,maxx,maxy (default 0,0,1000,1000)")
	f.IntVar(&o.Clusters, "clusters", 0, "number of clusters; 0 distributes points uniformly")
	f.Float64Var(&o.Spread, "spread", 0, "standard deviation of a cluster (default a fiftieth of the shorter side)")
	f.Float64Var(&o.Noise, "noise", 0, "share of points that are distributed uniformly in any case")
	f.StringArrayVar(&plant, "plant", nil, "pattern to plant, such as A+B+C=0.6; may be given again")
	f.IntVar(&patterns, "patterns", 0, "number of patterns without common features to plant")
	f.StringVar(&sizes, "pattern-size", "3", "features of each of --patterns, such as 3 or 2-5")
	f.Float64Var(&prevalence, "prevalence", 0.5, "prevalence of each of --patterns")
	f.Float64Var(&o.Distance, "distance", 0,
		"neighbour distance of planted patterns (default a two-hundredth of the shorter side)")
	return cmd
}

// parseSizes parses "3" or "2-5".
func parseSizes(s string) (lo, hi int, err error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lo < 2 || hi < lo || hi > 1000 {
		return 0, 0, usagef("--pattern-size %s: want a number from 2 to 1000, or two such as 2-5", s)
	}
	return lo, hi, nil
}

func parseExtent(s string) (datagen.Rect, error) {
	var v [4]float64
	parts := strings.Split(s, ",")
	bad := len(parts) != len(v)
	for i := 0; i < len(v) && !bad; i++ {
		var err error
		v[i], err = strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		bad = err != nil
	}
	if bad || !(v[0] < v[2]) || !(v[1] < v[3]) {
		return datagen.Rect{}, usagef("--extent %s: want minx,miny,maxx,maxy, such as 0,0,1000,1000", s)
	}
	return datagen.Rect{MinX: v[0], MinY: v[1], MaxX: v[2], MaxY: v[3]}, nil
}
