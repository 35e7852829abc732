package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/words"
)

func newCollocationsCmd(a *app) *cobra.Command {
	var (
		corpus   corpusFlags
		measures measureFlags
		spread   spreadFlags
		opt      words.CorpusOptions
	)
	cmd := &cobra.Command{
		Use:         "collocations CORPUS...|MATRIX",
		Short:       "List strongly associated pairs of words",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `List the most strongly associated pairs of words of a corpus: those that occur within --window
words of each other more often than by chance. DOCS is the number of documents that have the
pair, and DPNORM tells how evenly it is distributed over them (Gries' normalised deviation of
proportions: 0 is even, 1 is all in one place). A pair that occurs in a single document says
little about the language: --min-docs leaves such pairs out.

` + measureHelp + `

A MATRIX is a .cooc file written by 'collocate cooccur'. It does not say which documents have a
pair: --corpus names the corpus that it was made from, which is then read once more.`,
		Example: `  collocate collocations war-and-peace.txt
  collocate collocations papers.jsonl --analyzer english --of membrane --by logdice,mi,g2 --p
  collocate collocations papers.jsonl --group '^[^.]+' --min-docs 5 --network pairs.svg --out pairs.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if opt.Options, err = measures.options(a, cmd); err != nil {
				return err
			}
			if opt.Window < 1 || opt.Window >= cooccur.MaxWindow {
				return usagef("--window %d: want 1 to %d", opt.Window, cooccur.MaxWindow-1)
			}
			if opt.MinDocs < 0 {
				return usagef("--min-docs %d: want 0 (by the corpus) or more", opt.MinDocs)
			}
			if opt.Parts, err = spread.parts.parts(); err != nil {
				return err
			}
			list, err := a.matrixCollocations(cmd, args, &opt, &corpus, &spread)
			if list == nil && err == nil {
				list, err = a.corpusCollocations(cmd, args, &corpus, opt)
			}
			if err != nil {
				return err
			}
			return a.printAssociations(list, &measures)
		},
	}
	corpus.register(cmd)
	measures.register(a, cmd, 20, 5)
	spread.register(cmd)
	cmd.Flags().StringVar(&opt.Of, "of", "", "only the pairs of this `WORD`")
	cmd.Flags().IntVar(&opt.Window, "window", 5, "number of words on each side")
	cmd.Flags().Var(textFlag{&opt.Side, "side"}, "side", "neighbours to count: both, left (those before the word) or right")
	cmd.Flags().IntVar(&opt.MinDocs, "min-docs", 0,
		"leave out pairs of fewer documents; 0 means 3, or 1 for corpora of less than 10")
	choices(cmd, map[string][]string{"side": {"both", "left", "right"}})
	return cmd
}

// matrixCollocations ranks the pairs of a matrix. It returns a nil list if the arguments are not
// one matrix, so they are a corpus.
func (a *app) matrixCollocations(cmd *cobra.Command, args []string,
	opt *words.CorpusOptions, read *corpusFlags, spread *spreadFlags) (list *words.Associations, err error) {
	none := func() (*words.Associations, error) {
		if len(spread.paths) > 0 {
			return nil, usagef("--corpus needs a matrix, and %s is a corpus; leave it out", args[0])
		}
		return nil, nil
	}
	if len(args) != 1 {
		return none()
	}
	r, err := cooccur.Open(args[0])
	if _, other := errors.AsType[*sections.KindError](err); other || err != nil && !isCooc(args[0]) {
		return none()
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	of := []string{"window", "side", "analyzer", "stopwords", "min-docs"}
	if len(spread.paths) == 0 {
		of = append(of, readingFlagNames...)
	}
	for _, name := range of {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s needs a corpus, and %s is a matrix; leave it out", name, args[0])
		}
	}
	if opt.Of == "" {
		list, err = words.Collocations(cmd.Context(), r, opt.Options)
	} else {
		id, unknown := words.Find(r, opt.Of)
		if unknown != nil {
			return nil, fmt.Errorf("%s: %w", args[0], unknown)
		}
		list, err = words.Neighbours(r, id, opt.Options)
	}
	if err != nil {
		return nil, err
	}
	return list, spread.fill(cmd.Context(), a, *read, r, list.Pairs)
}

// isCooc reports whether a file name ends like that of a matrix.
func isCooc(path string) bool {
	f, err := cooccur.FormatOf(path)
	return err == nil && f == cooccur.CSR
}

func (a *app) corpusCollocations(cmd *cobra.Command, args []string, corpus *corpusFlags,
	opt words.CorpusOptions) (_ *words.Associations, err error) {
	if opt.Analyzer, err = corpus.analyzer(); err != nil {
		return nil, err
	}
	corpus.hint(cmd, a, args)
	cleanup, err := spoolStdin(a.stdin, &args, "")
	if err != nil {
		return nil, err
	}
	defer cleanup()
	opt.MinCount = max(opt.MinCount, 1) // 0 would mean the default
	opt.Memory, opt.Engine, opt.Device = int64(a.memory), a.engine, a.gpu
	opt.Progress = func(stage string, done, total int64) {
		if show := a.progress(stage); show != nil {
			show(done, total)
		}
	}
	list, stats, err := words.CollocationsOf(cmd.Context(), corpus.corpus(a, args), opt)
	if err != nil {
		return nil, err
	}
	a.summary("%s in %s; %s co-occur at least %g times, of which those in at least %s are ranked",
		counted(stats.Words, "word"), counted(stats.Documents, "document"),
		counted(list.Compared, "pair"), opt.MinCount, counted(stats.MinDocs, "document"))
	return list, nil
}

// printAssociations prints the pairs and writes the files of --out and --network.
func (a *app) printAssociations(list *words.Associations, f *measureFlags) error {
	table, err := associationTable(list, f.opt.P)
	if err != nil {
		return err
	}
	defer table.close()
	if err := table.writeFile(a, f.out); err != nil {
		return err
	}
	list.Pairs = list.Pairs[:min(len(list.Pairs), f.opt.Top)]
	table.most = f.opt.Top
	if f.network != "" {
		if err := a.writeNetwork(f.network, list.Pairs); err != nil {
			return err
		}
	}
	if a.json {
		return table.printJSON(a, struct {
			Compared int   `json:"compared"`
			Pairs    []any `json:"pairs"`
		}{list.Compared, []any{}}, "pairs", nil)
	}
	return table.print(a.stdout)
}
