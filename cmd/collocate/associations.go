package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/words"
)

// measureHelp explains the measures in the help of verbs that have them.
const measureHelp = `O (COUNT) is how often two words co-occur: the occurrences of the second word in the span of each
occurrence of the first. A span is the window, on both sides or on one, without the word in its
middle; in "very very" each is in the span of the other, so O is 2 for both sides. f1 and f2 are
how often each word occurs in the corpus, N is the number of words, and E = f1 f2 span / N the
value expected by chance:
  logdice  14 + log2(dice): 14 where each occurs with the other only, in corpora of any
           size (default)
  dice     2 O / (f1 + f2)
  mi       log2(O/E), high for rare words (also pmi); mi3 log2(O^3/E), less so
  npmi     mi / -log2(O / (N span)), between -1 and 1; ppmi is mi where it is positive, else 0
  t, z     (O-E)/sqrt(O), high for frequent words; (O-E)/sqrt(E)
  g2       log-likelihood ratio (also ll); chi2 with Yates' correction
  deltap   how well the first word predicts the second, deltap2 the other way round
  odds     odds ratio, 0.5 added to each cell
  lrc      conservative log ratio: the end of its confidence interval nearer to 0
  fisher   -log10 of the p-value of Fisher's exact test
  value    O itself, or the value of the cell
Measures of significance (t, z, g2, chi2, lrc, fisher, --p) are refused for matrices that are
weighted by distance or subsampled.
The measures of 'collocate cooccur --values' have the same names but other values: E is there
the row's sum times the column's sum, divided by the sum of the matrix.`

// pairFlags are the files of verbs that rank pairs of words.
type pairFlags struct{ network, out string }

func (f *pairFlags) register(a *app, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.network, "network", "", "draw the words as a network in `FILE`: .svg, .graphml or .gexf")
	a.tableFlags(cmd, &f.out, "also write")
	cmd.Flags().Lookup("out").Usage += "; unless --top is given, up to a million pairs"
}

// check checks the names of the files. If the list is complete, for a file, top becomes the number
// of its pairs, of which the terminal shows the first.
func (f *pairFlags) check(a *app, cmd *cobra.Command, env *api.Env, top *int) error {
	if err := a.checkTableFile(f.out); err != nil {
		return err
	}
	if f.network != "" {
		if _, err := words.NetworkFormat(f.network); err != nil {
			return usageError{err}
		}
	}
	if env.Shown = *top; f.out != "" && !cmd.Flags().Changed("top") {
		*top = mostInFile
	}
	return canWrite(f.network)
}

// besideMatrix sets the corpus that a matrix was made from, if its paths are given. Otherwise it
// refuses flags that say how a corpus is read.
func (a *app) besideMatrix(cmd *cobra.Command, env *api.Env, files *api.Files, paths []string) error {
	if len(paths) == 0 {
		for _, p := range append(api.FilesQuestion.At(api.Command), api.PartsQuestion.At(api.Command)...) {
			if cmd.Flags().Changed(p.Flag) {
				return usagef("--%s needs --corpus", p.Flag)
			}
		}
		return nil
	}
	read := corpusFlags{Reading: api.Reading{Files: *files, Analyzer: env.Matrix.Corpus().Analyzer}}
	var err error
	if env.Analyzer, err = read.analyzer(); err == nil {
		env.Reference = read.corpus(a, paths)
	}
	return err
}

// associationTable is a list of pairs, with a column for each measure.
func associationTable(list *words.Associations, p bool) (*resultTable, error) {
	t := &resultTable{names: []string{"word1", "word2", "count", "f1", "f2"}}
	for _, m := range list.Measures {
		if m != words.Value {
			t.names = append(t.names, m.String())
		}
	}
	if p {
		t.names = append(t.names, "p", "q", "bonferroni")
	}
	spread := len(list.Pairs) > 0 && list.Pairs[0].Spread != nil
	if spread {
		t.names = append(t.names, "docs", "dpnorm")
	}
	for _, a := range list.Pairs {
		row := []any{a.Word1, a.Word2, a.Count, a.F1, a.F2}
		for i, s := range a.Scores {
			if list.Measures[i] != words.Value {
				row = append(row, s)
			}
		}
		if p {
			row = append(row, a.P, a.Q, a.Bonferroni)
		}
		if spread {
			row = append(row, a.Spread.Range, a.Spread.DPnorm)
		}
		if err := t.add(row...); err != nil {
			return nil, err
		}
	}
	return t, nil
}
