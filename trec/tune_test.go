package trec

import (
	"math"
	"slices"
	"testing"
)

// settings makes evaluations of the topics a, b, c and d.
func settings(t *testing.T, values ...[]float64) (list []*Evaluation) {
	t.Helper()
	measures, err := ParseMeasures("map")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		e := &Evaluation{Measures: measures, Topics: []string{"a", "b", "c", "d"}}
		for _, x := range v {
			e.Values = append(e.Values, []float64{x})
		}
		list = append(list, e)
	}
	return list
}

// A setting is chosen by the topics outside a fold, and is worth what it reaches inside.
func TestCrossValidation(t *testing.T) {
	v, err := CrossValidate(settings(t, []float64{0.5, 0.5, 0.5, 0.5}, []float64{1, 0.1, 1, 0.1},
		[]float64{0.1, 0.9, 0.1, 0.9}, []float64{1, 0.1, 1, 0.1}), 2)
	if err != nil {
		t.Fatal(err)
	}
	// The topics a and c choose the second setting, which is poor for b and d, and the other way
	// round.
	if v.Best != 1 || !slices.Equal(v.Folds[0].Topics, []string{"a", "c"}) || v.Folds[0].Chosen != 2 || v.Folds[1].Chosen != 1 {
		t.Errorf("%+v, want the first of the best, and folds that choose for each other", v)
	}
	if v.Folds[0].Value != 0.1 || v.Folds[1].Default != 0.5 || math.Abs(v.Gain.B-0.1) > 1e-15 || v.Gain.A != 0.5 ||
		v.Gain.Worse != 4 || v.Means[1] != 0.55 {
		t.Errorf("%+v, want 0.1 instead of 0.5", v)
	}
	same, err := CrossValidate(settings(t, []float64{0.5, 0.4, 0.3, 0.2}, []float64{0.5, 0.4, 0.3, 0.2}), 4)
	if err != nil || same.Best != 0 || same.Folds[3].Chosen != 0 || same.Gain.Diff != 0 || same.Gain.PT != 1 {
		t.Errorf("%+v, %v; want the default among equal settings", same, err)
	}
	for _, folds := range []int{1, 5} {
		if _, err := CrossValidate(settings(t, []float64{1, 1, 1, 1}), folds); err == nil {
			t.Errorf("%d folds were accepted", folds)
		}
	}
	other := settings(t, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 1})
	other[1].Topics = []string{"a", "b", "c", "e"}
	if _, err := CrossValidate(other, 2); err == nil {
		t.Error("different topics were accepted")
	}
}

// Measures may be written as ir_measures does.
func TestMeasuresWithAt(t *testing.T) {
	for said, want := range map[string]string{"ndcg@10": "ndcg_cut_10", "nDCG@5": "ndcg_cut_5", "P@20": "P_20",
		"AP@100": "map_cut_100", "R@1000": "recall_1000", "success@1": "success_1"} {
		list, err := ParseMeasures(said)
		if err != nil || len(list) != 1 || list[0].Name != want {
			t.Errorf("%s is %v, %v; want %s", said, list, err, want)
		}
	}
	if _, err := ParseMeasures("bpref@10"); err == nil {
		t.Error("bpref@10 was accepted")
	}
}
