package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// rememberedRoot returns the folder to which the IDs of files in an index are relative, or nil.
func rememberedRoot(dir string) (*text.Root, error) {
	r, err := segments.Open(dir)
	if err != nil {
		return nil, err
	}
	return r.Root(), r.Close()
}

func newIndexReorderCmd(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "reorder DIR --out DIR2",
		Short: "Renumber the documents of an index so that it is smaller",
		Long: `Write the index DIR to DIR2 (which may be DIR) with its documents in an order, found by
recursive graph bisection, in which those with the same words are neighbours. IDs, lengths, stored
text and the scores that a search gives stay the same; only where scores are equal, answers may
change places, because the document with the lower number comes first.

Use it for indexes that are built once and kept, without stored text: they become a few per cent
smaller (see docs/performance.md); queries are no faster. Stored text may grow, because it is
compressed together with its neighbours, which are often of one source as documents come.
"collocate index --reorder" orders documents during the build, which is cheaper. Documents keep
their order if another is unlikely to make the postings smaller: consecutive IDs take almost no
space as long as documents are in their order. Memory, within --memory: 7 bytes for each posting of
words in one to ten per cent of the documents, and 21 for each document.`,
		Example: `  collocate index reorder news.index --out news.index
  collocate index reorder news.index --out small.index --memory 8GB`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := indexFolder(out); err != nil {
				return err
			}
			root, err := rememberedRoot(args[0])
			if err != nil {
				return err
			}
			r, done, err := a.openWhole(cmd.Context(), args[0], out)
			if err != nil {
				return err
			}
			defer done()
			err = index.Reorder(cmd.Context(), r, out, index.ReorderOptions{
				Threads:  a.threads,
				Memory:   int64(a.memory),
				Progress: a.progress("reordering"),
				Root:     root,
			})
			if err != nil {
				return err
			}
			return a.indexMade(out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the index")
	return cmd
}
