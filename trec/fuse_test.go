package trec

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

func run(t *testing.T, tag, topic string, answers ...any) *Run {
	t.Helper()
	var text strings.Builder
	for i := 0; i < len(answers); i += 2 {
		fmt.Fprintf(&text, "%s Q0 %v %d %v %s\n", topic, answers[i], i/2+1, answers[i+1], tag)
	}
	r, err := ParseRun(strings.NewReader(text.String()), tag)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The methods give what their definitions say, computed by hand.
func TestFusionsAreTheirFormulas(t *testing.T) {
	a := run(t, "a", "1", "x", 10, "y", 8, "z", 0)
	b := run(t, "b", "1", "y", 3, "w", 1)
	sd := math.Sqrt((16 + 4 + 36) / 3.0)
	for by, want := range map[Fusion]map[string]float64{
		RRF:     {"x": 1 / 61.0, "y": 1/61.0 + 1/62.0, "z": 1 / 63.0, "w": 1 / 62.0},
		CombSUM: {"x": 1, "y": 0.8 + 1, "z": 0, "w": 0},
		CombMNZ: {"x": 1, "y": 2 * 1.8, "z": 0, "w": 0},
		ZScore:  {"x": 10 / sd, "y": 8/sd + 2, "z": 0, "w": 0},
		Borda:   {"x": 4 + 1.5, "y": 3 + 4, "z": 2 + 1.5, "w": 1 + 3},
	} {
		fused, err := Fuse([]*Run{a, b}, FuseOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range fused.Topics["1"] {
			if math.Abs(r.Score-want[r.Doc]) > 1e-12 {
				t.Errorf("%v gives %s %v, want %v", by, r.Doc, r.Score, want[r.Doc])
			}
		}
		if len(fused.Topics["1"]) != 4 || fused.Topics["1"][0].Doc != "y" {
			t.Errorf("%v: the answers are %v, want four, y first", by, fused.Topics["1"])
		}
	}
	half, err := Fuse([]*Run{a, b}, FuseOptions{By: CombSUM, Weights: []float64{0.5, 0}, Depth: 2, Top: 1})
	if got := half.Topics["1"]; err != nil || len(got) != 1 || got[0] != (Result{"x", 0.5}) {
		t.Errorf("with weights, depth and top: %v, %v; want x alone, 0.5", got, err)
	}
	for _, o := range []FuseOptions{{Weights: []float64{1}}, {Weights: []float64{1, -1}}, {K: -1}, {Depth: -1},
		{K: math.NaN()}, {Weights: []float64{1, math.NaN()}}} {
		if _, err := Fuse([]*Run{a, b}, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

// Answers that several runs have at the same ranks, each at another one, are equal to the bit:
// added in the order of the runs, some of the sums would differ in the last bit. Their order is
// that of trec_eval, and it is the same after the run was written and read.
func TestFusedTies(t *testing.T) {
	ranks := []string{"abc", "bca", "cab"}
	var runs []*Run
	for i, order := range ranks {
		var answers []any
		for k := range 40 {
			answers = append(answers, fmt.Sprintf("pad%d-%d", i, k), 1000-k)
		}
		for k, doc := range order { // at ranks 3, 9 and 27
			answers[2*([]int{2, 8, 26}[k])] = string(doc)
		}
		runs = append(runs, run(t, fmt.Sprint(i), "1", answers...))
	}
	for _, by := range []Fusion{RRF, CombSUM, CombMNZ, ZScore, Borda} {
		fused, err := Fuse(runs, FuseOptions{By: by, Top: 3})
		if err != nil {
			t.Fatal(err)
		}
		got := fused.Topics["1"]
		if got[0].Score != got[1].Score || got[1].Score != got[2].Score || got[0].Doc+got[1].Doc+got[2].Doc != "cba" {
			t.Errorf("%v: %v, want c, b and a with the same score", by, got)
		}
		var file bytes.Buffer
		if err := fused.Write(NewRunWriter(&file, "fused")); err != nil {
			t.Fatal(err)
		}
		again, err := ParseRun(&file, "fused")
		if err != nil || again.Topics["1"][0].Doc != "c" || again.Topics["1"][2].Doc != "a" {
			t.Errorf("%v: written and read: %v, %v", by, again, err)
		}
	}
}
