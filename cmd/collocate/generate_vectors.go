package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/datagen"
)

func newGenerateVectorsCmd(a *app) *cobra.Command {
	var out generateOutput
	var count countFlag
	var o datagen.VectorOptions
	cmd := &cobra.Command{
		Use:   "vectors",
		Short: "Make vectors of weighted tokens, as those of learned sparse retrieval",
		Long: `Make documents or queries as vectors of weighted tokens, in the shape of SPLADE's on MS MARCO:
119 tokens a document, 43 a query, out of 30,522, with lognormal weights from 1 to 255. Each
vector has two topics, so tokens occur together. Queries have the topics of the documents with the
same seed and options.

Documents are JSON lines, {"id":"d1","vector":{"token":weight}}, for the analyzer impact. Queries
are lines of a number, a tab and the object.`,
		Example: `  collocate generate vectors --count 100k -o vectors.jsonl
  collocate generate vectors --queries --count 500 -o queries.tsv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Count, o.Seed, o.Threads = int64(count), out.seed, a.textThreads()
			return out.write(a, 0, func(w io.Writer) error { return datagen.Vectors(cmd.Context(), w, o) })
		},
	}
	out.addFlags(cmd)
	f := cmd.Flags()
	count = 1000
	f.Var(&count, "count", "number of vectors")
	f.BoolVar(&o.Queries, "queries", false, "make queries instead of documents")
	f.BoolVar(&o.Sorted, "sorted", false, "make neighbours of documents with the same first topic")
	f.IntVar(&o.Entries, "entries", 0, "tokens a vector, on average (default 119; of a query 43)")
	f.IntVar(&o.Tokens, "tokens", 0, "size of the vocabulary (default 30522)")
	f.IntVar(&o.Topics, "topics", 0, "number of topics (default 1000)")
	return cmd
}
