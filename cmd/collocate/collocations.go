package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/words"
)

func newCollocationsCmd(a *app) *cobra.Command {
	var (
		ask   api.Collocations
		files pairFlags
	)
	cmd := &cobra.Command{
		Use:         "collocations CORPUS...|INDEX|MATRIX",
		Short:       "List strongly associated pairs of words",
		GroupID:     groupWords,
		Annotations: hasGPU,
		Long: `List the most strongly associated pairs of words of a corpus: those that occur within --window
words of each other, in one field, more often than by chance. DOCS is the number of documents that have the
pair, and DPNORM tells how evenly it is distributed over them (Gries' normalised deviation of
proportions: 0 is even, 1 is all in one place). A pair that occurs in a single document says
little about the language: --min-docs leaves such pairs out.

More:
` + measureHelp + `

An INDEX must store its text. A MATRIX is a .cooc file written by 'collocate cooccur'. It does not say which documents have a
pair: --corpus names the corpus that it was made from, which is then read once more.`,
		Example: `  collocate collocations war-and-peace.txt
  collocate collocations papers.jsonl --analyzer english --of membrane --by logdice,mi,g2 --p
  collocate collocations papers.jsonl --group '^[^.]+' --min-docs 5 --network pairs.svg --out pairs.csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			env, done, err := a.matrixOrWords(cmd, &ask, args)
			if err != nil {
				return err
			}
			defer done()
			all := ask
			if err := files.check(a, cmd, env, &all.Top); err != nil {
				return err
			}
			found, err := all.Do(cmd.Context(), env)
			if err != nil {
				return asFlags(api.CollocationsQuestion, inMatrix(args[0], env, err))
			}
			if env.Matrix == nil {
				a.summary("%s in %s; %s co-occur at least %g times, of which those in at least %s are ranked",
					counted(found.Words, "word"), counted(found.Documents, "document"),
					counted(found.Compared, "pair"), max(ask.MinCount, 1), counted(found.MinDocs, "document"))
			}
			return a.printAssociations(found, ask.P, env.Shown, &files)
		},
	}
	addFlags(cmd, api.CollocationsQuestion, &ask)
	files.register(a, cmd)
	return cmd
}

// matrixOrWords returns what collocations are asked of: a matrix, an index or a corpus.
func (a *app) matrixOrWords(cmd *cobra.Command, ask *api.Collocations, args []string) (
	env *api.Env, done func(), err error) {
	var r *cooccur.Reader
	if len(args) == 1 && !isIndex(args[0]) {
		r, err = cooccur.Open(args[0])
		if _, other := errors.AsType[*sections.KindError](err); other || err != nil && !isCooc(args[0]) {
			r, err = nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if r == nil {
		if len(ask.Corpus) > 0 {
			return nil, nil, usagef("--corpus needs a matrix, and %s is a corpus; leave it out", args[0])
		}
		return a.wordsIn(cmd, &ask.Reading, args)
	}
	for _, name := range []string{"window", "side", "analyzer", "stopwords", "min-docs"} {
		if cmd.Flags().Changed(name) {
			r.Close()
			return nil, nil, usagef("--%s needs a corpus, and %s is a matrix; leave it out", name, args[0])
		}
	}
	env = a.env()
	env.Matrix = r
	if err := a.besideMatrix(cmd, env, &ask.Files, ask.Corpus); err != nil {
		r.Close()
		return nil, nil, err
	}
	return env, func() { r.Close() }, nil
}

// inMatrix names the matrix in errors about words that it does not have, and the corpus in those
// that come from reading it again.
func inMatrix(path string, env *api.Env, err error) error {
	if _, ok := errors.AsType[*words.UnknownWord](err); ok && env.Matrix != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	switch wrong, ok := errors.AsType[*api.Error](err); {
	case ok && wrong.Param == "words":
		return fmt.Errorf("%s: %w", path, wrong.Err)
	case !ok && err != nil && env.Reference != nil:
		return fmt.Errorf("--corpus: %w", err)
	}
	return err
}

// isCooc reports whether a file name ends like that of a matrix.
func isCooc(path string) bool {
	f, err := cooccur.FormatOf(path)
	return err == nil && f == cooccur.CSR
}

// printAssociations prints the pairs and writes the files of --out and --network.
func (a *app) printAssociations(found *api.Associations, p bool, top int, f *pairFlags) error {
	list := found.List
	table, err := associationTable(list, p)
	if err != nil {
		return err
	}
	defer table.close()
	if err := table.writeFile(a, f.out); err != nil {
		return err
	}
	table.most = top
	if f.network != "" {
		if err := a.writeNetwork(f.network, list.Pairs[:min(len(list.Pairs), top)]); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(found)
	}
	return table.print(a.stdout)
}
