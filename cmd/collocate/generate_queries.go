package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/internal/textfile"
)

func newGenerateQueriesCmd(a *app) *cobra.Command {
	var out generateOutput
	var count, docs countFlag
	var vocab string
	var lines bool
	var o datagen.QueryOptions
	cmd := &cobra.Command{
		Use:   "queries",
		Short: "Make queries with short to very long postings lists, or a mixed log",
		Long: `Make queries, one per line: a number, a tab, the words. The words are those of 'generate text',
or those of a word-count file.

A class chooses words by how many documents hold them, on average:
  short 0.18%, medium 0.95%, long 2.1%, extra 10.9% of all documents.
A mixed log has queries of 1 to 10 words, and popular ones come again.`,
		Example: `  collocate generate queries --class long --count 500 -o queries.tsv
  collocate generate queries --count 10k --seed 1
  collocate generate queries --class short --vocab vocab.txt --docs 1M`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Count, o.Docs, o.Seed, o.Threads = int64(count), int64(docs), out.seed, a.textThreads()
			if lines {
				o.Law, o.Mu, o.Sigma = datagen.News, 3.171, 0.5
			}
			if docs != 0 && vocab == "" {
				return usagef("--docs needs --vocab")
			}
			if vocab != "" {
				f, err := textfile.Open(vocab)
				if err != nil {
					return err
				}
				defer f.Close()
				if o.Vocabulary, err = datagen.ReadCounts(f, vocab); err != nil {
					return err
				}
			}
			return out.write(a, 0, func(w io.Writer) error { return datagen.Queries(cmd.Context(), w, o) })
		},
	}
	out.addFlags(cmd)
	f := cmd.Flags()
	count = 500
	f.Var(&count, "count", "number of queries")
	f.Var(textFlag{&o.Class, "class"}, "class", "mixed, short, medium, long or extra")
	f.IntVar(&o.Terms, "terms", 0, "words a query (default 2; in a mixed log 1 to 10)")
	f.StringVar(&vocab, "vocab", "", "word-count file to choose words from, lines of 'word count'")
	f.Var(&docs, "docs", "counts of --vocab are documents out of this many; without it they are occurrences")
	f.BoolVar(&lines, "lines", false, "for text made with --lines")
	choices(cmd, map[string][]string{"class": {"mixed", "short", "medium", "long", "extra"}})
	return cmd
}
