package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/trec"
)

func newEvalCmd(a *app) *cobra.Command {
	var o evalOptions
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
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(args, o) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.measures, "measure", "m", nil,
		"measures: official (the default), all, names such as map,P_10, or P.5,10")
	// As in trec_eval, -q means --per-query here, and --quiet has no short form.
	f.BoolVarP(&o.perQuery, "per-query", "q", false, "also print the values of every topic")
	f.BoolVar(&a.quiet, "quiet", false, "print no notes on guesses")
	f.BoolVarP(&o.noSummary, "no-summary", "n", false, "print no values over all topics")
	f.BoolVarP(&o.JudgedOnly, "judged-only", "J", false, "ignore answers without a judgment")
	f.IntVarP(&o.Level, "level", "l", 1, "smallest grade that counts as relevant")
	f.BoolVarP(&o.Complete, "complete", "c", false, "average over all judged topics, including those without answers")
	f.IntVarP(&o.Depth, "depth", "M", 0, "evaluate only this many answers of each topic; 0 means all")
	f.StringVar(&o.format, "qrels-format", "auto", strings.Join(trec.QrelsFormats(), ", "))
	choices(cmd, map[string][]string{"qrels-format": trec.QrelsFormats()})
	return cmd
}

type evalOptions struct {
	trec.Options
	measures  []string
	perQuery  bool
	noSummary bool
	format    string
}

func (a *app) eval(args []string, o evalOptions) error {
	measures, err := trec.ParseMeasures(o.measures...)
	if err != nil {
		return usageError{err}
	}
	trec.SortMeasures(measures)
	format, err := trec.ParseQrelsFormat(o.format)
	if err != nil {
		return usageError{err}
	}
	if o.Level < 1 || o.Depth < 0 {
		return usagef("--level %d, --depth %d: want a level of at least 1 and a depth of 0 or more", o.Level, o.Depth)
	}
	if o.noSummary && (!o.perQuery || len(args) > 2) {
		return usagef("--no-summary leaves nothing to print: it needs --per-query and a single run")
	}
	qrels, err := trec.ReadQrels(args[0], format, a.note)
	if err != nil {
		return err
	}
	if !hasPositive(qrels) {
		a.note(args[0] + ": no grade is above 0, so nothing is relevant")
	}
	var runs []*trec.Run
	var evals []*trec.Evaluation
	for _, path := range args[1:] {
		var run *trec.Run
		if path == "-" {
			run, err = trec.ParseRun(a.stdin, path)
		} else {
			run, err = trec.ReadRun(path)
		}
		if err != nil {
			return err
		}
		e, err := trec.Evaluate(qrels, run, measures, o.Options)
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
		a.noteMissing(path, e, o.Complete)
		runs, evals = append(runs, run), append(evals, e)
	}
	if len(evals) == 2 {
		if runs[0].Tag == runs[1].Tag { // only the files' names distinguish them
			runs[0].Tag, runs[1].Tag = args[1], args[2]
		}
		return a.printComparison(runs, evals, o.perQuery)
	}
	if a.json {
		return a.printJSON(evaluationJSON(runs[0], evals[0], o.perQuery))
	}
	return printEvaluation(a.stdout, runs[0], evals[0], o)
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
func printEvaluation(w io.Writer, run *trec.Run, e *trec.Evaluation, o evalOptions) error {
	line := func(m trec.Measure, topic string, v float64) error {
		format := "%-22s\t%s\t%6.4f\n"
		if m.Whole() {
			format = "%-22s\t%s\t%.0f\n"
		}
		_, err := fmt.Fprintf(w, format, m.Name, topic, v)
		return err
	}
	if o.perQuery {
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
	if o.noSummary {
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

type evalJSON struct {
	Run    string                        `json:"run"`
	All    map[string]float64            `json:"all"`
	Topics map[string]map[string]float64 `json:"topics,omitempty"`
}

func evaluationJSON(run *trec.Run, e *trec.Evaluation, perQuery bool) evalJSON {
	out := evalJSON{Run: run.Tag, All: map[string]float64{}}
	for m, measure := range e.Measures {
		if !measure.IsRunID() {
			out.All[measure.Name] = e.All[m]
		}
	}
	if perQuery {
		out.Topics = map[string]map[string]float64{}
		for i, topic := range e.Topics {
			out.Topics[topic] = map[string]float64{}
			for m, measure := range e.Measures {
				if measure.PerTopic() {
					out.Topics[topic][measure.Name] = e.Values[i][m]
				}
			}
		}
	}
	return out
}

func (a *app) printComparison(runs []*trec.Run, evals []*trec.Evaluation, perQuery bool) error {
	table, err := trec.Compare(evals[0], evals[1])
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			Runs    []evalJSON        `json:"runs"`
			Compare []trec.Comparison `json:"compare"`
		}{[]evalJSON{evaluationJSON(runs[0], evals[0], perQuery), evaluationJSON(runs[1], evals[1], perQuery)}, table})
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	if perQuery {
		fmt.Fprintf(w, "measure\ttopic\t%s\t%s\tdifference\t\n", runs[0].Tag, runs[1].Tag)
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
		runs[0].Tag, runs[1].Tag)
	for _, c := range table {
		fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%+.4f\t%d\t%d\t%.4f\t%.4f\t\n", c.Measure, c.Topics,
			c.A, c.B, c.Diff, c.Better, c.Worse, c.PT, c.PRandom)
	}
	return w.Flush()
}
