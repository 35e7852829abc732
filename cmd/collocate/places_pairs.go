package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/points"
)

// pairsFlags are the flags of `collocate places pairs`.
type pairsFlags struct {
	points       pointFlags
	opt          coloc.Options
	permutations int
	seed         uint64
	local        string
	localSVG     string
	kernel       coloc.Kernel
	of, near     []string
	format       string
}

func newPlacesPairsCmd(a *app) *cobra.Command {
	var p pairsFlags
	cmd := &cobra.Command{
		Use:   "pairs POINTS...",
		Short: "Print the colocation quotients of all pairs of features",
		Long: `Print, for every ordered pair of features A and B, how much more often than by
chance the neighbours of points of A are of B: the global colocation quotient
(1: chance, more: attraction, less: avoidance), with a two-sided p-value from
random permutations. --local FILE writes the quotient at every point, as CSV.`,
		Args: cobra.MinimumNArgs(1),
		Example: `  collocate places pairs shops.csv --knn 8
  collocate places pairs poi.csv --distance 200 --permutations 999
  collocate places pairs poi.csv --knn 8 --local local.csv --of cafe --near bar,pub`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	f := cmd.Flags()
	p.points.add(cmd)
	f.Float64VarP(&p.opt.Distance, "distance", "d", 0, "neighbours are at most this far apart")
	f.IntVar(&p.opt.KNN, "knn", 0, "a point's neighbours are its own `K` nearest (and within --distance if given)")
	f.IntVar(&p.permutations, "permutations", 99, "number of random permutations for p-values; 0 means none")
	f.Uint64Var(&p.seed, "seed", 1, "seed of the permutations")
	f.StringVar(&p.local, "local", "", "write the quotient at every point to `FILE` (-: standard output)")
	f.Var(textFlag{&p.kernel, "kernel"}, "kernel",
		"with --local: weight of neighbours by distance: box (all equal), gaussian or bisquare")
	f.StringVar(&p.localSVG, "local-svg", "", "draw the quotients at every point to `FILE` (-: standard output)")
	f.StringSliceVar(&p.of, "of", nil, "only pairs whose first feature is one of these")
	f.StringSliceVar(&p.near, "near", nil, "only pairs whose second feature is one of these")
	f.StringVar(&p.format, "format", "table", "format of the output: table, csv or json")
	choices(cmd, map[string][]string{"format": {"table", "csv", "json"}, "kernel": coloc.Kernels()})
	return cmd
}

func (p *pairsFlags) run(a *app, cmd *cobra.Command, paths []string) error {
	switch {
	case p.opt.Distance == 0 && p.opt.KNN == 0:
		return usagef("want --distance or --knn, to say which points are neighbours")
	case !(p.opt.Distance >= 0):
		return usagef("--distance %v: want more than 0", p.opt.Distance)
	case p.format != "table" && p.format != "csv" && p.format != "json":
		return usagef("--format %q: want table, csv or json", p.format)
	}
	if cmd.Flags().Changed("kernel") && p.local == "" && p.localSVG == "" {
		return usagef("--kernel needs --local or --local-svg")
	}
	if err := notNegative(cmd.Flags(), "knn", "permutations"); err != nil {
		return err
	}
	if err := canWrite(p.local, p.localSVG); err != nil {
		return fmt.Errorf("write local quotients: %w", err)
	}
	defer boundHeap(a.memory)()
	in, err := p.points.read(cmd.Context(), a, paths)
	if err != nil {
		return err
	}
	if err := checkDegrees(a, in, p.opt.Distance); err != nil {
		return err
	}
	q := coloc.QuotientOptions{Rounds: p.permutations, Seed: p.seed, Local: p.local != "" ||
		p.localSVG != "", Kernel: p.kernel}
	if q.From, err = featureNumbers(in, "of", p.of); err != nil {
		return err
	}
	if q.To, err = featureNumbers(in, "near", p.near); err != nil {
		return err
	}
	opt := p.opt
	opt.Engine, opt.Threads, opt.Memory, opt.Log = a.engine, a.threads, int64(a.memory), a.log
	opt.Progress = a.stages()
	s, err := coloc.NewSurvey(in.Set, opt)
	if err != nil {
		return err
	}
	global, local, err := s.Quotients(cmd.Context(), q)
	if err != nil {
		return err
	}
	global = slices.DeleteFunc(global, func(g coloc.Quotient) bool {
		return q.From != nil && !slices.Contains(q.From, g.From) || q.To != nil && !slices.Contains(q.To, g.To)
	})
	a.summary("%s: %s of %s, %s", what(opt.Distance, opt.KNN, in.CRS), counted(in.Len(), "point"),
		counted(len(in.Features), "feature"), counted(p.permutations, "permutation"))
	if p.local != "" {
		if err := writeLocal(a, p.local, in, local); err != nil {
			return fmt.Errorf("write local quotients: %w", err)
		}
	}
	if p.localSVG != "" {
		if err := a.writeTo(p.localSVG,
			func(w io.Writer) error { return s.WriteLocalSVG(cmd.Context(), w, local) }); err != nil {
			return fmt.Errorf("draw local quotients: %w", err)
		}
	}
	if p.local == "-" || p.localSVG == "-" {
		return nil // standard output has the local quotients
	}
	return p.print(a, in, global)
}

func featureNumbers(in *points.Input, flag string, names []string) ([]int32, error) {
	var out []int32
	for _, n := range names {
		f, ok := slices.BinarySearch(in.Features, n)
		if !ok {
			return nil, usagef("--%s %q: no such feature in the points", flag, n)
		}
		out = append(out, int32(f))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// number formats a value for CSV, NaN and infinities as an empty field.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// jsonNumber returns nil for NaN and infinities, which JSON cannot represent.
func jsonNumber(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (p *pairsFlags) print(a *app, in *points.Input, global []coloc.Quotient) error {
	if a.json || p.format == "json" {
		type pair struct {
			Of       string   `json:"of"`
			Near     string   `json:"near"`
			Points   int64    `json:"points"`
			Quotient *float64 `json:"quotient"`
			PValue   *float64 `json:"p_value,omitempty"`
		}
		pairs := []pair{}
		for _, q := range global {
			pairs = append(pairs, pair{in.Features[q.From], in.Features[q.To], q.Points,
				jsonNumber(q.Value), jsonNumber(q.P)})
		}
		return a.printJSON(map[string]any{"pairs": pairs})
	}
	if p.format == "csv" {
		c := csv.NewWriter(a.stdout)
		rows := [][]string{{"of", "near", "points", "quotient", "p_value"}}
		for _, q := range global {
			rows = append(rows, []string{in.Features[q.From], in.Features[q.To],
				strconv.FormatInt(q.Points, 10), number(q.Value), number(q.P)})
		}
		return c.WriteAll(rows)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "OF\tNEAR\tPOINTS\tQUOTIENT\tP\n")
	for _, q := range global {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", in.Features[q.From], in.Features[q.To], q.Points,
			rounded(q.Value), rounded(q.P))
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
			err := c.Write([]string{strconv.Itoa(int(q.Point) + 1), number(in.X[q.Point]), number(in.Y[q.Point]),
				in.Features[in.Feature[q.Point]], in.Features[q.To], number(q.Value), number(q.P), kind})
			if err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	})
}
