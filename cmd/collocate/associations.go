package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
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

// measureFlags are the flags of verbs that rank pairs of words.
type measureFlags struct {
	names   []string
	opt     words.Options
	network string
	out     string
}

func (f *measureFlags) register(a *app, cmd *cobra.Command, top int, minCount float64) {
	cmd.Flags().StringSliceVar(&f.names, "by", []string{"logdice"},
		"measures; the list is sorted by the first: "+strings.Join(words.Measures(), ", "))
	cmd.Flags().IntVar(&f.opt.Top, "top", top,
		"number of pairs; unless it is given, up to a million in --out")
	cmd.Flags().Float64Var(&f.opt.MinCount, "min-count", minCount,
		"leave out pairs that co-occur less often, or have a smaller value")
	cmd.Flags().Uint64Var(&f.opt.MinFreq, "min-frequency", 0, "leave out pairs with a word that occurs less often")
	cmd.Flags().BoolVar(&f.opt.P, "p", false,
		"also show p-values of g2, plain and corrected for the number of pairs: q (Benjamini-Hochberg), Bonferroni")
	cmd.Flags().StringVar(&f.network, "network", "", "draw the words as a network in `FILE`: .svg, .graphml or .gexf")
	a.tableFlags(cmd, &f.out, "also write")
	choices(cmd, map[string][]string{"by": words.Measures()})
}

// options checks the flags and returns the options. With --out and without --top the list is
// complete, for the file; the terminal shows its first pairs.
func (f *measureFlags) options(a *app, cmd *cobra.Command) (words.Options, error) {
	if f.opt.Top < 1 {
		return f.opt, usagef("--top %d: want at least 1", f.opt.Top)
	}
	f.opt.By = nil
	for _, name := range f.names {
		m, err := words.ParseMeasure(name)
		if err != nil {
			return f.opt, usageError{err}
		}
		f.opt.By = append(f.opt.By, m)
	}
	f.opt.Threads = a.threads
	if err := a.checkTableFile(f.out); err != nil {
		return f.opt, err
	}
	if f.network != "" {
		if _, err := words.NetworkFormat(f.network); err != nil {
			return f.opt, usageError{err}
		}
	}
	opt := f.opt
	if f.out != "" && !cmd.Flags().Changed("top") {
		opt.Top = mostInFile
	}
	return opt, canWrite(f.network)
}

// partsFlags are the parts of the corpus that dispersion compares.
type partsFlags struct {
	equal int
	group string
}

func (f *partsFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.equal, "parts", 0,
		"measure dispersion over this number of equal parts of the corpus, not over documents")
	cmd.Flags().StringVar(&f.group, "group", "",
		"treat documents whose IDs have the same match of this `REGEXP`, such as '^[^.]+', as one")
	cmd.MarkFlagsMutuallyExclusive("parts", "group")
}

func (f *partsFlags) parts() (p words.Parts, err error) {
	if f.equal < 0 || f.equal == 1 || f.equal > 100_000 {
		return p, usagef("--parts %d: want 2 to 100000", f.equal)
	}
	p.Equal = f.equal
	if f.group != "" {
		if p.Group, err = regexp.Compile(f.group); err != nil {
			return p, usagef("--group: %v", err)
		}
	}
	return p, nil
}

// spreadFlags name the corpus of a matrix, which has the number of documents of each pair.
type spreadFlags struct {
	paths []string
	parts partsFlags
}

func (f *spreadFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.paths, "corpus", nil,
		"files and folders that the matrix of counts was made from: also show the number of documents of each pair")
	f.parts.register(cmd)
}

// fill reads the corpus of --corpus, if any, and sets the document counts of the pairs.
func (f *spreadFlags) fill(ctx context.Context, a *app, read corpusFlags, r *cooccur.Reader,
	pairs []words.Association) error {
	if len(f.paths) == 0 {
		return nil
	}
	parts, err := f.parts.parts()
	if err != nil {
		return err
	}
	read.Analyzer = r.Corpus().Analyzer
	err = words.Spread(ctx, r, read.corpus(a, f.paths), pairs, words.SpreadOptions{Parts: parts, Threads: a.threads})
	if err != nil {
		return fmt.Errorf("--corpus: %w", err)
	}
	return nil
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
