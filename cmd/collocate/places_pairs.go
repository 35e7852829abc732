package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/points"
)

// pairsFlags are the flags of `collocate places pairs`.
type pairsFlags struct {
	ask             api.Pairs
	local, localSVG string
	format          string
}

func newPlacesPairsCmd(a *app) *cobra.Command {
	var p pairsFlags
	cmd := &cobra.Command{
		Use:   "pairs POINTS...",
		Short: "Print the colocation quotients of all pairs of features",
		Long: `Print, for every ordered pair of features A and B, how much more often than by
chance the neighbours of points of A are of B: the global colocation quotient
(1: chance, more: attraction, less: avoidance), with a two-sided p-value from
random permutations, and q: p corrected for all pairs that were asked for (--adjust). --local FILE writes the quotient at every point, as CSV.`,
		Args: cobra.MinimumNArgs(1),
		Example: `  collocate places pairs shops.csv --knn 8
  collocate places pairs poi.csv --distance 200 --rounds 999
  collocate places pairs poi.csv --knn 8 --local local.csv --of cafe --near bar,pub`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	addFlags(cmd, api.PairsQuestion, &p.ask)
	f := cmd.Flags()
	f.StringVar(&p.local, "local", "", "write the quotient at every point to `FILE` (-: standard output)")
	f.StringVar(&p.localSVG, "local-svg", "", "draw the quotients at every point to `FILE` (-: standard output)")
	f.StringVar(&p.format, "format", "table", "format of the output: table, csv or json")
	group(cmd, "Files", "local", "local-svg", "kernel")
	choices(cmd, map[string][]string{"format": {"table", "csv", "json"}})
	return cmd
}

func (p *pairsFlags) run(a *app, cmd *cobra.Command, paths []string) error {
	if p.format != "table" && p.format != "csv" && p.format != "json" {
		return usagef("--format %q: want table, csv or json", p.format)
	}
	p.ask.Local = p.local != "" || p.localSVG != ""
	if cmd.Flags().Changed("kernel") && !p.ask.Local {
		return usagef("--kernel needs --local or --local-svg")
	}
	if err := canWrite(p.local, p.localSVG); err != nil {
		return fmt.Errorf("write local quotients: %w", err)
	}
	in, answer, err := askPlaces[*api.PairsAnswer](a, cmd, api.PairsQuestion, &p.ask, paths)
	if err != nil {
		return err
	}
	a.summary("%s: %s of %s, %s", what(p.ask.Distance, p.ask.KNN, in.CRS), counted(in.Len(), "point"),
		counted(len(in.Features), "feature"), counted(p.ask.Rounds, "permutation"))
	if p.local != "" {
		if err := writeLocal(a, p.local, in, answer.Local); err != nil {
			return fmt.Errorf("write local quotients: %w", err)
		}
	}
	if p.localSVG != "" {
		if err := a.writeTo(p.localSVG,
			func(w io.Writer) error { return answer.Survey.WriteLocalSVG(cmd.Context(), w, answer.Local) }); err != nil {
			return fmt.Errorf("draw local quotients: %w", err)
		}
	}
	if p.local == "-" || p.localSVG == "-" {
		return nil // standard output has the local quotients
	}
	return p.print(a, answer)
}

// number formats a value for CSV, NaN and infinities as an empty field.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	text, _ := json.Marshal(v) // as JSON has it: without exponents in coordinates and areas
	return string(text)
}

// orNaN returns a number of an answer, which has nil for NaN.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (p *pairsFlags) print(a *app, answer *api.PairsAnswer) error {
	if a.json || p.format == "json" {
		return a.printJSON(answer)
	}
	if p.format == "csv" {
		c := csv.NewWriter(a.stdout)
		rows := [][]string{{"of", "near", "points", "quotient", "p_value", "participating", "total", "q_value"}}
		for _, q := range answer.Pairs {
			rows = append(rows, []string{q.Of, q.Near, strconv.FormatInt(q.Points, 10),
				number(orNaN(q.Quotient)), number(orNaN(q.PValue)), strconv.FormatInt(q.With, 10), strconv.FormatInt(q.Total, 10),
				number(orNaN(q.QValue))})
		}
		return c.WriteAll(rows)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "OF\tNEAR\tPOINTS\tQUOTIENT\tP\tQ\tPARTICIPATING POINTS\n")
	for _, q := range answer.Pairs {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%d/%d\n", q.Of, q.Near, q.Points, rounded(orNaN(q.Quotient)),
			rounded(orNaN(q.PValue)), rounded(orNaN(q.QValue)), q.With, q.Total)
	}
	return t.Flush()
}

func rounded(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// writeLocal writes a line for each point and second feature. Column kind describes the quotient;
// it ends with "significant" at a p-value of at most 0.05.
func writeLocal(a *app, path string, in *points.Input, local []coloc.LocalQuotient) error {
	return a.writeTo(path, func(f io.Writer) error {
		c := csv.NewWriter(f)
		if err := c.Write([]string{"row", "x", "y", "of", "near", "quotient", "p_value", "kind"}); err != nil {
			return err
		}
		for _, q := range local {
			kind := "isolated"
			switch {
			case math.IsNaN(q.Value):
				kind = "no neighbours"
			case q.Value > 1:
				kind = "colocated"
			}
			if q.P <= 0.05 && !math.IsNaN(q.Value) {
				kind += ", significant"
			}
			err := c.Write([]string{strconv.Itoa(in.Row(q.Point)), number(in.X[q.Point]), number(in.Y[q.Point]),
				in.Features[in.Feature[q.Point]], in.Features[q.To], number(q.Value), number(q.P), kind})
			if err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}
