package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/words"
)

func newKeywordsCmd(a *app) *cobra.Command {
	var (
		corpus    corpusFlags
		opt       words.CorpusKeyOptions
		reference []string
		out       string
	)
	cmd := &cobra.Command{
		Use:         "keywords CORPUS... --reference CORPUS",
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
P is the p-value of g2, Q is corrected for the number of words (Benjamini-Hochberg).`,
		Example: `  collocate keywords darwin.txt --reference austen.txt
  collocate keywords papers-2024.jsonl --reference papers-2014.jsonl --analyzer english --by g2 --documents
  collocate keywords a.txt --reference b.txt -n 3 --negative`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if opt.Top < 1 {
				return usagef("--top %d: want at least 1", opt.Top)
			}
			if opt.N < 1 || opt.N > 9 {
				return usagef("-n %d: want 1 to 9", opt.N)
			}
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			var err error
			if opt.Analyzer, err = corpus.analyzer(); err != nil {
				return err
			}
			opt.MinCount = max(opt.MinCount, 1) // 0 would mean the default
			corpus.hint(cmd, a, append(append([]string{}, args...), reference...))
			cleanup, err := spoolStdin(a.stdin, &args, "")
			if err != nil {
				return err
			}
			defer cleanup()
			table := &resultTable{names: []string{"word", "f1", "f2", "lrc", "g2", "logratio", "diff", "p", "q"}}
			defer table.close()
			shown := opt.Top
			opt.Threads, opt.Memory, opt.Engine, opt.Device = a.threads, int64(a.memory), a.engine, a.gpu
			if out != "" {
				table.dir = cooccur.ScratchDir(out)
				opt.TempDir = table.dir
				if !cmd.Flags().Changed("top") {
					opt.Top = math.MaxInt
				}
			}
			opt.Each = func(k words.Keyword) error {
				return table.add(k.Word, k.F1, k.F2, k.LRC, k.G2, k.LogRatio, k.Diff, k.P, k.Q)
			}
			_, stats, err := words.KeywordsOf(cmd.Context(), corpus.corpus(a, args, out),
				corpus.corpus(a, reference, out), opt)
			if err != nil {
				return err
			}
			a.summary("%d and %d %s; %d compared", stats.N1, stats.N2,
				map[bool]string{false: "words", true: "documents"}[opt.Documents], stats.Compared)
			if err := table.writeFile(a, out); err != nil {
				return err
			}
			table.most = shown
			if a.json {
				return table.printJSON(a, struct {
					N1       uint64 `json:"n1"`
					N2       uint64 `json:"n2"`
					Compared int    `json:"compared"`
					Keywords []any  `json:"keywords"`
				}{stats.N1, stats.N2, stats.Compared, []any{}}, "keywords", nil)
			}
			return table.print(a.stdout)
		},
	}
	corpus.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&reference, "reference", nil, "the corpus to compare with: files and folders")
	f.Var(textFlag{&opt.By, "keyness"}, "by", "order: lrc, g2, logratio or diff")
	f.IntVar(&opt.Top, "top", 20, "number of words; unless it is given, all are written to --out")
	f.Uint64Var(&opt.MinCount, "min-count", 5, "leave out words that occur less often in both corpora together")
	f.BoolVar(&opt.Negative, "negative", false, "list the words that are rarer here instead")
	f.BoolVar(&opt.Documents, "documents", false, "compare numbers of documents instead of occurrences")
	f.IntVarP(&opt.N, "ngram", "n", 1, "compare sequences of this number of words")
	a.tableFlags(cmd, &out, "also write")
	must(cmd.MarkFlagRequired("reference"))
	choices(cmd, map[string][]string{"by": {"lrc", "g2", "logratio", "diff"}})
	return cmd
}
