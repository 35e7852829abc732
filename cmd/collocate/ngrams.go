package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/words"
)

func newNgramsCmd(a *app) *cobra.Command {
	var (
		corpus  corpusFlags
		opt     words.NgramOptions
		lengths string
		of      string
		top     int
		out     string
	)
	cmd := &cobra.Command{
		Use:     "ngrams CORPUS...",
		Short:   "Count sequences of words",
		GroupID: groupWords,
		Long: `Count all sequences of 2 to 5 words (or other lengths) exactly, and list the most frequent ones
with the number of their documents; ties are in byte order. Data beyond --memory go to temporary
files.`,
		Example: `  collocate ngrams war-and-peace.txt -n 3
  collocate ngrams war-and-peace.txt --of 'love*'
  collocate ngrams papers.jsonl -n 2-5 --min-count 10 --min-docs 3 --out ngrams.csv`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if opt.Min, opt.Max, err = parseLengths(lengths); err != nil {
				return err
			}
			if top < 0 || opt.MinDocs < 0 || opt.MinCount < 1 {
				return usagef("--top and --min-docs: want 0 or more; --min-count: want at least 1")
			}
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			if opt.Analyzer, err = corpus.analyzer(); err != nil {
				return err
			}
			if of != "" {
				if opt.Of, err = words.ParseQuery(of, opt.Analyzer); err != nil {
					return usageError{fmt.Errorf("--of: %w", err)}
				}
				if len(strings.Fields(of)) > 1 {
					a.guess(fmt.Sprintf("--of %q: n-grams with any of these words are counted, not only those with all of them", of))
				}
			}
			corpus.hint(cmd, a, args)
			cleanup, err := spoolStdin(a.stdin, &args, "")
			if err != nil {
				return err
			}
			defer cleanup()
			if opt.Top = top; out != "" && !cmd.Flags().Changed("top") {
				opt.Top = 0
			}
			opt.Threads, opt.Memory = a.threads, int64(a.memory)
			if out != "" {
				opt.TempDir = cooccur.ScratchDir(out)
			}
			table := &resultTable{names: []string{"ngram", "n", "count", "docs"}, dir: opt.TempDir}
			defer table.close()
			opt.Each = func(g words.Ngram) error {
				return table.add(g.Text, g.N, g.Count, g.Documents)
			}
			_, stats, err := words.Ngrams(cmd.Context(), corpus.corpus(a, args, out), opt)
			if err != nil {
				return err
			}
			with := ""
			if of != "" {
				with = " with " + of
			}
			a.summary("%s in %s; %s%s found at least %s",
				counted(int64(stats.Words), "word"), counted(int64(stats.Documents), "document"),
				counted(int64(stats.Found), "n-gram"), with, counted(int64(opt.MinCount), "time"))
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			switch {
			case a.json:
				return table.printJSON(a, struct {
					Found  int           `json:"found"`
					Ngrams []words.Ngram `json:"ngrams"`
				}{stats.Found, []words.Ngram{}}, "ngrams", func(row []any) any {
					return words.Ngram{Text: row[0].(string), N: row[1].(int), Count: row[2].(uint64),
						Documents: row[3].(int)}
				})
			case out != "":
				return nil
			}
			return table.print(a.stdout)
		},
	}
	corpus.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&lengths, "length", "n", "2-5", "number of words, such as 3 or 2-5, up to 9")
	f.StringVar(&of, "of", "",
		"only n-grams that have this `WORD`, or one that matches the wildcards of whal* or the expression /whales?/; any of several")
	f.Uint64Var(&opt.MinCount, "min-count", 5, "leave out n-grams that occur less often")
	f.IntVar(&opt.MinDocs, "min-docs", 0, "leave out n-grams of fewer documents")
	f.IntVar(&top, "top", 50, "number of n-grams; with --out all unless it is given, 0 means all")
	a.tableFlags(cmd, &out, "write")
	return cmd
}

// parseLengths parses "3" or "2-5".
func parseLengths(s string) (lo, hi int, err error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lo < 1 || hi < lo || hi > 9 {
		return 0, 0, usageError{fmt.Errorf("-n %s: want a number of words such as 3, or a range such as 2-5, up to 9", s)}
	}
	return lo, hi, nil
}
