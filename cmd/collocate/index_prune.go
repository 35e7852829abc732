package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/index"
)

func newIndexPruneCmd(a *app) *cobra.Command {
	var (
		out string
		o   index.PruneOptions
	)
	cmd := &cobra.Command{
		Use:   "prune DIR --out DIR2",
		Short: "Leave the postings that matter least out of an index: smaller, faster, approximate",
		Long: `Write the index DIR to DIR2 (which may be DIR) without the postings that weigh little. Of each
word it keeps those that weigh at least --epsilon times as much as the --top-th best of that
word, by BM25 with the default parameters. This is static index pruning (Carmel et al., SIGIR
2001).

Words are still weighed by their statistics in the whole index, so the remaining postings score
as before. But a document may lose words, and with each at most --epsilon times the weight of
the word's --top-th best document. Searches of a pruned index are approximate, also with --mode
and; --stats, --json and 'index stats' say that it is pruned. Documents, lengths, IDs and stored
text stay.`,
		Example: `  collocate index prune news.index --out small.index
  collocate index prune news.index --out small.index --top 1000 --epsilon 0.8`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := indexFolder(out); err != nil {
				return err
			}
			if o.Top < 1 {
				return usagef("--top %d: want 1 or more", o.Top)
			}
			if !(o.Epsilon > 0 && o.Epsilon <= 1) {
				return usagef("--epsilon %g: want a number above 0, at most 1", o.Epsilon)
			}
			r, done, err := a.openWhole(cmd.Context(), args[0], out)
			if err != nil {
				return err
			}
			defer done()
			o.Threads, o.Memory = a.threads, int64(a.memory)
			if err := index.Prune(cmd.Context(), r, out, o); err != nil {
				return err
			}
			return a.indexMade(out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the index")
	cmd.Flags().IntVar(&o.Top, "top", 10,
		"rank in a word's list, best first, whose weight the others are compared with")
	cmd.Flags().Float64Var(&o.Epsilon, "epsilon", 0.5,
		"least share of that weight that postings must have, above 0 and at most 1")
	return cmd
}
