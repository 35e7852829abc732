package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
)

func newDispersionCmd(a *app) *cobra.Command {
	var (
		ask api.Dispersion
		svg string
	)
	cmd := &cobra.Command{
		Use:     "dispersion CORPUS...|INDEX --of WORD",
		Short:   "Plot where words occur in a corpus",
		GroupID: groupWords,
		Long: `Show where in a corpus words, wildcards (lip*), /expressions/ or "phrases in quotes" occur, as
in 'collocate concordance'. The terminal shows the number of occurrences in each of 50 equal
parts; --svg draws a line for each occurrence, and grey lines between documents if there are not
too many. In an INDEX, words are counted without reading text, so there is nothing to draw.`,
		Example: `  collocate dispersion war-and-peace.txt --of natásha --of "napol*" --svg plot.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && isIndex(args[0]) && svg != "" {
				return usagef("--svg needs a corpus, and %s is an index; leave it out", args[0])
			}
			if err := canWrite(svg); err != nil {
				return err
			}
			env, done, err := a.wordsIn(cmd, &ask.Reading, args, svg)
			if err != nil {
				return err
			}
			defer done()
			found, err := ask.Do(cmd.Context(), env)
			if err != nil {
				return asFlags(api.DispersionQuestion, err)
			}
			if svg != "" {
				if err := a.writeTo(svg, found.Plot.SVG); err != nil || svg == "-" {
					return err
				}
			}
			if a.json {
				return a.printJSON(found)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			for _, row := range found.Rows {
				fmt.Fprintf(w, "%s\t%d\t%s\n", row.Query, row.Count, bars(row.Bars))
			}
			return w.Flush()
		},
	}
	addFlags(cmd, api.DispersionQuestion, &ask)
	cmd.Flags().StringVar(&svg, "svg", "", "draw the plot in `FILE` (-: standard output)")
	must(cmd.MarkFlagRequired("of"))
	return cmd
}

// bars draws counts as block characters of different height.
func bars(counts []uint64) string {
	levels := []rune("·▁▂▃▄▅▆▇█")
	most := max(1, slices.Max(counts))
	var b strings.Builder
	for _, n := range counts {
		b.WriteRune(levels[(n*uint64(len(levels)-1)+most-1)/most])
	}
	return b.String()
}
