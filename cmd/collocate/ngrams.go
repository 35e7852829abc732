package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/words"
)

func newNgramsCmd(a *app) *cobra.Command {
	var (
		ask api.Ngrams
		out string
	)
	cmd := &cobra.Command{
		Use:     "ngrams CORPUS...|INDEX",
		Short:   "Count sequences of words",
		GroupID: groupWords,
		Long: `Count all sequences of 2 to 5 words (or other lengths) exactly, and list the most frequent ones
with the number of their documents; ties are in byte order. None crosses the border of two fields. Data beyond --memory go to temporary
files. An INDEX must store its text.`,
		Example: `  collocate ngrams war-and-peace.txt -n 3
  collocate ngrams war-and-peace.txt --of 'love*'
  collocate ngrams papers.jsonl -n 2-5 --min-count 10 --min-docs 3 --out ngrams.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			if len(strings.Fields(ask.Of)) > 1 {
				a.guess(fmt.Sprintf("--of %q: n-grams with any of these words are counted, not only those with all of them", ask.Of))
			}
			env, done, err := a.wordsIn(cmd, &ask.Reading, args, out)
			if err != nil {
				return err
			}
			defer done()
			all := ask
			if out != "" && !cmd.Flags().Changed("top") {
				all.Top = 0
			}
			table := &resultTable{names: []string{"ngram", "n", "count", "docs"}, dir: env.TempDir}
			defer table.close()
			found, err := all.Do(cmd.Context(), env, func(g words.Ngram) error {
				return table.add(g.Text, g.N, g.Count, g.Documents)
			})
			if err != nil {
				return asFlags(api.NgramsQuestion, err)
			}
			with := ""
			if ask.Of != "" {
				with = " with " + ask.Of
			}
			a.summary("%s in %s; %s%s found at least %s",
				counted(int64(found.Words), "word"), counted(int64(found.Documents), "document"),
				counted(int64(found.Found), "n-gram"), with, counted(int64(ask.MinCount), "time"))
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			switch {
			case a.json:
				return table.printJSON(a, found, "ngrams", func(row []any) any {
					return words.Ngram{Text: row[0].(string), N: row[1].(int), Count: row[2].(uint64),
						Documents: row[3].(int)}
				})
			case out != "":
				return nil
			}
			return table.print(a.stdout)
		},
	}
	addFlags(cmd, api.NgramsQuestion, &ask)
	a.tableFlags(cmd, &out, "write")
	cmd.Flags().Lookup("out").Usage += "; all unless --top is given"
	return cmd
}
