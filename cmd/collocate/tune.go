package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

func newTuneCmd(a *app) *cobra.Command {
	var ask api.Tune
	cmd := &cobra.Command{
		Use:     "tune INDEX --topics FILE --qrels FILE",
		Short:   "Choose the parameters of a model by judgments",
		GroupID: groupSearch,
		Long: `Answer topics with every combination of parameters, and print the one that is best by a measure
of 'collocate eval', beside the defaults of the model. Without values, k1 from 0.6 to 2 and b from
0.1 to 1 are tried for bm25, and mu from 100 to 5000 for dirichlet.

Parameters that were chosen by some topics are too good for the same topics. So the topics are
divided into --folds: the parameters for each fold are chosen by all other topics, and evaluated in
the fold. CROSS-VALIDATED is the mean of these values, compared with the defaults by Student's paired
t-test and a randomisation test. Topics are plain words; those without answers count as 0.`,
		Example: `  collocate tune my.index --topics topics.xml --qrels qrels.txt
  collocate tune my.index --topics topics.xml --qrels qrels.txt --k1 0.6..2 --b 0.1..1 -m ndcg@10 --folds 5
  collocate tune my.index --topics topics.xml --qrels qrels.txt --model dirichlet --mu 500,1000,2000 -m map`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := search.Open(args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			read, err := (&api.Files{Encoding: ask.Encoding}).Options(s.Index().Analyzer())
			if err != nil {
				return asFlags(api.TuneQuestion, err)
			}
			topics, err := trec.ReadTopics(ask.Topics, trec.TopicOptions{
				Encoding: read.Encoding, IDs: ask.TopicIDs, Fields: ask.TopicField, Note: a.note})
			if err != nil {
				return err
			}
			qrels, err := trec.ReadQrels(ask.Qrels, ask.QrelsFormat, a.note)
			if err != nil {
				return err
			}
			found, err := ask.Do(cmd.Context(), s, topics, qrels, a.threads, a.progress("tuning"))
			if err != nil {
				return asFlags(api.TuneQuestion, err)
			}
			for _, note := range found.Notes {
				a.note(note)
			}
			if a.json {
				return a.printJSON(found)
			}
			return a.printTuning(found)
		},
	}
	addFlags(cmd, api.TuneQuestion, &ask)
	must(cmd.MarkFlagRequired("topics"))
	must(cmd.MarkFlagRequired("qrels"))
	return cmd
}

func (a *app) printTuning(found *api.TuneAnswer) error {
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	c := found.CrossValidated
	fmt.Fprintf(w, "SETTING\tMODEL\tTOPICS\t%s\n", found.Measure)
	fmt.Fprintf(w, "best\t%s\t%d\t%.4f\n", found.Best.Model, found.Topics, found.Best.Value)
	fmt.Fprintf(w, "default\t%s\t%d\t%.4f\n", found.Default.Model, found.Topics, found.Default.Value)
	for i, f := range found.Folds {
		fmt.Fprintf(w, "fold %d\t%s\t%d\t%.4f (default %.4f)\n", i+1, f.Model, f.Topics, f.Value, f.Default)
	}
	fmt.Fprintf(w, "cross-validated\t\t%d\t%.4f\n", c.Topics, c.B)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "\ncross-validated against the default: %+.4f, better in %s, worse in %d, "+
		"p (t-test) %.4f, p (random) %.4f\n", c.Diff, counted(c.Better, "topic"), c.Worse, c.PT, c.PRandom)
	return err
}
