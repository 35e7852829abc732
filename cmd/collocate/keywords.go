package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/words"
)

func newKeywordsCmd(a *app) *cobra.Command {
	var (
		ask api.Keywords
		out string
	)
	cmd := &cobra.Command{
		Use:         "keywords CORPUS... --reference CORPUS | INDEX --query QUERY",
		Short:       "Find the words that set a corpus apart",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `Compare the words of a corpus with those of a reference corpus, which is read in the same way,
and list those that are typical of the first. F1 and F2 are the frequencies in the two corpora:
  lrc       conservative log ratio (Evert 2022): of the confidence interval of the log ratio,
            corrected for the number of words, the end that is nearer to 0 (default)
  g2        log-likelihood ratio, below 0 where the word is rarer here
  logratio  log2 of the ratio of relative frequencies, with 0.5 for a frequency of 0
  diff      %DIFF: by how many per cent the relative frequency is higher
P is the p-value of g2, Q is corrected for the number of words (Benjamini-Hochberg).

Of an INDEX that stores its text, the best documents for --query, or with --docs 0 all that match
it, are compared with those for the query --against, or with all others.`,
		Example: `  collocate keywords darwin.txt --reference austen.txt
  collocate keywords papers-2024.jsonl --reference papers-2014.jsonl --analyzer english --by g2 --documents
  collocate keywords a.txt --reference b.txt -n 3 --negative
  collocate keywords papers.index --query membrane --against neuron`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			env, done, err := a.wordsIn(cmd, &ask.Reading, args, out)
			if err != nil {
				return err
			}
			defer done()
			if len(ask.Reference) > 0 && env.Corpus != nil {
				corpus := corpusFlags{Reading: ask.Reading}
				corpus.hint(cmd, a, ask.Reference)
				env.Reference = corpus.corpus(a, ask.Reference, out)
			}
			table := &resultTable{names: []string{"word", "f1", "f2", "lrc", "g2", "logratio", "diff", "p", "q"}}
			defer table.close()
			all := ask
			if out != "" {
				if table.dir = env.TempDir; !cmd.Flags().Changed("top") {
					all.Top = math.MaxInt
				}
			}
			stats, err := all.Do(cmd.Context(), env, func(k words.Keyword) error {
				return table.add(k.Word, k.F1, k.F2, k.LRC, k.G2, k.LogRatio, k.Diff, k.P, k.Q)
			})
			if err != nil {
				return asFlags(api.KeywordsQuestion, err)
			}
			for _, note := range stats.Notes {
				a.note(note)
			}
			a.summary("%d and %d %s; %d compared", stats.Total, stats.ReferenceTotal,
				map[bool]string{false: "words", true: "documents"}[ask.Documents], stats.Compared)
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			table.most = ask.Top
			if a.json {
				return table.printJSON(a, stats, "keywords", keywordOf)
			}
			return table.print(a.stdout)
		},
	}
	addFlags(cmd, api.KeywordsQuestion, &ask)
	a.tableFlags(cmd, &out, "also write")
	cmd.Flags().Lookup("top").Usage += "; unless it is given, all are written to --out"
	return cmd
}

// keywordOf returns a row of the table as JSON has it.
func keywordOf(row []any) any {
	return words.Keyword{Word: row[0].(string), F1: row[1].(uint64), F2: row[2].(uint64), LRC: row[3].(float64),
		G2: row[4].(float64), LogRatio: row[5].(float64), Diff: row[6].(float64), P: row[7].(float64), Q: row[8].(float64)}
}
