package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/text/unicode/norm"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// cooccurCmd holds the flags of `collocate cooccur`.
type cooccurCmd struct {
	*app
	ask       api.Cooccurrence
	corpus    corpusFlags     // with the reading of ask, when the flags are parsed
	opt       cooccur.Options // of ask
	tables    paperFlags
	symmetric bool
	vocab     string
	saveVocab string
	format    string
}

func newCooccurCmd(a *app) *cobra.Command {
	c := &cooccurCmd{app: a}
	cmd := &cobra.Command{
		Use:         "cooccur [CORPUS...] --out FILE",
		Short:       "Count how often words occur near each other",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `Write the matrix of how often words occur near each other: for each word (row) the words
(columns) up to --window positions to its left and right in the same document, each
co-occurrence counted as 1/distance or as 1.

With --values the cells hold a measure of association instead. It compares the value of a cell m
with e = r c / n, where r, c and n are the sums of its row, its column and the matrix:
  pmi      log2(m/e); ppmi is pmi where it is positive, else 0
  npmi     pmi / -log2(m/n), between -1 and 1
  ll       log-likelihood ratio, below 0 where m < e
  dice     2 m / (r + c)

The format follows from the name of --out, or from --out-format:
  .cooc     csr      our own: memory-mapped rows with words, for 'collocate neighbours' (tests of
                     significance need --weighting count) and 'collocate embed'
  .bin      glove    Stanford GloVe's cooccurrence.bin, for its shuffle and glove; IDs from 1
  .mtx      mtx      Matrix Market; IDs from 1
  .npz      npz      SciPy's CSR: scipy.sparse.load_npz; IDs from 0, with the words
  .parquet  parquet  id1, id2 (from 0), word1, word2, value
  .tsv      tsv      lines of word, word, value

More:
'collocate neighbours --by' has measures of the same names as --values by the frequencies of the words in the
corpus: E = f1 f2 span / N. The values differ where windows end with short documents, and in
matrices weighted by distance.

The vocabulary is read from --vocab, or counted first, with --min-count and --max-size. Words
outside it are removed before windows are formed. Windows do not cross documents, nor the fields of
a document or the values of a list in it, which a GPU leaves to the cores. For GloVe's
.bin, each line of plain text is a document, as in GloVe. For other files that is so with --format
lines, and without blank lines in the text; a guess is said. Then results and other defaults are
GloVe's; --side right is GloVe's -symmetric 0. GloVe rounds at each addition, so its sums have a
relative error of up to 1e-11 where these are exact. If nothing overflows its memory, as with
small corpora, GloVe writes its first record with twice the value.

--engine auto uses a GPU, if there is one, for plain text that would keep the CPU cores busy for
more than two or three seconds, the longest time that opening a GPU takes.`,
		Example: `  collocate cooccur corpus.txt --weighting count --min-count 5 --window 5 --out counts.cooc
  collocate cooccur corpus.txt --min-count 5 --window 10 --save-vocab vocab.txt --out corpus.cooc
  collocate cooccur corpus.txt --vocab vocab.txt --window 15 --out cooccurrence.bin
  collocate cooccur papers.jsonl --analyzer english --weighting count --window 5 --out papers.cooc
  collocate cooccur papers.jsonl --analyzer english --values ppmi --window 5 --out papers.npz`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	addFlags(cmd, api.CooccurrenceQuestion, &c.ask)
	f := cmd.Flags()
	f.StringVar(&c.vocab, "vocab", "", "read the vocabulary from this file instead of counting words first")
	f.StringVar(&c.saveVocab, "save-vocab", "", "write the vocabulary that was counted to this file")
	f.BoolVar(&c.symmetric, "symmetric", true, "count both sides; --symmetric=false is --side right, as in GloVe")
	c.tables.register(cmd)
	c.registerSharing(cmd, "the documents")
	c.registerStats(cmd)
	f.StringVar(&c.format, "out-format", "", "csr, glove, mtx, npz, parquet or tsv (default by the name of --out)")
	must(cmd.MarkFlagRequired("out"))
	group(cmd, "Vocabulary", "vocab", "save-vocab", "min-count", "max-size", "ties", "keep-unk")
	choices(cmd, map[string][]string{"out-format": {"csr", "glove", "mtx", "npz", "parquet", "tsv"},
		"window": {"document"}, "encoding": encodingNames})
	cmd.AddCommand(newCooccurCheckCmd(a), newCooccurConvertCmd(a))
	return cmd
}

func (c *cooccurCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	env := c.env()
	c.corpus.Reading, c.opt = c.ask.Reading, c.ask.Options(env)
	format, err := c.check(cmd)
	if err != nil {
		return err
	}
	if format == cooccur.GloVe {
		c.corpus.plain = text.Lines
	}
	an, err := c.corpus.analyzer()
	if err != nil {
		return err
	}
	measured := c.meter(c.stats)
	c.corpus.hint(cmd, c.app, args)
	if c.vocab == "" {
		// The corpus is read twice; standard input can only be read once.
		cleanup, err := c.spoolStdin(&args, cooccur.ScratchDir(c.ask.Out))
		if err != nil {
			return err
		}
		defer cleanup()
	}
	c.opt.Analyzer, env.Analyzer = an, an
	var v *cooccur.Vocabulary
	var file *cooccur.File
	begin := func(made *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
		v = made
		if v.Len() == 0 && c.ask.MinCount > 1 {
			return nil, fmt.Errorf("--min-count %d: no word of the corpus occurs that often, "+
				"so the matrix would be empty", c.ask.MinCount)
		}
		if c.saveVocab != "" {
			if err := c.writeVocabulary(v, c.saveVocab); err != nil {
				return nil, err
			}
		}
		file, err = cooccur.Create(c.ask.Out, format, v, c.opt)
		return file, err
	}
	defer func() {
		if file != nil {
			file.Abort()
		}
	}()
	stats, err := c.matrix(ctx, args, env, begin)
	if err != nil {
		return err
	}
	if c.vocab != "" && stats.Words > 0 {
		const reasons = "are analyzer and encoding those that the vocabulary was made with?"
		switch {
		case stats.Kept == 0 && c.opt.Subsample == 0:
			return fmt.Errorf("none of the %s of the corpus is in %s, so the matrix would be empty: %s", counted(stats.Words, "word"), c.vocab, reasons)
		case stats.Kept*20 < stats.Words && c.opt.Subsample == 0:
			c.note(fmt.Sprintf("only %d of the %s of the corpus are in %s: %s", stats.Kept,
				counted(stats.Words, "word"), c.vocab, reasons))
		}
	}
	file.Describe(stats)
	if err := file.Commit(); err != nil {
		return err
	}
	used := measured(stats.Words, perWords)
	c.log.Info("made the matrix", "engine", stats.Engine, "threads", c.threads, "runs", stats.Runs)
	if c.json {
		return c.printJSON(struct {
			api.CooccurrenceAnswer
			Energy *energyUse `json:"energy,omitempty"`
		}{api.CooccurrenceAnswer{Engine: stats.Engine, Stats: stats}, used})
	}
	if c.opt.Values != cooccur.ByValue {
		c.summary("%d of %d entries have a %v that is not 0", file.Scored(), stats.Entries, c.opt.Values)
	}
	c.summary("%d words, %d in the vocabulary of %d; %d entries", stats.Words, stats.Kept, v.Len(), stats.Entries)
	c.printEnergy(used)
	return nil
}

// check validates the flags before anything is read.
func (c *cooccurCmd) check(cmd *cobra.Command) (cooccur.Format, error) {
	if cmd.Flags().Changed("symmetric") {
		switch side := c.opt.Side; {
		case !cmd.Flags().Changed("side") && !c.symmetric:
			c.opt.Side = cooccur.Right
		case cmd.Flags().Changed("side") && c.symmetric != (side == cooccur.Both):
			return 0, usagef("--symmetric=%t contradicts --side %v", c.symmetric, side)
		}
	}
	if c.opt.Method != cooccur.Ours && c.engine != engine.GPU && c.engine != engine.Multicore {
		return 0, usagef("--method %v needs --engine gpu or --engine multicore", c.opt.Method)
	}
	if len(c.moreDevices) > 0 && (c.opt.Method == cooccur.Paper || c.opt.Subsample > 0) {
		return 0, usagef("--more-devices: --method paper and --subsample work on one GPU")
	}
	var err error
	if c.opt.Tables, err = c.tables.tables(cmd, c.opt.Method == cooccur.Paper && c.engine == engine.GPU); err != nil {
		return 0, err
	}

	if c.vocab != "" {
		for _, f := range []string{"min-count", "max-size", "ties", "save-vocab"} {
			if cmd.Flags().Changed(f) {
				return 0, usagef("--%s has no effect with --vocab; leave it out", f)
			}
		}
	}
	if c.ask.Out == "-" {
		return 0, usagef("--out -: a matrix needs a file; to print it as lines, use --out /dev/stdout --out-format tsv")
	}
	format, err := cooccur.FormatOf(c.ask.Out)
	if c.format != "" {
		format, err = cooccur.ParseFormat(c.format)
	}
	if err != nil {
		return 0, usageError{err}
	}
	if c.opt.Values != cooccur.ByValue && format == cooccur.CSR {
		return 0, usagef("--values %v: a .cooc file holds sums; name another format, or use 'collocate neighbours --by', whose measures are by frequencies in the corpus", c.opt.Values)
	}
	return format, canWrite(c.ask.Out, c.saveVocab)
}

// matrix counts co-occurrences over the vocabulary of --vocab, or over one counted from the corpus.
func (c *cooccurCmd) matrix(ctx context.Context, args []string, env *api.Env,
	begin func(*cooccur.Vocabulary) (cooccur.Sink, error)) (cooccur.Stats, error) {
	if c.vocab == "" {
		_, stats, err := cooccur.Make(ctx, c.corpus.corpus(c.app, args, c.ask.Out, c.saveVocab),
			c.ask.Counting.Options(env), c.opt, begin)
		return stats, err
	}
	f, err := textfile.Open(c.vocab)
	if err != nil {
		return cooccur.Stats{}, err
	}
	defer f.Close()
	var words io.Reader = f
	if !text.OfBytes(c.corpus.Analyzer) {
		words = norm.NFC.Reader(f) // the analyzer normalises the words of the corpus likewise
	}
	v, err := cooccur.ReadVocabulary(words, c.vocab)
	if err != nil {
		return cooccur.Stats{}, err
	}
	if v.Len() == 0 {
		return cooccur.Stats{}, fmt.Errorf("%s: no words: want lines of a word, a blank and its count", c.vocab)
	}
	sink, err := begin(v)
	if err != nil {
		return cooccur.Stats{}, err
	}
	return cooccur.Matrix(ctx, c.corpus.corpus(c.app, args, c.ask.Out, c.saveVocab), v, c.opt, sink)
}

// spoolStdin copies standard input, if it is among the paths, to a temporary file in dir, and
// replaces it in paths by that file.
func (a *app) spoolStdin(paths *[]string, dir string) (cleanup func(), err error) {
	if len(*paths) == 0 {
		*paths = []string{"-"}
	}
	i := slices.Index(*paths, "-")
	if i < 0 {
		return func() {}, nil
	}
	if dir == "" {
		dir = os.TempDir()
	}
	// The file is never committed. If the process is killed, the next one removes it.
	f, err := atomicfile.Create(filepath.Join(dir, "collocate-stdin"))
	if err != nil {
		return nil, fmt.Errorf("keep standard input for a second reading: %w", err)
	}
	*paths = slices.Clone(*paths)
	(*paths)[i] = f.OS().Name()
	a.spooled = f.OS().Name()
	_, err = io.Copy(f, a.stdin)
	if err = errors.Join(err, f.Flush()); err != nil {
		f.Abort()
		return nil, fmt.Errorf("keep standard input for a second reading: %w", err)
	}
	return f.Abort, nil
}
