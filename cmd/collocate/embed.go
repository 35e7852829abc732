package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/vectors"
)

const vectorFiles = `The name of a file of vectors says its format:
  .vec  our own, memory-mapped
  .txt  GloVe's text: a word and its numbers on each line
  .w2v  word2vec's text: the same after a line with the numbers of words and dimensions
  .bin  word2vec's binary
  .npy  a NumPy array; the words are in a file beside it that ends in .words`

func newEmbedCmd(a *app) *cobra.Command {
	var (
		ask api.Embed
		out string
	)
	cmd := &cobra.Command{
		Use:         "embed MATRIX --out FILE",
		Short:       "Make word vectors from a co-occurrence matrix",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `Make a vector for each word of a .cooc file, so that words that occur in similar contexts have
similar vectors. --method glove trains them as Stanford GloVe does, on a matrix weighted by
distance. --method svd factors the positive pointwise mutual information of the matrix (context
smoothing 0.75), which is fast for small matrices. It iterates until the residual, the root mean
square of |M M'u - s^2 u| / s^2 over all dimensions, is at most 0.005, or 30 times. For a given seed,
both give the same vectors, to the bit, on one thread, on many and on a GPU, where glove allows at
most 1016 dimensions.

With --texts the vectors are those for texts: the sum of the vectors of its words is the vector of a
text, which 'collocate index --embed' and 'collocate search --embed' make. So documents are found
that mean the same, without any model from outside: docs/meaning.md.

` + vectorFiles,
		Example: `  collocate embed corpus.cooc --dim 100 --out corpus.vec
  collocate embed corpus.cooc --method svd --dim 300 --out corpus.txt
  collocate embed corpus.cooc --method svd --texts --out texts.vec`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := ask.Check(); err != nil {
				return asFlags(api.EmbedQuestion, err)
			}
			if err := vectors.CheckName(out); err != nil {
				return usageError{err}
			}
			if ask.Texts && !strings.EqualFold(filepath.Ext(out), ".vec") {
				return usagef("--texts: %s: want a name that ends in .vec, since other files do not "+
					"keep the analyzer", out)
			}
			if err := canWrite(out); err != nil {
				return err
			}
			return a.embed(cmd.Context(), args[0], &ask, out)
		},
	}
	addFlags(cmd, api.EmbedQuestion, &ask)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write; its name says the format")
	must(cmd.MarkFlagRequired("out"))
	cmd.AddCommand(newEmbedEvalCmd(a))
	return cmd
}

// embed makes the vectors of a matrix and writes them.
func (a *app) embed(ctx context.Context, matrix string, ask *api.Embed, out string) error {
	r, err := cooccur.Open(matrix)
	if err != nil {
		return wanting(err, "a .cooc file that 'collocate cooccur' wrote")
	}
	defer r.Close()
	env := a.env()
	env.Matrix = r
	made, err := ask.Do(ctx, env, func(epoch int, loss float64) { a.summary("epoch %d: loss %.6f", epoch, loss) })
	if err != nil {
		return fmt.Errorf("%s: %w", matrix, err)
	}
	if err := made.Vectors.Write(out); err != nil {
		return err
	}
	a.log.Info("made vectors", "engine", made.Engine, "threads", a.threads)
	if a.json {
		return a.printJSON(made)
	}
	a.summary("%s of %d dimensions", counted(made.Words, "word"), made.Dim)
	return nil
}

