package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
)

func newWordlistCmd(a *app) *cobra.Command {
	var (
		ask api.Wordlist
		out string
	)
	cmd := &cobra.Command{
		Use:     "wordlist CORPUS...|INDEX",
		Short:   "List words with frequency, documents and dispersion",
		GroupID: groupWords,
		Long: `List the words of a corpus in descending order of frequency, ties in byte order, with
  COUNT, PER MILLION   occurrences, and in a million words
  RANGE                documents that have the word, or other parts of the corpus
  DP, DPNORM           Gries' deviation of proportions: 0 is even, near 1 is all in one place;
                       DPNORM is divided by the most that DP can be
  D                    Juilland's D: 1 is even, 0 is all in one place
Dispersion is measured over documents, over --parts equal parts, or over a --group of documents.
The corpus is read twice. An INDEX must store its text.`,
		Example: `  collocate wordlist war-and-peace.txt --parts 10
  collocate wordlist papers.jsonl --analyzer english --group '^[^.]+' --out words.csv`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkTableFile(out); err != nil {
				return err
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
			list, err := all.Do(cmd.Context(), env)
			if err != nil {
				return asFlags(api.WordlistQuestion, err)
			}
			table := &resultTable{names: []string{"word", "count", "per_million", "range", "dp", "dpnorm", "d"}}
			defer table.close()
			for _, w := range list.List {
				if err := table.add(w.Word, w.Count, w.PerMillion, w.Range, w.DP, w.DPnorm, w.D); err != nil {
					return err
				}
			}
			a.summary("%s of %s, %d distinct; dispersion over %s",
				counted(int64(list.Words), "word"), counted(list.Documents, "document"),
				list.Distinct, counted(int64(list.Parts), "part"))
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(list)
			case out != "":
				return nil
			}
			return table.print(a.stdout)
		},
	}
	addFlags(cmd, api.WordlistQuestion, &ask)
	a.tableFlags(cmd, &out, "write")
	cmd.Flags().Lookup("out").Usage += "; all unless --top is given"
	return cmd
}
