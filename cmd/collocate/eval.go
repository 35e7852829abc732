package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/trec"
)

func newEvalCmd(a *app) *cobra.Command {
	var ask api.Evaluate
	cmd := &cobra.Command{
		Use:     "eval QRELS RUN [RUN2]",
		Short:   "Measure how good a run is, or compare two",
		GroupID: groupSearch,
		Long: `Compare the answers in RUN with the judgments in QRELS, and print measures with the names,
definitions, order and format of trec_eval, whose flags -q, -m, -c, -l, -n, -J and -M mean the
same here. RUN may be - for standard input. With RUN2, print both runs side by side, with the
p-values of Student's paired t-test and of a randomisation test.

QRELS may have TREC's four columns, BEIR's three (with a header or without; a larger grade is
better), or those of the SMART collections. Cranfield's three columns, in which 1 is the best
grade, are only read with --qrels-format cranfield.

-m selects measures: official, set, all, or names, in which k stands for cut-offs, as in P_10:
  runid, num_q, num_ret, num_rel, num_rel_ret, map, gm_map, Rprec, bpref, recip_rank,
  iprec_at_recall_k, P_k, recall_k, infAP, gm_bpref, Rprec_mult_k, utility, 11pt_avg, binG, G,
  ndcg, ndcg_rel, Rndcg, ndcg_cut_k, map_cut_k, relative_P_k, success_k, set_P, set_relative_P,
  set_recall, set_map, set_F, num_nonrel_judged_ret, and beyond trec_eval rbp, rbp_resid, unj_k`,
		Args: cobra.RangeArgs(2, 3),
		Example: `  collocate eval qrels.txt run.txt
  collocate eval qrels.txt run.txt -m map,ndcg_cut_10,P_20
  collocate eval qrels.txt baseline.txt new.txt -m map -m recall.100,1000
  collocate eval cranqrel run.txt --qrels-format cranfield -q --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(args, &ask) },
	}
	addFlags(cmd, api.EvaluateQuestion, &ask)
	// As in trec_eval, -q means --per-query here, and --quiet has no short form.
	cmd.Flags().BoolVar(&a.quiet, "quiet", false, "print no notes on guesses")
	return cmd
}

func (a *app) eval(args []string, ask *api.Evaluate) error {
	if _, err := ask.Measures(); err != nil { // before files are read
		return asFlags(api.EvaluateQuestion, err)
	}
	if ask.NoSummary && (!ask.PerQuery || len(args) > 2) {
		return usagef("--no-summary leaves nothing to print: it needs --per-query and a single run")
	}
	qrels, err := trec.ReadQrels(args[0], ask.QrelsFormat, a.note)
	if err != nil {
		return err
	}
	if !hasPositive(qrels) {
		a.note(args[0] + ": no grade is above 0, so nothing is relevant")
	}
	var runs []*trec.Run
	var answers []*api.EvaluateAnswer
	for _, path := range args[1:] {
		run, err := a.readRun(path)
		if err != nil {
			return err
		}
		answer, err := ask.Do(qrels, run, ask.PerQuery)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		switch {
		case 2*run.Rising > len(run.Topics):
			a.note(fmt.Sprintf("%s: scores ascend in %d of %s; documents are ranked by score, not by the rank column",
				path, run.Rising, counted(len(run.Topics), "topic")))
		case 2*run.Equal > len(run.Topics):
			a.note(fmt.Sprintf("%s: all scores are equal in %d of %s; documents are ranked by ID, not by the rank column",
				path, run.Equal, counted(len(run.Topics), "topic")))
		}
		a.noteMissing(path, answer.Found, ask.Complete)
		runs, answers = append(runs, run), append(answers, answer)
	}
	if len(answers) == 2 {
		if runs[0].Tag == runs[1].Tag { // only the files' names distinguish them
			answers[0].Run, answers[1].Run = args[1], args[2]
		}
		return a.printComparison(answers, ask.PerQuery)
	}
	if a.json {
		return a.printJSON(answers[0])
	}
	return printEvaluation(a.stdout, runs[0], answers[0].Found, ask)
}

// hasPositive reports whether any document is judged relevant.
func hasPositive(qrels trec.Qrels) bool {
	for _, docs := range qrels {
		for _, grade := range docs {
			if grade > 0 {
				return true
			}
		}
	}
	return false
}

// noteMissing notes topics and documents that are only in the run or only in the judgments. That
// may be intended, or the wrong files were compared.
func (a *app) noteMissing(path string, e *trec.Evaluation, complete bool) {
	if e.Judged == 0 {
		a.note(path + ": none of its answers is judged; check that documents have the same IDs as in the judgments")
	}
	switch {
	case e.Unanswered > 0 && complete:
		a.note(fmt.Sprintf("%s: %s judged without answers, counted as 0", path, counted(e.Unanswered, "topic")))
	case e.Unanswered > 0:
		a.note(fmt.Sprintf("%s: %s judged without answers, left out; --complete counts them as 0", path,
			counted(e.Unanswered, "topic")))
	}
	if e.Unjudged > 0 {
		a.note(fmt.Sprintf("%s: %s without judgments, left out", path, counted(e.Unjudged, "topic")))
	}
}

// printEvaluation writes trec_eval's format: measure, topic, value.
func printEvaluation(w io.Writer, run *trec.Run, e *trec.Evaluation, ask *api.Evaluate) error {
	line := func(m trec.Measure, topic string, v float64) error {
		format := "%-22s\t%s\t%6.4f\n"
		if m.Whole() {
			format = "%-22s\t%s\t%.0f\n"
		}
		_, err := fmt.Fprintf(w, format, m.Name, topic, v)
		return err
	}
	if ask.PerQuery {
		for i, topic := range e.Topics {
			for m, measure := range e.Measures {
				if !measure.PerTopic() {
					continue
				}
				if err := line(measure, topic, e.Values[i][m]); err != nil {
					return err
				}
			}
		}
	}
	if ask.NoSummary {
		return nil
	}
	for m, measure := range e.Measures {
		if measure.IsRunID() {
			if _, err := fmt.Fprintf(w, "%-22s\tall\t%s\n", measure.Name, run.Tag); err != nil {
				return err
			}
			continue
		}
		if err := line(measure, "all", e.All[m]); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) printComparison(runs []*api.EvaluateAnswer, perQuery bool) error {
	answer, err := api.CompareRuns(runs[0], runs[1])
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(answer)
	}
	evals := []*trec.Evaluation{runs[0].Found, runs[1].Found}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	if perQuery {
		fmt.Fprintf(w, "measure\ttopic\t%s\t%s\tdifference\t\n", runs[0].Run, runs[1].Run)
		second := map[string]int{}
		for i, topic := range evals[1].Topics {
			second[topic] = i
		}
		for i, topic := range evals[0].Topics {
			k, both := second[topic]
			for m, measure := range evals[0].Measures {
				if both && measure.PerTopic() {
					x, y := evals[0].Values[i][m], evals[1].Values[k][m]
					fmt.Fprintf(w, "%s\t%s\t%.4f\t%.4f\t%+.4f\t\n", measure.Name, topic, x, y, y-x)
				}
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "measure\ttopics\t%s\t%s\tdifference\tbetter\tworse\tp (t-test)\tp (random)\t\n",
		runs[0].Run, runs[1].Run)
	for _, c := range answer.Compare {
		fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%+.4f\t%d\t%d\t%.4f\t%.4f\t\n", c.Measure, c.Topics,
			c.A, c.B, c.Diff, c.Better, c.Worse, c.PT, c.PRandom)
	}
	return w.Flush()
}
