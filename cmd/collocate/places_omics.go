package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
)

func newPlacesCoOccurrenceCmd(a *app) *cobra.Command {
	var ask api.CoOccurrence
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
			in, answer, err := askPlaces[*api.CoOccurrenceAnswer](a, cmd, api.CoOccurrenceQuestion, &ask, args)
			if err != nil {
				return err
			}
			a.summary("%s of %s, %d pairs within %s", counted(in.Len(), "point"),
				counted(len(in.Features), "feature"), answer.Found.Pairs[ask.Steps-1], withUnit(ask.MaxDistance, in.CRS))
			if a.json {
				return a.printJSON(answer)
			}
			return writeCoOccurrence(a.stdout, answer)
		},
	}
	addFlags(cmd, api.CoOccurrenceQuestion, &ask)
	a.registerSharing(cmd, "the points")
	return cmd
}

func writeCoOccurrence(w io.Writer, answer *api.CoOccurrenceAnswer) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"of", "near", "distance", "ratio"}); err != nil {
		return err
	}
	for _, p := range answer.Pairs {
		for r, v := range p.Ratio {
			if err := c.Write([]string{p.Of, p.Near, number(answer.Distances[r]), number(orNaN(v))}); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

func newPlacesEnrichmentCmd(a *app) *cobra.Command {
	var ask api.Enrichment
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
			if format != "table" && format != "csv" {
				return usagef("--format %q: want table or csv", format)
			}
			in, answer, err := askPlaces[*api.EnrichmentAnswer](a, cmd, api.EnrichmentQuestion, &ask, args)
			if err != nil {
				return err
			}
			a.summary("%s: %s of %s, %s", what(ask.Distance, ask.KNN, in.CRS),
				counted(in.Len(), "point"), counted(len(in.Features), "feature"),
				counted(ask.Rounds, "permutation"))
			return printEnrichment(a, answer, format)
		},
	}
	addFlags(cmd, api.EnrichmentQuestion, &ask)
	a.registerSharing(cmd, "the permutations")
	cmd.Flags().StringVar(&format, "format", "table", "format of the output: table or csv")
	choices(cmd, map[string][]string{"format": {"table", "csv"}})
	return cmd
}

func printEnrichment(a *app, answer *api.EnrichmentAnswer, format string) error {
	switch {
	case a.json:
		return a.printJSON(answer)
	case format == "csv":
		c := csv.NewWriter(a.stdout)
		rows := [][]string{{"of", "near", "count", "expected", "z"}}
		for _, q := range answer.Pairs {
			rows = append(rows, []string{q.Of, q.Near, strconv.FormatInt(q.Count, 10), number(q.Expected), number(orNaN(q.Z))})
		}
		return c.WriteAll(rows)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "OF\tNEAR\tCOUNT\tEXPECTED\tZ\n")
	for _, q := range answer.Pairs {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%s\n", q.Of, q.Near, q.Count, q.Expected, rounded(orNaN(q.Z)))
	}
	return t.Flush()
}
