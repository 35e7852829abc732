package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/points"
)

func newPlacesCoOccurrenceCmd(a *app) *cobra.Command {
	var p pointFlags
	var most float64
	var steps int
	var rings bool
	cmd := &cobra.Command{
		Use:   "co-occurrence POINTS...",
		Short: "Print the co-occurrence ratio of spatial omics for all pairs of features",
		Long: `Print, for every pair of features A and B and every distance, the share of B among the points
within that distance of points of A, divided by its share among the points within that distance of
any point: 1 means chance. This is the co-occurrence of spatial omics (squidpy's co_occurrence),
over all pairs of points up to the largest distance. The output is CSV.`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: hasGPU,
		Example:     `  collocate places co-occurrence cells.csv --max-distance 200 --steps 50`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(most > 0) || steps < 1 || steps > 10_000 {
				return usagef("--max-distance %v, --steps %d: want a distance above 0, and 1 to 10000 steps", most, steps)
			}
			defer boundHeap(a.memory)()
			in, err := p.read(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			got, err := points.CoOccurrences(cmd.Context(), in.Set, points.CoOccurrenceOptions{Most: most,
				Steps: steps, Rings: rings, Engine: a.statistics(), Memory: int64(a.memory)})
			if err != nil {
				return err
			}
			a.summary("%s of %s, %d pairs within %s", counted(in.Len(), "point"),
				counted(len(in.Features), "feature"), got.Pairs[steps-1], withUnit(most, in.CRS))
			if a.json {
				return a.printJSON(coOccurrenceJSON(in, got))
			}
			return writeCoOccurrence(a.stdout, in, got)
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.Float64VarP(&most, "max-distance", "d", 0, "largest distance")
	f.IntVar(&steps, "steps", 50, "number of distances, evenly spaced up to the largest")
	f.BoolVar(&rings, "rings", false, "count the pairs between one distance and the next, instead of all within each")
	return cmd
}

func writeCoOccurrence(w io.Writer, in *points.Input, got *points.CoOccurrence) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"of", "near", "distance", "ratio"}); err != nil {
		return err
	}
	for x, row := range got.Ratio {
		for y, values := range row {
			for r, v := range values {
				if err := c.Write([]string{in.Features[x], in.Features[y], number(got.Distances[r]),
					number(v)}); err != nil {
					return err
				}
			}
		}
	}
	c.Flush()
	return c.Error()
}

func coOccurrenceJSON(in *points.Input, got *points.CoOccurrence) any {
	type pair struct {
		Of    string     `json:"of"`
		Near  string     `json:"near"`
		Ratio []*float64 `json:"ratio"`
	}
	var pairs []pair
	for x, row := range got.Ratio {
		for y, values := range row {
			q := pair{Of: in.Features[x], Near: in.Features[y]}
			for _, v := range values {
				q.Ratio = append(q.Ratio, jsonNumber(v))
			}
			pairs = append(pairs, q)
		}
	}
	return map[string]any{"unit": in.CRS.DistanceUnit(), "distances": got.Distances, "pairs": pairs}
}

func newPlacesEnrichmentCmd(a *app) *cobra.Command {
	var p pointFlags
	var o points.EnrichmentOptions
	var format string
	cmd := &cobra.Command{
		Use:   "enrichment POINTS...",
		Short: "Print the neighbourhood enrichment of all pairs of features",
		Long: `Count, for every pair of features A and B, the neighbours of points of A that are of B, and compare
with random permutations of the features over the positions: z is the difference from the mean of
the permutations, in standard deviations. This is the neighbourhood enrichment of spatial omics
(squidpy's nhood_enrichment).`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: hasGPU,
		Example: `  collocate places enrichment cells.csv --knn 6
  collocate places enrichment cells.csv --distance 30 --rounds 999 --format csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case (o.Distance > 0) == (o.KNN > 0) || o.Distance < 0 || o.KNN < 0:
				return usagef("want either --distance or --knn, to say which points are neighbours")
			case o.Rounds < 2:
				return usagef("--rounds %d: want at least 2", o.Rounds)
			case format != "table" && format != "csv":
				return usagef("--format %q: want table or csv", format)
			}
			defer boundHeap(a.memory)()
			in, err := p.read(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			o.Engine, o.Memory, o.Progress = a.statistics(), int64(a.memory), a.stages()
			got, err := points.Enrich(cmd.Context(), in.Set, o)
			if err != nil {
				return err
			}
			a.summary("%s: %s of %s, %s", what(o.Distance, o.KNN, in.CRS),
				counted(in.Len(), "point"), counted(len(in.Features), "feature"),
				counted(o.Rounds, "permutation"))
			return printEnrichment(a, in, got, format)
		},
	}
	p.add(cmd)
	f := cmd.Flags()
	f.Float64VarP(&o.Distance, "distance", "d", 0, "neighbours are at most this far apart")
	f.IntVar(&o.KNN, "knn", 0, "a point's neighbours are its own `K` nearest")
	f.IntVar(&o.Rounds, "rounds", 999, "number of random permutations for z")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the permutations")
	f.StringVar(&format, "format", "table", "format of the output: table or csv")
	choices(cmd, map[string][]string{"format": {"table", "csv"}})
	return cmd
}

func printEnrichment(a *app, in *points.Input, got *points.Enrichment, format string) error {
	type pair struct {
		Of    string   `json:"of"`
		Near  string   `json:"near"`
		Count int64    `json:"count"`
		Mean  float64  `json:"expected"`
		Z     *float64 `json:"z"`
	}
	var pairs []pair
	for x := range got.Count {
		for y, n := range got.Count[x] {
			pairs = append(pairs, pair{in.Features[x], in.Features[y], n, got.Mean[x][y], jsonNumber(got.Z[x][y])})
		}
	}
	z := func(q pair, text func(float64) string) string {
		if q.Z == nil {
			return text(math.NaN())
		}
		return text(*q.Z)
	}
	switch {
	case a.json:
		return a.printJSON(map[string]any{"pairs": pairs})
	case format == "csv":
		c := csv.NewWriter(a.stdout)
		rows := [][]string{{"of", "near", "count", "expected", "z"}}
		for _, q := range pairs {
			rows = append(rows, []string{q.Of, q.Near, strconv.FormatInt(q.Count, 10), number(q.Mean), z(q, number)})
		}
		return c.WriteAll(rows)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "OF\tNEAR\tCOUNT\tEXPECTED\tZ\n")
	for _, q := range pairs {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%s\n", q.Of, q.Near, q.Count, q.Mean,
			z(q, func(v float64) string { return rounded(v) }))
	}
	return t.Flush()
}
