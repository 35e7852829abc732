package trec

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// expected returns the lines "measure topic value" of trec_eval's output that are about the given
// measures.
func expected(t *testing.T, file string, ours map[string]bool) map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata/trec_eval", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]string{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		c := strings.Fields(s.Text())
		if len(c) == 3 && ours[c[0]] {
			out[c[0]+" "+c[1]] = c[2]
		}
	}
	return out
}

// printed returns the values of an evaluation as trec_eval prints them.
func printed(e *Evaluation) map[string]string {
	out := map[string]string{}
	put := func(m Measure, topic string, v float64) {
		format := "%.4f"
		if m.Whole() {
			format = "%.0f"
		}
		out[m.Name+" "+topic] = fmt.Sprintf(format, v)
	}
	for m, measure := range e.Measures {
		if measure.IsRunID() {
			continue
		}
		put(measure, "all", e.All[m])
		for i, topic := range e.Topics {
			if measure.PerTopic() {
				put(measure, topic, e.Values[i][m])
			}
		}
	}
	return out
}

// Measures have the values that NIST's program prints for its own tests, to the last digit, and
// there are no others.
func TestEqualsTrecEval(t *testing.T) {
	params := []string{"iprec_at_recall..10,.20,.25,.75,.50", "P.5,7,3", "recall.20,2000",
		"Rprec_mult.5.0,0.2,0.35", "ndcg_cut.10,20,23.4", "success.2,5,20"}
	for _, c := range []struct {
		out, qrels, run string
		measures        []string
		options         Options
		perTopic        bool
	}{
		{"out.test", "qrels.test", "results.test", nil, Options{}, false},
		{"out.test.a", "qrels.test", "results.test", []string{"all"}, Options{}, false},
		{"out.test.aq", "qrels.test", "results.test", []string{"all"}, Options{}, true},
		{"out.test.aqc", "qrels.test", "results.trunc", []string{"all"}, Options{Complete: true}, true},
		{"out.test.aqcM", "qrels.test", "results.trunc", []string{"all"}, Options{Complete: true, Depth: 100}, true},
		{"out.test.aql", "qrels.rel_level", "results.test", []string{"all"}, Options{Level: 2}, true},
		{"out.test.meas_params", "qrels.test", "results.test", params, Options{}, true},
	} {
		t.Run(c.out, func(t *testing.T) {
			q, err := ReadQrels(filepath.Join("testdata/trec_eval", c.qrels), Auto)
			if err != nil {
				t.Fatal(err)
			}
			run, err := ReadRun(filepath.Join("testdata/trec_eval", c.run))
			if err != nil {
				t.Fatal(err)
			}
			if run.Tag != "STANDARD" {
				t.Errorf("tag %q, want STANDARD", run.Tag)
			}
			measures, err := ParseMeasures(c.measures...)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Evaluate(q, run, measures, c.options)
			if err != nil {
				t.Fatal(err)
			}
			ours := map[string]bool{}
			for _, m := range measures {
				ours[m.Name] = !m.IsRunID()
			}
			want, got := expected(t, c.out, ours), printed(e)
			if len(want) < len(measures)-1 {
				t.Fatalf("only %d lines of trec_eval to compare %d measures with", len(want), len(measures))
			}
			for key, w := range want {
				if got[key] != w {
					t.Errorf("%s: %s, want %s, as trec_eval", key, got[key], w)
				}
			}
			for key := range got {
				if _, ok := want[key]; !ok && (c.perTopic || strings.HasSuffix(key, " all")) {
					t.Errorf("%s: %s, trec_eval does not print it", key, got[key])
				}
			}
		})
	}
}

