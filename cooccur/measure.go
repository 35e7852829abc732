package cooccur

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/mmap"
)

// Measure is a measure of association of two words. Let m be the value of their cell, and r, c and
// n the sums of the row, the column and the matrix: its margins. Then e = rc/n is the value
// expected by chance. Weighted matrices have margins too.
//
// Package words, and so 'collocate neighbours', has measures of the same names that do not use the
// margins: they expect f1 f2 S / N, by the frequencies of the words in the corpus. A row adds up to
// f S, if occurrences are counted and every window is complete. So both agree in long documents.
// They differ where documents are short, because windows end there, and if the matrix is weighted
// by distance. In the documents "a b" and "c a", with counts and window 2, PMI of a and b is
// log2(1*4/(2*1)) = 1 by margins, and log2(1/(2*1*4/4)) = -1 by frequencies.
type Measure int

const (
	ByValue       Measure = iota // m itself
	PMI                          // pointwise mutual information: log2(m/e), by the margins
	NPMI                         // PMI / -log2(m/n): from -1 to 1
	LogLikelihood                // Dunning's G², below 0 where m < e
	Dice                         // 2m/(r+c)
	PPMI                         // PMI if it is positive, and otherwise 0
)

var measureNames = choice.New[Measure]("measure", "value", "pmi", "npmi", "ll", "dice", "ppmi")

func (m Measure) String() string { return measureNames.Of(m) }

// MarshalText returns the name, for JSON.
func (m Measure) MarshalText() ([]byte, error) { return measureNames.Text(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Measure) UnmarshalText(name []byte) error { return measureNames.Set(m, string(name)) }

// score computes the measure of a cell.
func (m Measure) score(v, r, c, n float64) float64 {
	if v == 0 { // the limits; the formulas would divide by 0
		switch m {
		case PMI:
			return math.Inf(-1)
		case NPMI:
			return -1
		case PPMI, Dice:
			return 0
		}
	}
	switch m {
	case PMI:
		return math.Log2(v * n / (r * c))
	case PPMI:
		return max(0, math.Log2(v*n/(r*c)))
	case NPMI:
		if v == n { // the only cell: maximal association
			return 1
		}
		return math.Log2(v*n/(r*c)) / -math.Log2(v/n)
	case LogLikelihood:
		// The 2x2 contingency table: both words, either without the other, neither.
		g := 2 * (xlogx(v) + xlogx(r-v) + xlogx(c-v) + xlogx(n-r-c+v) + xlogx(n) -
			xlogx(r) - xlogx(c) - xlogx(n-r) - xlogx(n-c))
		return math.Copysign(max(g, 0), v*n-r*c)
	case Dice:
		return 2 * v / (r + c)
	}
	return v
}

// xlogx returns x ln x, and 0 if x is 0 or negative because of rounding.
func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}

// Neighbour is a word in the row of another.
type Neighbour struct {
	ID    int     `json:"id"`    // number of the neighbour in the vocabulary, from 0
	Word  string  `json:"word"`  // the neighbour itself
	Value float64 `json:"value"` // value of its cell in the row
	Score float64 `json:"score"` // measure of association that was asked for; see Measure
}

// Neighbours returns the k strongest neighbours of a word in descending order of scores; ties are
// in ascending order of IDs. Cells below minValue are left out, because rare co-occurrences make
// PMI large.
func (r *Reader) Neighbours(id, k int, by Measure, minValue float64) (list []Neighbour, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if id < 0 || id >= r.Len() {
		return nil, fmt.Errorf("word %d of %d", id, r.Len())
	}
	cols, values, err := r.Row(id)
	if err != nil {
		return nil, err
	}
	for i, c := range cols {
		if values[i] >= minValue {
			score := by.score(values[i], r.rowSums[id], r.colSums[c], r.total)
			list = append(list, Neighbour{ID: int(c), Value: values[i], Score: score})
		}
	}
	slices.SortFunc(list, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	list = list[:min(len(list), max(k, 0))]
	for i := range list {
		list[i].Word = string(r.Word(list[i].ID))
	}
	return list, nil
}

// Pair returns the value of the cell of two words, by their IDs, and its measure of association. A
// pair that does not co-occur has the value 0: its PMI is -Inf and its NPMI -1. The time grows with
// the logarithm of the length of the row, once the pages that it is on have been verified.
func (r *Reader) Pair(row, column int, by Measure) (value, score float64, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for _, id := range []int{row, column} {
		if id < 0 || id >= r.Len() {
			return 0, 0, fmt.Errorf("word %d of %d", id, r.Len())
		}
	}
	cols, values, err := r.row(row)
	if err != nil {
		return 0, 0, err
	}
	if i, ok := slices.BinarySearch(cols, uint32(column)); ok {
		value = values[i]
	}
	return value, by.score(value, r.rowSums[row], r.colSums[column], r.total), nil
}
