package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/datagen"
)

func newGenerateTextCmd(a *app) *cobra.Command {
	var out generateOutput
	var size, tokens, docs countFlag
	var o datagen.TextOptions
	cmd := &cobra.Command{
		Use:   "text",
		Short: "Make documents of words that follow Zipf's law",
		Long: `Make documents of made-up words. Words are drawn from a Zipf-Mandelbrot law, document lengths
from a lognormal distribution; the defaults give the numbers of words, documents and distinct
words of samples of ClueWeb09-B. Words are separated by a blank; each document is a line, with a
blank line between documents.

With --lines it makes sentences, one per line, like those of the 1 Billion Word Benchmark: 27
words on average, 2.4 million distinct ones among 719 million.`,
		Example: `  collocate generate text --docs 1000
  collocate generate text --bytes 100MB --seed 1 -o web100.txt
  collocate generate text --lines --tokens 50M -o news.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Bytes, o.Tokens, o.Docs = int64(size), int64(tokens), int64(docs)
			o.Seed, o.Threads = out.seed, a.textThreads()
			sizes := 0
			for _, name := range []string{"bytes", "tokens", "docs"} {
				if cmd.Flags().Changed(name) {
					sizes++
				}
			}
			if sizes > 1 {
				return usagef("--bytes, --tokens and --docs: give only one of them")
			}
			if o.Lines && !cmd.Flags().Changed("mu") {
				o.Mu = 3.171
			}
			if o.Lines && !cmd.Flags().Changed("sigma") {
				o.Sigma = 0.5
			}
			if o.Mu == 0 && o.Sigma == 0 {
				return usagef("--mu 0, --sigma 0: want one of them above 0")
			}
			return out.write(a, o.Bytes, func(w io.Writer) error { return datagen.Text(cmd.Context(), w, o) })
		},
	}
	out.addFlags(cmd)
	f := cmd.Flags()
	f.Var(&size, "bytes", "size in bytes, such as 100MB: exact, padded with blanks after the last word")
	f.Var(&tokens, "tokens", "size in words, such as 50M")
	f.Var(&docs, "docs", "size in documents (or lines); 1000 if no size is given")
	f.BoolVar(&o.Lines, "lines", false, "sentences, one a line, instead of documents")
	f.BoolVar(&o.LongWords, "long-words", false,
		"vary the lengths of words as in the term weighting paper, up to 24 letters")
	f.Float64Var(&o.Mu, "mu", 6, "mean of the logarithm of document lengths; with --lines 3.171 if not given")
	f.Float64Var(&o.Sigma, "sigma", 1.1,
		"deviation of the logarithm of document lengths; with --lines 0.5 if not given")
	return cmd
}
