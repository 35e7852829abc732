// Package vectorstest draws matrices to make vectors from, for tests and measurements.
//
// Experimental: it may change with any version; package collocate says what may not.
package vectorstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/internal/par"
)

// Matrix is a random co-occurrence matrix. The frequencies of words follow Zipf's law, and words
// co-occur by chance.
type Matrix struct {
	cols   [][]uint32
	values [][]float64
	cells  uint64
}

// Draw returns a matrix with about the given number of cells.
func Draw(words, cells int, seed uint64) *Matrix {
	// Word i has the frequency 1/(i+3). Cell (i,j) exists with the probability 1-exp(-f), where f
	// is rate times both frequencies.
	freq := func(i int) float64 { return 1 / float64(i+3) }
	// total estimates the number of cells from some of the words, each of which stands for those up
	// to the next.
	total := func(rate float64) float64 {
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

// drawRow draws the cells of a row. It skips a random number of columns by the probability of the
// next one, which those after it do not exceed. The cell it reaches is kept with the ratio of its
// own probability to that.
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

// Len returns the number of words.
func (m *Matrix) Len() int { return len(m.cols) }

// Entries returns the number of cells.
func (m *Matrix) Entries() uint64 { return m.cells }

// Word returns the word with a given number.
func (m *Matrix) Word(id int) []byte { return fmt.Append(nil, "w", id) }

// Row returns the columns of a row and their values.
func (m *Matrix) Row(id int) ([]uint32, []float64, error) {
	return m.cols[id], m.values[id], nil
}
