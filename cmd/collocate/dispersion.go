package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

func newDispersionCmd(a *app) *cobra.Command {
	var (
		corpus  corpusFlags
		queries []string
		svg     string
	)
	cmd := &cobra.Command{
		Use:     "dispersion CORPUS... --of WORD",
		Short:   "Plot where words occur in a corpus",
		GroupID: groupWords,
		Long: `Show where in a corpus words, wildcards (lip*), /expressions/ or "phrases in quotes" occur, as
in 'collocate concordance'. The terminal shows the number of occurrences in each of 50 equal
parts; --svg draws a line for each occurrence, and grey lines between documents if there are not
too many.`,
		Example: `  collocate dispersion war-and-peace.txt --of natásha --of "napol*" --svg plot.svg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			an, err := corpus.analyzer()
			if err != nil {
				return err
			}
			parsed := make([]*words.Query, len(queries))
			for i, q := range queries {
				if parsed[i], err = words.ParseQuery(q, an); err != nil {
					return usageError{err}
				}
			}
			if err := canWrite(svg); err != nil {
				return err
			}
			corpus.hint(cmd, a, args)
			p, err := words.PlotOf(cmd.Context(), corpus.corpus(a, args, svg), an, queries, a.threads)
			if err != nil {
				return err
			}
			if err := a.noteUnknown(cmd.Context(), corpus.corpus(a, args, svg), p, parsed); err != nil {
				return err
			}
			if svg != "" {
				if err := a.writeTo(svg, p.SVG); err != nil || svg == "-" {
					return err
				}
			}
			if a.json {
				return a.printJSON(struct {
					Words uint64          `json:"words"`
					Rows  []words.PlotRow `json:"rows"`
				}{p.Words, p.Rows})
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			for _, row := range p.Rows {
				fmt.Fprintf(w, "%s\t%d\t%s\n", row.Query, row.Count, bars(row.Bars(50)))
			}
			return w.Flush()
		},
	}
	corpus.register(cmd)
	cmd.Flags().StringArrayVar(&queries, "of", nil, "a word, a prefix or a phrase; may be given several times")
	cmd.Flags().StringVar(&svg, "svg", "", "draw the plot in `FILE` (-: standard output)")
	must(cmd.MarkFlagRequired("of"))
	return cmd
}

// noteUnknown names the words that do not occur in the corpus, for queries without a match.
func (a *app) noteUnknown(ctx context.Context, corpus *text.Corpus, p *words.Plot, queries []*words.Query) error {
	if slices.Contains(corpus.Paths, "-") {
		return nil
	}
	list, err := p.Unknown(ctx, corpus, a.threads, queries)
	for _, w := range list {
		a.note(w.Error())
	}
	return err
}

// bars draws counts as block characters of different height.
func bars(counts []int) string {
	levels := []rune("·▁▂▃▄▅▆▇█")
	most := max(1, slices.Max(counts))
	var b strings.Builder
	for _, n := range counts {
		b.WriteRune(levels[(n*(len(levels)-1)+most-1)/most])
	}
	return b.String()
}
