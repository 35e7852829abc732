package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/text"
)

// vocabFlags choose the words of a vocabulary.
type vocabFlags struct {
	opt      cooccur.VocabularyOptions
	tieOrder string
}

func (f *vocabFlags) register(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.opt.MinCount, "min-count", 1, "leave out words that occur less often")
	cmd.Flags().IntVar(&f.opt.MaxSize, "max-size", 0, "keep at most this many words, the most frequent; 0 means all")
	cmd.Flags().StringVar(&f.tieOrder, "ties", "glove",
		"order of words with equal counts: glove (signed bytes) or bytes")
	choices(cmd, map[string][]string{"ties": {"glove", "bytes"}})
	cmd.Flags().BoolVar(&f.opt.KeepUnk, "keep-unk", false, "accept the word <unk> in the corpus, which GloVe does not")
}

// options returns the options of the vocabulary, completed from the other flags.
func (f *vocabFlags) options(a *app, an text.Analyzer) (cooccur.VocabularyOptions, error) {
	switch f.tieOrder {
	case "glove":
		f.opt.Order = cooccur.GloVeOrder
	case "bytes":
		f.opt.Order = cooccur.ByteOrder
	default:
		return f.opt, usagef("--ties %q: want glove or bytes", f.tieOrder)
	}
	if f.opt.MaxSize < 0 {
		return f.opt, usagef("--max-size %d: want 0 or more", f.opt.MaxSize)
	}
	f.opt.Analyzer = an
	f.opt.Engine, f.opt.Device, f.opt.Threads, f.opt.Memory = a.engine, a.gpu, a.threads, int64(a.memory)
	f.opt.Also = a.alsoGPUs()
	return f.opt, nil
}

func newVocabCmd(a *app) *cobra.Command {
	corpus := corpusFlags{Reading: api.Reading{Analyzer: "whitespace"}, plain: text.Lines}
	var flags vocabFlags
	var out string
	cmd := &cobra.Command{
		Use:         "vocab [CORPUS...]",
		Short:       "Count the words of a corpus",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `Write the vocabulary of a corpus: a line 'word count' for each distinct word, in descending
order of counts, as GloVe's vocab_count does. By default, words are separated by blanks, every
line of plain text is a document, and ties are in GloVe's order. Without a corpus, or with -, read standard
input. --engine auto uses a GPU, if there is one, for plain text that would keep the CPU cores
busy for more than two or three seconds.`,
		Example: `  collocate vocab corpus.txt --min-count 5 --out vocab.txt
  collocate vocab --format jsonl --analyzer unicode --max-size 50000 articles.jsonl.zst --out vocab.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			an, err := corpus.analyzer()
			if err != nil {
				return err
			}
			measured := a.meter(a.stats)
			corpus.hint(cmd, a, args)
			opt, err := flags.options(a, an)
			if err != nil {
				return err
			}
			if err := canWrite(out); err != nil {
				return err
			}
			v, stats, err := cooccur.CountWords(cmd.Context(), corpus.corpus(a, args, out), opt)
			if err != nil {
				return err
			}
			if v.Len() == 0 && stats.Distinct > 0 {
				return fmt.Errorf("--min-count %d leaves none of %s: no word occurs that often",
					opt.MinCount, counted(stats.Distinct, "distinct word"))
			}
			a.log.Info("counted", "engine", stats.Engine, "threads", a.threads)
			used := measured(stats.Words, perWords)
			if a.json {
				return a.vocabularyJSON(v, stats, out, used)
			}
			if err := a.writeVocabulary(v, out); err != nil {
				return err
			}
			a.summary("%s of %s, %d distinct; kept %d", counted(stats.Words, "word"),
				counted(stats.Documents, "document"), stats.Distinct, stats.Kept)
			a.printEnergy(used)
			return nil
		},
	}
	corpus.register(cmd)
	flags.register(cmd)
	a.registerSharing(cmd)
	a.registerStats(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default standard output); .parquet for a table of id, word and count")
	return cmd
}

// vocabularyJSON prints a summary of a vocabulary, with its words unless a file has them.
func (a *app) vocabularyJSON(v *cooccur.Vocabulary, stats cooccur.VocabularyStats, path string,
	used *energyUse) error {
	type word struct {
		Word  string `json:"word"`
		Count uint64 `json:"count"`
	}
	var list []word
	if path == "" || path == "-" {
		list = make([]word, v.Len())
		for i := range list {
			list[i] = word{string(v.Word(i)), v.Count(i)}
		}
	} else if err := a.writeVocabulary(v, path); err != nil {
		return err
	}
	return a.printJSON(struct {
		Engine string `json:"engine"`
		cooccur.VocabularyStats
		Energy     *energyUse `json:"energy,omitempty"`
		Vocabulary []word     `json:"vocabulary,omitzero"`
	}{stats.Engine.String(), stats, used, list})
}

// writeVocabulary writes to a file, or to standard output without a name.
func (a *app) writeVocabulary(v *cooccur.Vocabulary, path string) error {
	if path == "" || path == "-" {
		_, err := v.WriteTo(a.stdout)
		return err
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error {
		if strings.EqualFold(filepath.Ext(path), ".parquet") {
			return v.WriteParquet(f)
		}
		_, err := v.WriteTo(f)
		return err
	})
}
