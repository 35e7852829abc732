package thesisbench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// The published times, speedups and recalls are those in the text of the thesis: tables 5.3 to
// 5.14, 7.2 and 7.3, row by row.
func TestPublishedIsPrinted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "seeds", "000_*.txt"))
	if err != nil || len(files) != 1 {
		t.Skip("no text of the thesis beside the checkout: ", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		had := thesisSingle[s.part]
		rows := printedRows(t, string(text), s.times, 24, 4)
		for i, row := range rows {
			for class := range 4 {
				got := fmt.Sprint(had.parallel[i][class], singleSpeedups[s.part][i][class])
				if want := fmt.Sprint(row[2*class], row[2*class+1]); got != want {
					t.Errorf("table %s, row %d, class %d: %s, the thesis prints %s", s.times, i,
						class, got, want)
				}
			}
		}
		for i, row := range printedRows(t, string(text), s.recall, 3, 2) {
			for class := range 4 {
				if got := had.recall[i][class]; got != [2]float64(row[2*class:2*class+2]) {
					t.Errorf("table %s, row %d, class %d: %v, the thesis prints %v", s.recall, i, class, got, row)
				}
			}
		}
		for class, row := range rowsAbove(t, string(text), s.sequential, `^2\t.*$`, 4, 3) {
			if had.sequential[class] != row[0] {
				t.Errorf("table %s, class %d: %v, the thesis prints %v", s.sequential, class, had.sequential[class], row)
			}
		}
	}
	for name, a := range map[string]search.Algorithm{"7.2": search.WAND, "7.3": search.MaxScore} {
		had := thesisBatch[a]
		for i, row := range printedRows(t, string(text), name, 12, 3) {
			for size := range 3 {
				got := fmt.Sprint(had.async[i][size], asyncSpeedups[a][i][size])
				if want := fmt.Sprint(row[2*size], row[2*size+1]); got != want {
					t.Errorf("table %s, row %d, size %d: %s, the thesis prints %s", name, i, size,
						got, want)
				}
			}
		}
	}
}

// printedRows returns the numbers in the rows above a table's caption, without the first skip
// columns.
func printedRows(t *testing.T, text, table string, rows, skip int) [][]float64 {
	t.Helper()
	return rowsAbove(t, text, table, `^He?[ot]m?\.\t.*$`, rows, skip)
}

func rowsAbove(t *testing.T, text, table, pattern string, rows, skip int) [][]float64 {
	t.Helper()
	end := strings.Index(text, "\nTabela "+table+":")
	if end < 0 {
		t.Fatalf("the thesis has no table %s", table)
	}
	lines := regexp.MustCompile("(?m)"+pattern).FindAllString(text[:end], -1)
	if len(lines) < rows {
		t.Fatalf("%d rows above the caption of table %s", len(lines), table)
	}
	var out [][]float64
	for _, line := range lines[len(lines)-rows:] {
		var row []float64
		for _, cell := range strings.Split(line, "\t")[skip:] {
			x, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", "."), 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, x)
		}
		out = append(out, row)
	}
	return out
}
