package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/words"
)

func newWordlistCmd(a *app) *cobra.Command {
	var (
		corpus corpusFlags
		parts  partsFlags
		opt    words.ListOptions
		top    int
		out    string
	)
	cmd := &cobra.Command{
		Use:     "wordlist CORPUS...",
		Short:   "List words with frequency, documents and dispersion",
		GroupID: groupWords,
		Long: `List the words of a corpus in descending order of frequency, ties in byte order, with
  COUNT, PER MILLION   occurrences, and in a million words
  RANGE                documents that have the word, or other parts of the corpus
  DP, DPNORM           Gries' deviation of proportions: 0 is even, near 1 is all in one place;
                       DPNORM is divided by the most that DP can be
  D                    Juilland's D: 1 is even, 0 is all in one place
Dispersion is measured over documents, over --parts equal parts, or over a --group of documents.
The corpus is read twice.`,
		Example: `  collocate wordlist war-and-peace.txt --parts 10
  collocate wordlist papers.jsonl --analyzer english --group '^[^.]+' --out words.csv`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if top < 0 {
				return usagef("--top %d: want 0 (all) or more", top)
			}
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			if opt.Parts, err = parts.parts(); err != nil {
				return err
			}
			if opt.Analyzer, err = corpus.analyzer(); err != nil {
				return err
			}
			corpus.hint(cmd, a, args)
			cleanup, err := spoolStdin(a.stdin, &args, "")
			if err != nil {
				return err
			}
			defer cleanup()
			opt.Threads, opt.Memory = a.threads, int64(a.memory)
			list, err := words.List(cmd.Context(), corpus.corpus(a, args, out), opt)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("top") || out == "" {
				list.Words = list.Words[:min(len(list.Words), max(top, 0))]
			}
			table := &resultTable{names: []string{"word", "count", "per_million", "range", "dp", "dpnorm", "d"}}
			defer table.close()
			for _, w := range list.Words {
				if err := table.add(w.Word, w.Count, w.PerMillion, w.Range, w.DP, w.DPnorm, w.D); err != nil {
					return err
				}
			}
			a.summary("%s of %s, %d distinct; dispersion over %d parts",
				counted(int64(list.Total), "word"), counted(list.Documents, "document"),
				list.Distinct, list.Parts)
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			switch {
			case a.json:
				return table.printJSON(a, struct {
					Words     uint64 `json:"words"`
					Distinct  int    `json:"distinct"`
					Documents int    `json:"documents"`
					List      []any  `json:"list"`
				}{list.Total, list.Distinct, list.Documents, []any{}}, "list", nil)
			case out != "":
				return nil
			}
			return table.print(a.stdout)
		},
	}
	corpus.register(cmd)
	parts.register(cmd)
	cmd.Flags().Uint64Var(&opt.MinCount, "min-count", 1, "leave out words that occur less often")
	cmd.Flags().IntVar(&top, "top", 50, "number of words; with --out all unless it is given")
	a.tableFlags(cmd, &out, "write")
	return cmd
}
