package cooccur

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// corpusOf writes documents, one per line, and returns them as a corpus.
func corpusOf(t testing.TB, docs ...string) *text.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	var all bytes.Buffer
	for _, d := range docs {
		all.WriteString(d + "\n")
	}
	if err := os.WriteFile(path, all.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return linesOf(path)
}

func linesOf(path string) *text.Corpus {
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
}

// sharedData returns a folder of the larger collections beside the checkout, or skips the test.
func sharedData(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared", "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no folder shared/data beside the checkout: %v", err)
	}
	return path
}

func vocabularyOf(words ...string) *Vocabulary {
	v := &Vocabulary{}
	for _, w := range words {
		v.add([]byte(w), 1)
	}
	return v.seal()
}

// cells is a Sink that keeps the matrix, and checks that rows and columns ascend.
type cells struct {
	m    map[[2]uint32]float64
	rows int
}

func (c *cells) Rows(r *Rows) error {
	if c.m == nil {
		c.m = map[[2]uint32]float64{}
	}
	if r.First != c.rows {
		return fmt.Errorf("rows from %d on after %d rows, want them in order", r.First, c.rows)
	}
	for i := range r.Ends {
		cols, values := r.Row(i)
		for k, col := range cols {
			if k > 0 && cols[k-1] >= col {
				return fmt.Errorf("row %d: column %d after %d, want ascending ones", r.First+i, col, cols[k-1])
			}
			c.m[[2]uint32{uint32(r.First + i), col}] = values[k]
		}
	}
	c.rows += len(r.Ends)
	return nil
}

// bruteForce computes the matrix from the definition in exact fractions, with nothing of the
// package but the options.
func bruteForce(docs []string, words []string, opt Options) map[[2]uint32]float64 {
	exact := map[[2]uint32]*big.Rat{}
	for _, doc := range docs {
		var ids []int
		for _, w := range strings.FieldsFunc(doc, func(r rune) bool { return r == ' ' || r == '\t' }) {
			if id := slices.Index(words, w); id >= 0 {
				ids = append(ids, id)
			}
		}
		for p := range ids {
			for q := range ids {
				d := q - p
				if d == 0 || max(d, -d) > opt.Window || opt.Side == Left && d > 0 || opt.Side == Right && d < 0 {
					continue
				}
				cell := [2]uint32{uint32(ids[p]), uint32(ids[q])}
				if exact[cell] == nil {
					exact[cell] = new(big.Rat)
				}
				weight := big.NewRat(1, 1)
				if opt.Weighting == Distance {
					weight = big.NewRat(1, int64(max(d, -d)))
					if opt.Window > lcmWindow { // defined as the float64 nearest to it
						weight.SetFloat64(1 / math.Abs(float64(d)))
					}
				}
				exact[cell].Add(exact[cell], weight)
			}
		}
	}
	m := map[[2]uint32]float64{}
	for cell, sum := range exact {
		m[cell], _ = sum.Float64() // rounds to nearest
	}
	return m
}
