package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/points"
)

// curveFlags are the flags of `collocate places curve`.
type curveFlags struct {
	ask      api.Curve
	csv, svg string
}

func newPlacesCurveCmd(a *app) *cobra.Command {
	var p curveFlags
	cmd := &cobra.Command{
		Use:   "curve POINTS...",
		Short: "Show at which distances two features attract or avoid one another",
		Long: `Compute curves of pairs of features by distance: Ripley's cross K function and L = sqrt(K/pi),
with a correction for edges; the pair correlation function, by a kernel; and the participation
index of the pair. --csv and --json have all of them, and with --intensity also inhomogeneous K and
pair correlation. 95% of the rounds of a null model, in which the features are independent, lie
wholly in the envelope of L; p tests all distances at once, for attraction and avoidance, and q is
p corrected for all pairs (--adjust).

Null models: inhomogeneous (the default) moves each feature as a whole and keeps its own
clustering and the density that all features share; shift keeps the former only; relabel permutes
features over the positions; cluster draws each feature from a Thomas process fitted to it. The
study area is --window, or the one estimated from the points. Where it is no rectangle, the first
two shift features in the plane, with variances corrected for what then overlaps (Mrkvicka and
others 2021), and the envelope is moved by what the shared density adds to L.

--within counts only pairs of points that are near in time: space-time K, divided by K of times.
--null times permutes the times of each feature's points: are points that are near in space also
near in time (Knox)? Then K, pair correlation and index by chance keep all positions, so roads along
which everything was surveyed are no attraction.

All pairs of features are computed and the strongest shown, or those of --of and --near.`,
		Args:        cobra.MinimumNArgs(1),
		Annotations: hasGPU,
		Example: `  collocate places curve poi.geojson --max-distance 500 --svg curves.svg
  collocate places curve trees.csv --of oak --near beech,birch --rounds 999 --csv curves.csv
  collocate places curve poi.geojson --window city.geojson --clip
  collocate places curve poi.geojson --of cafe --near bar --rounds 2499 --envelope rank
  collocate places curve thefts.csv --time date --within 7d --null times --rounds 999
  collocate places curve poi.geojson --intensity shared --correction isotropic --csv curves.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(a, cmd, args) },
	}
	addFlags(cmd, api.CurveQuestion, &p.ask)
	a.registerSharing(cmd, "the rounds of the null model")
	f := cmd.Flags()
	f.StringVar(&p.csv, "csv", "", "write all curves to `FILE`, a line for each pair and distance (-: standard output)")
	f.StringVar(&p.svg, "svg", "", "draw the strongest curves (up to six) to `FILE` (-: standard output)")
	group(cmd, "Files", "csv", "svg")
	return cmd
}

func (p *curveFlags) run(a *app, cmd *cobra.Command, paths []string) error {
	if p.csv == "-" && p.svg == "-" {
		return usagef("--csv - and --svg -: only one of them can be written to standard output")
	}
	if err := canWrite(p.csv, p.svg); err != nil {
		return err
	}
	in, answer, err := askPlaces[*api.CurveAnswer](a, cmd, api.CurveQuestion, &p.ask, paths)
	if err != nil {
		return err
	}
	curves := answer.Found
	test, null := fmt.Sprintf("%d rounds of null %s", p.ask.Rounds, p.ask.Null), answer.Null
	if p.ask.Rounds == 0 {
		test, null = "no null model to compare with (--rounds)", ""
	}
	test += after("; ", points.Fit(null, answer.StudyArea, answer.Bandwidth, answer.Unit))
	a.summary("%s of %s, %s of %s; %s", counted(in.Len(), "point"),
		counted(len(in.Features), "feature"), counted(len(curves), "curve"),
		withUnit(curves[0].R[len(curves[0].R)-1], in.CRS), test)
	if p.csv != "" {
		if err := a.writeTo(p.csv, func(w io.Writer) error { return p.writeCurves(w, in, answer) }); err != nil {
			return fmt.Errorf("write curves: %w", err)
		}
	}
	if p.svg != "" {
		if err := a.writeTo(p.svg,
			func(w io.Writer) error { return points.DrawCurves(w, in.Set, curves, test) }); err != nil {
			return fmt.Errorf("draw curves: %w", err)
		}
	}
	switch {
	case p.csv == "-" || p.svg == "-":
		return nil
	case a.json:
		return a.printJSON(answer)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	ranks := p.ask.Rounds > 0 && p.ask.Envelope == points.ByRank
	interval := map[bool]string{true: "P INTERVAL\t"}[ranks]
	fmt.Fprintf(t, "A\tB\tWHAT\tAT\tL\tEXPECTED\tZ\tP\t%sQ\tPARTICIPATING POINTS\n", interval)
	total := in.Totals()
	for _, c := range curves {
		at := max(0, slices.Index(c.R, c.At))
		expected := c.R[at]
		if c.Expected != nil {
			expected = c.Expected[at]
		}
		what, z := deviation(&c)
		if c.Expected != nil {
			z = strconv.FormatFloat(c.Z, 'f', 2, 64)
		}
		if ranks {
			interval = rounded(c.PLow) + " to " + rounded(c.PHigh) + "\t"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.4g\t%.4g\t%.4g\t%s\t%s\t%s%s\t%d/%d  %d/%d\n", in.Features[c.A],
			in.Features[c.B], what, c.At, c.L[at], expected, z, rounded(c.P), interval, rounded(c.Q),
			c.Near[0][at], total[c.A], c.Near[1][at], total[c.B])
	}
	return t.Flush()
}

// deviation says in words what a curve shows, and its size in standard deviations. Both compare
// with a null model, without which they are "-".
func deviation(c *points.Curve) (what, z string) {
	switch {
	case c.Expected == nil:
		return "-", "-"
	case c.Attract:
		return "attract", number(c.Z)
	}
	return "avoid", number(c.Z)
}

// writeCurves writes one table: a line for each pair and distance.
func (p *curveFlags) writeCurves(w io.Writer, in *points.Input, answer *api.CurveAnswer) error {
	curves := answer.Found
	c := csv.NewWriter(w)
	rows := [][]string{{"a", "b", "distance", "k", "l", "l_expected", "l_low", "l_high", "pair_correlation",
		"participation_index", "index_expected", "index_low", "index_high", "p_value", "q_value",
		"what", "at", "z", "participating_a", "total_a", "participating_b", "total_b", "unit"}}
	total := in.Totals()
	inhom, ranks := curves[0].KInhom != nil, p.ask.Rounds > 0 && p.ask.Envelope == points.ByRank
	if inhom {
		rows[0] = append(rows[0], "k_inhomogeneous", "pair_correlation_inhomogeneous")
	}
	if ranks {
		rows[0] = append(rows[0], "p_low", "p_high")
	}
	// The same in every row: what a report must cite.
	test := []string{"", "", number(answer.StudyArea), ""}
	if p.ask.Rounds > 0 {
		test[0], test[1] = answer.Null, strconv.Itoa(answer.Rounds)
	}
	if answer.Bandwidth > 0 {
		test[3] = number(answer.Bandwidth)
	}
	rows[0] = append(rows[0], "null", "rounds", "study_area", "bandwidth")
	at := func(v []float64, r int) string {
		if v == nil {
			return ""
		}
		return number(v[r])
	}
	for _, v := range curves {
		what, z := deviation(&v)
		for r := range v.R {
			row := []string{in.Features[v.A], in.Features[v.B], at(v.R, r), at(v.K, r),
				at(v.L, r), at(v.Expected, r), at(v.Low, r), at(v.High, r),
				at(v.PCF, r), at(v.Index, r), at(v.IndexExpected, r), at(v.IndexLow, r),
				at(v.IndexHigh, r), number(v.P), number(v.Q), strings.Trim(what, "-"), number(v.At), strings.Trim(z, "-"),
				strconv.FormatInt(v.Near[0][r], 10), strconv.FormatInt(total[v.A], 10),
				strconv.FormatInt(v.Near[1][r], 10), strconv.FormatInt(total[v.B], 10), in.CRS.DistanceUnit()}
			if inhom {
				row = append(row, at(v.KInhom, r), at(v.PCFInhom, r))
			}
			if ranks {
				row = append(row, number(v.PLow), number(v.PHigh))
			}
			rows = append(rows, append(row, test...))
		}
	}
	return c.WriteAll(rows)
}
