package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

func newCooccurConvertCmd(a *app) *cobra.Command {
	var (
		opt                  cooccur.ConvertOptions
		vocab, analyzer, out string
		window               int
	)
	cmd := &cobra.Command{
		Use:   "convert FILE --out FILE",
		Short: "Write a matrix in another format",
		Long: `Convert a matrix to another format: .cooc, .bin (Stanford GloVe), .mtx, .npz, .parquet or .tsv,
by the names of the files. Words keep their numbers, which .bin and .mtx count from 1, the
others from 0.

.cooc, .npz and .parquet files of 'collocate cooccur' contain words, frequencies and the options
of the matrix. For others --vocab names the vocabulary, in GloVe's format; and a .cooc file also
needs --window, with --side, --weighting and --analyzer if they are not GloVe's. Entries may be
in any order; then they are sorted in memory.`,
		Example: `  collocate cooccur convert cooccurrence.bin --vocab vocab.txt --window 15 --out words.cooc
  collocate cooccur convert words.cooc --out words.npz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			from, err := cooccur.FormatOf(args[0])
			if err != nil {
				return usageError{err}
			}
			to, err := cooccur.FormatOf(out)
			if err != nil {
				return usageError{err}
			}
			if opt.Options.Window = window; window < 0 || window > cooccur.MaxWindow {
				return usagef("--window %d: want 1 to %d", window, cooccur.MaxWindow)
			}
			if opt.Options.Analyzer, err = text.ParseAnalyzer(analyzer); err != nil {
				return usageError{err}
			}
			if err := canWrite(out); err != nil {
				return err
			}
			if vocab != "" {
				if opt.Vocabulary, err = cooccur.ReadVocabularyFile(vocab); err != nil {
					return err
				}
			}
			opt.Memory, opt.Threads = int64(a.memory), a.threads
			c, err := cooccur.Convert(cmd.Context(), args[0], from, out, to, opt)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Words   int64 `json:"words"`
					Entries int64 `json:"entries"`
				}{c.Words, c.Entries})
			}
			a.summary("%s, %d entries", counted(c.Words, "word"), c.Entries)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "file to write; its name says the format")
	f.StringVar(&vocab, "vocab", "", "vocabulary with frequencies, for files that have none")
	f.IntVar(&window, "window", 0, "the matrix's window, if it is not known")
	f.Var(textFlag{&opt.Options.Side, "side"}, "side", "the matrix's side, if it is not known: both, left or right")
	f.Var(textFlag{&opt.Options.Weighting, "weighting"}, "weighting", "the matrix's weighting, if it is not known: distance or count")
	f.StringVar(&analyzer, "analyzer", "whitespace", "the matrix's analyzer, if it is not known; "+analyzerHelp())
	must(cmd.MarkFlagRequired("out"))
	choices(cmd, map[string][]string{"side": {"both", "left", "right"},
		"weighting": {"distance", "count"}, "analyzer": text.Analyzers()})
	return cmd
}
