package cooccur

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// Measures of the words in five documents, with window 1 and counts. The matrix is
//
//	        new york car old   sum
//	new       .    3   1   .     4
//	york      3    .   .   .     3
//	car       1    .   .   1     2
//	old       .    .   1   .     1    total 10
func TestMeasures(t *testing.T) {
	corpus := corpusOf(t, "new york", "new york", "york new", "new car", "old car")
	v := vocabularyOf("new", "york", "car", "old")
	path := filepath.Join(t.TempDir(), "m.cooc")
	writeMatrix(t, corpus, v, Options{Window: 1, Weighting: Count}, path, CSR)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ln := math.Log
	for by, want := range map[Measure][2]float64{ // of new with york and with car
		ByValue: {3, 1},
		PMI:     {math.Log2(3 * 10.0 / 12), math.Log2(1 * 10.0 / 8)},
		NPMI:    {math.Log2(2.5) / -math.Log2(0.3), math.Log2(1.25) / -math.Log2(0.1)},
		Dice:    {6.0 / 7, 2.0 / 6},
		LogLikelihood: {
			2 * (3*ln(3/1.2) + 1*ln(1/2.8) + 0 + 6*ln(6/4.2)),
			2 * (1*ln(1/0.8) + 3*ln(3/3.2) + 1*ln(1/1.2) + 5*ln(5/4.8)),
		},
	} {
		got, err := r.Neighbours(0, 10, by, 0)
		if err != nil || len(got) != 2 {
			t.Fatalf("%v: neighbours %v, %v; want york and car", by, got, err)
		}
		for i, word := range []string{"york", "car"} {
			if got[i].Word != word || math.Abs(got[i].Score-want[i]) > 1e-12 {
				t.Errorf("%v: %+v, want %s %v", by, got[i], word, want[i])
			}
		}
	}
	if got, _ := r.Neighbours(0, 10, PMI, 2); len(got) != 1 || got[0].Word != "york" {
		t.Errorf("neighbours with values from 2: %v, want york", got)
	}
	if got, _ := r.Neighbours(0, 1, ByValue, 0); len(got) != 1 {
		t.Errorf("the first neighbour: %v, want one", got)
	}
	for by, want := range map[Measure][2]float64{ // of new with york and with old
		ByValue: {3, 0}, PMI: {math.Log2(3 * 10.0 / 12), math.Inf(-1)}, PPMI: {math.Log2(2.5), 0},
		NPMI: {math.Log2(2.5) / -math.Log2(0.3), -1}, Dice: {6.0 / 7, 0},
		LogLikelihood: {
			2 * (3*ln(3/1.2) + 1*ln(1/2.8) + 0 + 6*ln(6/4.2)),
			-2 * (4*ln(4/3.6) + 1*ln(1/0.6) + 5*ln(5/5.4)),
		},
	} {
		for i, column := range []int{1, 3} {
			value, score, err := r.Pair(0, column, by)
			if err != nil || value != []float64{3, 0}[i] ||
				score != want[i] && math.Abs(score-want[i]) > 1e-12 {
				t.Errorf("%v of new and %s: %v, %v, %v, want %v", by, r.Word(column), value, score,
					err, want[i])
			}
		}
	}
	for _, ids := range [][2]int{{4, 0}, {0, 4}, {-1, 0}} {
		if _, _, err := r.Pair(ids[0], ids[1], ByValue); err == nil {
			t.Errorf("Pair%v of 4 words: no error", ids)
		}
	}
	if _, err := r.Neighbours(4, 1, ByValue, 0); err == nil {
		t.Error("Neighbours(4) of 4 words: no error")
	}
}

// NPMI of the only pair of a corpus, whose self-information is 0, is 1 by definition.
func TestNPMIOfTheOnlyCell(t *testing.T) {
	if got := NPMI.score(2, 2, 2, 2); got != 1 {
		t.Errorf("NPMI %v, want 1", got)
	}
}

// Pair finds every cell of every row, and 0 where a row has none.
func TestPairFindsEveryCell(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var words []string
	for i := range 30 {
		words = append(words, fmt.Sprint("w", i))
	}
	var docs []string
	for range 60 {
		var doc []string
		for range rng.IntN(12) {
			doc = append(doc, words[min(rng.IntN(30), rng.IntN(30))])
		}
		docs = append(docs, strings.Join(doc, " "))
	}
	path := filepath.Join(t.TempDir(), "m.cooc")
	writeMatrix(t, corpusOf(t, docs...), vocabularyOf(words...), Options{Window: 2}, path, CSR)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	empty := 0
	for row := range r.Len() {
		cols, values, err := r.Row(row)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, r.Len())
		for i, c := range cols {
			want[c] = values[i]
		}
		for column := range want {
			if want[column] == 0 {
				empty++
			}
			if got, _, err := r.Pair(row, column, ByValue); err != nil || got != want[column] {
				t.Errorf("the cell of row %d, column %d is %v, %v, want %v", row, column, got, err, want[column])
			}
		}
	}
	if empty == 0 || empty == r.Len()*r.Len() {
		t.Errorf("%d of %d cells are empty: want some, and not all", empty, r.Len()*r.Len())
	}
}
