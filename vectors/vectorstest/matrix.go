// Package vectorstest draws matrices to make vectors from, for tests and measurements.
package vectorstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/internal/par"
)

// Matrix is one of co-occurrence as text has: words are as frequent as Zipf says, and two
// of them are together by chance.
type Matrix struct {
	cols   [][]uint32
	values [][]float64
	cells  uint64
}

// Draw makes one with about the given number of cells.
func Draw(words, cells int, seed uint64) *Matrix {
	// Word i has the frequency 1/(i+3). Cell (i,j) is there with the probability 1-exp(-f): f is
	// rate times both frequencies.
	freq := func(i int) float64 { return 1 / float64(i+3) }
	total := func(rate float64) float64 { // by some words, as many times as they stand for
		sum := 0.0
		for i := 0; i < words; {
			next := i + 1 + i/20
			row := 0.0
			for j := 0; j < words; {
				after := j + 1 + j/20
				row += float64(min(after, words)-j) * -math.Expm1(-rate*freq(i)*freq(j))
				j = after
			}
			sum += float64(min(next, words)-i) * row
			i = next
		}
		return sum
	}
	low, high := 0.0, 1.0
	for total(high) < float64(cells) && high < 1e18 {
		low, high = high, high*4
	}
	for range 30 {
		if mid := (low + high) / 2; total(mid) < float64(cells) {
			low = mid
		} else {
			high = mid
		}
	}
	m := &Matrix{cols: make([][]uint32, words), values: make([][]float64, words)}
	par.For(runtime.GOMAXPROCS(0), words, 64, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			m.drawRow(i, high*freq(i), freq, rand.New(rand.NewPCG(seed, uint64(i))))
		}
	})
	for _, c := range m.cols {
		m.cells += uint64(len(c))
	}
	return m
}

// drawRow leaps from cell to cell by the probability of the cell after the last, which those behind
// it do not exceed, and keeps what their own probabilities allow.
func (m *Matrix) drawRow(i int, rate float64, freq func(int) float64, rng *rand.Rand) {
	for j := 0; j < len(m.cols); j++ {
		at := -math.Expm1(-rate * freq(j))
		if at < 1 {
			leap := math.Log(1-rng.Float64()) / math.Log1p(-at)
			if leap >= float64(len(m.cols)-j) {
				return
			}
			j += int(leap)
		}
		mean := rate * freq(j)
		if rng.Float64()*at > -math.Expm1(-mean) {
			continue
		}
		m.cols[i] = append(m.cols[i], uint32(j))
		m.values[i] = append(m.values[i], (0.2+rng.ExpFloat64())*max(1, mean)/5)
	}
}

// Len is the number of words.
func (m *Matrix) Len() int { return len(m.cols) }

// Entries is the number of cells.
func (m *Matrix) Entries() uint64 { return m.cells }

// Word is the word of a number.
func (m *Matrix) Word(id int) []byte { return fmt.Append(nil, "w", id) }

// Row has the columns and values of a row.
func (m *Matrix) Row(id int) ([]uint32, []float64, error) {
	return m.cols[id], m.values[id], nil
}
