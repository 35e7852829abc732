package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/points"
)

// curveFlags are the flags of `collocate places curve`.
type curveFlags struct {
	points   pointFlags
	opt      points.CurveOptions
	of, near []string
	csv, svg string
}

func newPlacesCurveCmd(a *app) *cobra.Command {
	var p curveFlags
	cmd := &cobra.Command{
		Use:   "curve POINTS...",
		Short: "Show at which distances two features attract or avoid one another",
		Long: `Compute curves of pairs of features by distance: Ripley's cross K function and L = sqrt(K/pi),
with translation correction; the pair correlation function; and the participation index of the
pair. Envelopes contain 95% of the rounds of a null model in which the features are independent;
p tests all distances at once, and q is p corrected by Benjamini and Hochberg's method over all
pairs.

Null models: shift moves each feature as a whole, on a torus, and keeps its own clustering;
relabel permutes features over the positions; cluster draws each feature from a Thomas process
fitted to it; inhomogeneous draws it from a kernel estimate of its density, which keeps a feature
common where it is common.

All pairs of features are computed and the strongest shown, or those of --of and --near.`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: hasGPU,
		Example: `  collocate places curve poi.geojson --max-distance 500 --svg curves.svg
  collocate places curve trees.csv --of oak --near beech,birch --rounds 999 --csv curves.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	p.points.add(cmd)
	f := cmd.Flags()
	f.Float64VarP(&p.opt.Most, "max-distance", "d", 0,
		"largest distance (default a quarter of the shorter side of the area)")
	f.IntVar(&p.opt.Bins, "steps", 50, "number of distances, evenly spaced up to the largest")
	f.IntVar(&p.opt.Rounds, "rounds", 99, "rounds of the null model for envelopes and p-values; 0 means none")
	nullFlag(cmd, &p.opt.Null, &p.opt.Bandwidth)
	f.Uint64Var(&p.opt.Seed, "seed", 1, "seed of the null model")
	f.StringSliceVar(&p.of, "of", nil, "only pairs of which one feature is one of these")
	f.StringSliceVar(&p.near, "near", nil, "only pairs whose other feature is one of these")
	f.IntVar(&p.opt.Strongest, "top", 10, "show the `N` strongest pairs (0: all)")
	f.StringVar(&p.csv, "csv", "", "write all curves to `FILE`, a line for each pair and distance (-: standard output)")
	f.StringVar(&p.svg, "svg", "", "draw the strongest curves (up to six) to `FILE` (-: standard output)")
	return cmd
}

// nullFlag registers the flags of the null model.
func nullFlag(cmd *cobra.Command, null *points.Null, bandwidth *float64) {
	f := cmd.Flags()
	f.Var(textFlag{null, "null"}, "null", "null model that features are compared with: shift, relabel, cluster or inhomogeneous")
	f.Float64Var(bandwidth, "bandwidth", 0, "with --null inhomogeneous: bandwidth of the kernel density estimate (default Scott's rule)")
	choices(cmd, map[string][]string{"null": points.Nulls()})
}

// statistics returns the engine for statistics of points.
func (a *app) statistics() points.Engine {
	return points.Engine{Kind: a.engine, Threads: a.threads, Device: a.gpu, Log: a.log}
}

func (p *curveFlags) run(a *app, cmd *cobra.Command, paths []string) error {
	switch {
	case p.opt.Most < 0 || p.opt.Bandwidth < 0:
		return usagef("--max-distance %v, --bandwidth %v: want 0 or more", p.opt.Most, p.opt.Bandwidth)
	case p.opt.Bins < 1 || p.opt.Bins > 10_000:
		return usagef("--steps %d: want 1 to 10000", p.opt.Bins)
	case p.csv == "-" && p.svg == "-":
		return usagef("--csv - and --svg -: only one of them can be written to standard output")
	}
	if err := notNegative(cmd.Flags(), "rounds", "top"); err != nil {
		return err
	}
	if err := canWrite(p.csv, p.svg); err != nil {
		return err
	}
	defer boundHeap(a.memory)()
	in, err := p.points.read(cmd.Context(), a, paths)
	if err != nil {
		return err
	}
	opt := p.opt
	opt.Engine, opt.Memory, opt.Progress = a.statistics(), int64(a.memory), a.stages()
	if opt.Pairs, err = p.pairs(in); err != nil {
		return err
	}
	curves, err := points.Curves(cmd.Context(), in.Set, opt)
	if err != nil {
		return err
	}
	a.summary("%s of %s, %s of %s; %d rounds of null %s", counted(in.Len(), "point"),
		counted(len(in.Features), "feature"),
		counted(len(curves), "curve"), withUnit(curves[0].R[len(curves[0].R)-1], in.CRS), opt.Rounds, opt.Null)
	if p.csv != "" {
		if err := a.writeTo(p.csv, func(w io.Writer) error { return writeCurves(w, in, curves) }); err != nil {
			return fmt.Errorf("write curves: %w", err)
		}
	}
	if p.svg != "" {
		if err := a.writeTo(p.svg,
			func(w io.Writer) error { return points.DrawCurves(w, in.Set, curves, opt.Null.String()) }); err != nil {
			return fmt.Errorf("draw curves: %w", err)
		}
	}
	switch {
	case p.csv == "-" || p.svg == "-":
		return nil
	case a.json:
		return a.printJSON(curvesJSON(in, curves))
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "A\tB\tWHAT\tAT\tL\tEXPECTED\tZ\tP\tQ\n")
	for _, c := range curves {
		at := 0
		for r := range c.R {
			if c.R[r] == c.At {
				at = r
			}
		}
		expected := c.R[at]
		if c.Expected != nil {
			expected = c.Expected[at]
		}
		what := "avoid"
		if c.Attract {
			what = "attract"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4g\t%.4g\t%.2f\t%s\t%s\n", in.Features[c.A],
			in.Features[c.B], what, c.At, c.L[at], expected, c.Z, rounded(c.P), rounded(c.Q))
	}
	return t.Flush()
}

// pairs returns the pairs that --of and --near select, or nil for all.
func (p *curveFlags) pairs(in *points.Input) ([][2]int32, error) {
	of, err := featureNumbers(in, "of", p.of)
	if err != nil {
		return nil, err
	}
	near, err := featureNumbers(in, "near", p.near)
	if err != nil || of == nil && near == nil {
		return nil, err
	}
	if of == nil {
		of, near = near, nil
	}
	if near == nil {
		for f := range in.Features {
			near = append(near, int32(f))
		}
	}
	seen := make(map[[2]int32]bool)
	var out [][2]int32
	for _, a := range of {
		for _, b := range near {
			if k := [2]int32{min(a, b), max(a, b)}; !seen[k] && (a != b || len(p.near) > 0) {
				seen[k] = true
				out = append(out, [2]int32{a, b})
			}
		}
	}
	return out, nil
}

// curvePoint is a curve at one distance.
type curvePoint struct {
	Distance float64  `json:"distance"`
	K        float64  `json:"k"`
	L        float64  `json:"l"`
	Expected *float64 `json:"l_expected,omitempty"`
	Low      *float64 `json:"l_low,omitempty"`
	High     *float64 `json:"l_high,omitempty"`
	PCF      float64  `json:"pair_correlation"`
	Index    float64  `json:"participation_index"`
	IndexExp *float64 `json:"index_expected,omitempty"`
	IndexLow *float64 `json:"index_low,omitempty"`
	IndexUp  *float64 `json:"index_high,omitempty"`
}

func curvesJSON(in *points.Input, curves []points.Curve) any {
	type curve struct {
		A      string       `json:"a"`
		B      string       `json:"b"`
		P      *float64     `json:"p_value"`
		Q      *float64     `json:"q_value"`
		At     float64      `json:"at"`
		Z      float64      `json:"z"`
		Points []curvePoint `json:"points"`
	}
	out := make([]curve, 0, len(curves))
	for _, c := range curves {
		j := curve{in.Features[c.A], in.Features[c.B], jsonNumber(c.P), jsonNumber(c.Q), c.At, c.Z, nil}
		for r := range c.R {
			at := curvePoint{Distance: c.R[r], K: c.K[r], L: c.L[r], PCF: c.PCF[r], Index: c.Index[r]}
			if c.Expected != nil {
				at.Expected, at.Low, at.High = &c.Expected[r], &c.Low[r], &c.High[r]
				at.IndexExp, at.IndexLow, at.IndexUp = &c.IndexExpected[r], &c.IndexLow[r], &c.IndexHigh[r]
			}
			j.Points = append(j.Points, at)
		}
		out = append(out, j)
	}
	return map[string]any{"unit": in.CRS.DistanceUnit(), "curves": out}
}

// writeCurves writes one table: a line for each pair and distance.
func writeCurves(w io.Writer, in *points.Input, curves []points.Curve) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "distance", "k", "l", "l_expected", "l_low", "l_high", "pair_correlation",
		"participation_index", "index_expected", "index_low", "index_high", "p_value", "q_value"}}
	at := func(v []float64, r int) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(v[r], 'g', -1, 64)
	}
	for _, v := range curves {
		for r := range v.R {
			rows = append(rows, []string{in.Features[v.A], in.Features[v.B], at(v.R, r), at(v.K, r),
				at(v.L, r), at(v.Expected, r), at(v.Low, r), at(v.High, r),
				at(v.PCF, r), at(v.Index, r), at(v.IndexExpected, r), at(v.IndexLow, r),
				at(v.IndexHigh, r), number(v.P), number(v.Q)})
		}
	}
	return c.WriteAll(rows)
}