func newEmbedEvalCmd(a *app) *cobra.Command {
	var similarity, analogies []string
	cmd := &cobra.Command{
		Use:   "eval VECTORS",
		Short: "Evaluate vectors by human judgments",
		Long: `Compare the cosines of vectors with how alike people find words (Spearman's rank correlation over
the pairs that are known), and count how many analogies are answered right. --similarity files have
two words and a number on a line, --analogies files four words. --engine gpu answers thousands of
analogies at once.`,
		Annotations: hasGPU,
		Example:     `  collocate embed eval corpus.vec --similarity wordsim353.txt --analogies questions-words.txt`,
		Args:        cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(similarity)+len(analogies) == 0 {
				return usagef("want --similarity or --analogies, files of human judgments")
			}
			v, err := vectors.Open(args[0])
			if err != nil {
				return err
			}
			defer v.Close()
			asked, err := v.NewSearcher(a.engine, a.gpu, a.threads)
			if err != nil {
				return err
			}
			defer asked.Close()
			table := &resultTable{names: []string{"file", "measure", "value", "known", "of"}}
			for _, path := range similarity {
				list, err := listIn(path, vectors.ReadJudged)
				if err != nil {
					return err
				}
				rho, known := v.Similarity(list)
				if err := table.add(filepath.Base(path), "spearman", rho, known, len(list)); err != nil {
					return err
				}
			}
			for _, path := range analogies {
				list, err := listIn(path, vectors.ReadQuestions)
				if err != nil {
					return err
				}
				right, known, err := asked.Analogies(cmd.Context(), list)
				if err != nil {
					return err
				}
				if err := table.add(filepath.Base(path), "right", float64(right)/float64(max(known, 1)),
					known, len(list)); err != nil {
					return err
				}
			}
			list, err := table.objects()
			if err != nil {
				return err
			}
			defer table.close()
			return a.printTable(table, list)
		},
	}
	cmd.Flags().StringSliceVar(&similarity, "similarity", nil, "files of two words and a number")
	cmd.Flags().StringSliceVar(&analogies, "analogies", nil, "files of four words")
	return cmd
}

func newSimilarCmd(a *app) *cobra.Command {
	var ask api.Similar
	cmd := &cobra.Command{
		Use:         "similar VECTORS WORD...",
		Short:       "Find words with similar meanings",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `Print the words whose vectors have the largest cosine with that of each given word, among all
words. The lists are the same on every engine. auto uses CPU cores: copying the vectors to a GPU
is worth it only for hundreds of words at once.

` + vectorFiles,
		Example: `  collocate similar corpus.vec whale ship`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := a.env()
			var err error
			if env.Vectors, err = vectors.Open(args[0]); err != nil {
				return err
			}
			defer env.Vectors.Close()
			ask.Words = args[1:]
			found, err := ask.Do(cmd.Context(), env)
			if err != nil {
				err = fmt.Errorf("%s: %w", args[0], err)
			}
			if found == nil {
				return err
			}
			table := &resultTable{names: []string{"of", "word", "cosine"}}
			for _, of := range found {
				for _, n := range of.Similar {
					if err := table.add(of.Word, n.Word, n.Cosine); err != nil {
						return err
					}
				}
			}
			defer table.close()
			return errors.Join(a.printTable(table, api.SimilarWords{Words: found}), err)
		},
	}
	addFlags(cmd, api.SimilarQuestion, &ask)
	return cmd
}

func newAnalogyCmd(a *app) *cobra.Command {
	var ask api.Analogy
	cmd := &cobra.Command{
		Use:     "analogy VECTORS A B C",
		Short:   "Find the word that is to C what B is to A",
		GroupID: groupWords,
		Long: `Print the words whose vectors are nearest to B - A + C: the words that are to C what B is to A.

` + vectorFiles,
		Example: `  collocate analogy corpus.vec man woman king`,
		Args:    cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			env := a.env()
			var err error
			if env.Vectors, err = vectors.Open(args[0]); err != nil {
				return err
			}
			defer env.Vectors.Close()
			ask.A, ask.B, ask.C = args[1], args[2], args[3]
			found, err := ask.Do(cmd.Context(), env)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			table, err := tableOf(found)
			if err != nil {
				return err
			}
			defer table.close()
			return a.printTable(table, found)
		},
	}
	addFlags(cmd, api.AnalogyQuestion, &ask)
	return cmd
}

// printTable prints an answer as JSON, or its table as aligned columns.
func (a *app) printTable(t *resultTable, answer any) error {
	if a.json {
		return a.printJSON(answer)
	}
	return t.print(a.stdout)
}

// listIn reads a list of human judgments.
func listIn[T any](path string, read func(io.Reader, string) ([]T, error)) ([]T, error) {
	f, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path)
}