// SortMeasures has the order of trec_eval; all_trec is its name for all measures.
func TestMeasuresInTrecEvalsOrder(t *testing.T) {
	b, err := os.ReadFile("testdata/trec_eval/out.test.a")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(b)) {
		want = append(want, strings.Fields(line)[0])
	}
	measures, err := ParseMeasures("rbp", "P", "all_trec")
	if err != nil {
		t.Fatal(err)
	}
	SortMeasures(measures)
	var got []string
	for _, m := range measures {
		got = append(got, m.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for _, name := range []string{"relstring", "prefs_simp", "ndcg.1=3", "yaap"} {
		if _, err := ParseMeasures(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error that names it", name, err)
		}
	}
}

// JudgedOnly leaves out unjudged answers among those up to the depth.
func TestJudgedOnly(t *testing.T) {
	run := &Run{Topics: map[string][]Result{"1": {{"x", 5}, {"a", 4}, {"y", 3}, {"b", 2}}}}
	q := Qrels{"1": {"a": 1, "b": 1, "y": -1}}
	measures, _ := ParseMeasures("map", "num_ret")
	for _, c := range []struct {
		o    Options
		want string
	}{{Options{}, "[0.5 4]"}, {Options{JudgedOnly: true}, "[1 2]"}, {Options{JudgedOnly: true, Depth: 3}, "[0.5 1]"}} {
		e, err := Evaluate(q, run, measures, c.o)
		if err != nil || fmt.Sprint(e.All) != c.want {
			t.Errorf("%+v: %v, %v, want %s", c.o, e.All, err, c.want)
		}
	}
}

// trec_eval 9 and 10 round the number of relevant documents at a recall in different ways. The
// values with RoundUp are pytrec_eval's.
func TestRoundUp(t *testing.T) {
	q := Qrels{"1": {}}
	for i := range 11 {
		q["1"][fmt.Sprint("r", i)] = 1
	}
	run := &Run{Topics: map[string][]Result{"1": nil}}
	for i, id := range strings.Fields("r0 x1 x2 r1 r2 x3 x4 x5 x6 r3") {
		run.Topics["1"] = append(run.Topics["1"], Result{id, float64(20 - i)})
	}
	measures, err := ParseMeasures("iprec_at_recall.0.1,0.2,0.3,0.4", "11pt_avg")
	if err != nil {
		t.Fatal(err)
	}
	for up, want := range map[bool]string{true: "[0.6 0.6 0.4 0 0.23636363636363636]",
		false: "[1 0.6 0.6 0.4 0.32727272727272727]"} {
		e, err := Evaluate(q, run, measures, Options{RoundUp: up})
		if err != nil || fmt.Sprint(e.All) != want {
			t.Errorf("up %v: %v, %v, want %s", up, e.All, err, want)
		}
	}
}

func TestEvaluateNeedsACommonTopic(t *testing.T) {
	run := &Run{Tag: "x", Topics: map[string][]Result{"2": {{"d", 1}}}}
	measures, _ := ParseMeasures("map")
	if _, err := Evaluate(Qrels{"1": {"d": 1}}, run, measures, Options{}); err == nil {
		t.Error("a run with other topics: no error")
	}
}

// Topics without relevant documents or without answers have finite values.
func TestEmptyTopicsGiveZeros(t *testing.T) {
	measures, err := ParseMeasures("all")
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Topics: map[string][]Result{"1": {{"a", 1}}, "3": {{"x", 2}, {"y", 1}}}}
	e, err := Evaluate(Qrels{"1": {"a": 0}, "2": {"b": 2}, "3": {"x": -1, "y": 0}}, run, measures,
		Options{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Topics {
		for m, v := range e.Values[i] {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("topic %s: %s is %v, want a finite number", e.Topics[i], measures[m].Name, v)
			}
		}
	}
}

func TestMeasureNames(t *testing.T) {
	ms, err := ParseMeasures("map,P_10,ndcg_cut_7", "recall.5,10", "iprec_at_recall_0.25", "map")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range ms {
		names = append(names, m.Name)
	}
	const want = "map P_10 ndcg_cut_7 recall_5 recall_10 iprec_at_recall_0.25"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("measures %s, want %s", got, want)
	}
	for _, bad := range []string{"mapp", "P_0", "P_x", "map_5_", "Rprec_7", "", "P.", "ndcg_cut_-3", "_5", "P_nan",
		"iprec_at_recall_nan"} {
		if _, err := ParseMeasures(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// Two runs over 20 topics, whose t was computed independently.
func TestCompare(t *testing.T) {
	a, b := &Evaluation{}, &Evaluation{}
	a.Measures, _ = ParseMeasures("map")
	b.Measures = a.Measures
	for i := range 20 {
		x := float64(i%7) / 10
		y := x + float64(i%3)/20 - 0.01
		topic := fmt.Sprint(100 + i)
		a.Topics, b.Topics = append(a.Topics, topic), append(b.Topics, topic)
		a.Values, b.Values = append(a.Values, []float64{x}), append(b.Values, []float64{y})
	}
	cs, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	c := cs[0]
	if c.Topics != 20 || c.Better != 13 || c.Worse != 7 {
		t.Errorf("%+v: want 20 topics, 13 better and 7 worse", c)
	}
	if math.Abs(c.T-4.062732) > 1e-6 || c.PT > 0.001 || c.PT < 0.0005 {
		t.Errorf("t = %v, p = %v, want 4.062732 and 0.0005 to 0.001", c.T, c.PT)
	}
	if c.PRandom > 0.005 || c.PRandom <= 0 {
		t.Errorf("p of the randomisation test is %v, want more than 0 and at most 0.005", c.PRandom)
	}
	again, _ := Compare(a, b)
	if again[0] != c {
		t.Errorf("a second comparison gives %+v, want %+v", again[0], c)
	}
	same, _ := Compare(a, a)
	if same[0].PT != 1 || same[0].PRandom != 1 || same[0].T != 0 {
		t.Errorf("a run against itself: %+v, want t 0 and p 1", same[0])
	}
}

// With few topics all 2^n assignments are tried. Of three equal differences, 2 of 8 are as large.
func TestRandomisationIsExactForFewTopics(t *testing.T) {
	if p := randomisation([]float64{0.1, 0.1, 0.1}); p != 0.25 {
		t.Errorf("p of three equal differences is %v, want 0.25", p)
	}
	if p := randomisation([]float64{0.3, -0.3}); p != 1 {
		t.Errorf("p of two opposite differences is %v, want 1", p)
	}
}

// studentP agrees with printed tables of quantiles.
func TestStudentP(t *testing.T) {
	for _, c := range []struct{ t, df, p float64 }{{12.706, 1, 0.05}, {2.093, 19, 0.05},
		{3.883, 19, 0.001}, {2.660, 60, 0.01}, {0, 7, 1}} {
		if got := studentP(c.t, c.df); math.Abs(got-c.p) > 1e-5+c.p*0.002 {
			t.Errorf("t %v, df %v: p = %v, want %v", c.t, c.df, got, c.p)
		}
	}
}
