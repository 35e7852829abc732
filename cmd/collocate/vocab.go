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
type vocabFlags struct{ api.Counting }

func (f *vocabFlags) register(cmd *cobra.Command) { addFlags(cmd, api.CountingQuestion, &f.Counting) }

// options returns the options of the vocabulary, completed from the other flags.
func (f *vocabFlags) options(a *app, an text.Analyzer) cooccur.VocabularyOptions {
	env := a.env()
	env.Analyzer = an
	return f.Options(env)
}

func newVocabCmd(a *app) *cobra.Command {
	var ask api.Vocabulary
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
			corpus := corpusFlags{Reading: ask.Reading, plain: text.Lines}
			env := a.env()
			var err error
			if env.Analyzer, err = corpus.analyzer(); err != nil {
				return err
			}
			measured := a.meter(a.stats)
			corpus.hint(cmd, a, args)
			if err := canWrite(out); err != nil {
				return err
			}
			env.Corpus = corpus.corpus(a, args, out)
			found, err := ask.Do(cmd.Context(), env)
			if err != nil {
				return err
			}
			v, stats := found.List, found.VocabularyStats
			if v.Len() == 0 && stats.Distinct > 0 {
				return fmt.Errorf("--min-count %d leaves none of %s: no word occurs that often",
					ask.MinCount, counted(stats.Distinct, "distinct word"))
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
	addFlags(cmd, api.VocabularyQuestion, &ask)
	a.registerSharing(cmd, "the documents")
	a.registerStats(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default standard output); .parquet for a table of id, word and count")
	return cmd
}

// vocabularyJSON prints a summary of a vocabulary, with its words unless a file has them.
func (a *app) vocabularyJSON(v *cooccur.Vocabulary, stats cooccur.VocabularyStats, path string,
	used *energyUse) error {
	answer := api.VocabularyAnswer{Engine: stats.Engine, VocabularyStats: stats, List: v}
	if path == "" || path == "-" {
		answer.Fill()
	} else if err := a.writeVocabulary(v, path); err != nil {
		return err
	}
	return a.printJSON(struct {
		api.VocabularyAnswer
		Energy *energyUse `json:"energy,omitempty"`
	}{answer, used})
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
