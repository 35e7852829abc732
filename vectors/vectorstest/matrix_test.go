package vectorstest

import "testing"

// A matrix has about the given number of cells, in ascending order of columns, and frequent words
// have most.
func TestDraw(t *testing.T) {
	m := Draw(2000, 50_000, 1)
	if n := m.Entries(); n < 45_000 || n > 55_000 {
		t.Errorf("%d cells, want 45,000 to 55,000", n)
	}
	for i, cols := range m.cols {
		for k := range cols {
			if k > 0 && cols[k] <= cols[k-1] || m.values[i][k] <= 0 {
				t.Fatalf("row %d: columns %v, values %v: want ascending columns, values above 0", i, cols,
					m.values[i])
			}
		}
	}
	if a, b := len(m.cols[0]), len(m.cols[1000]); a < 10*b {
		t.Errorf("the most frequent word has %d cells, want ten times the %d of word 1000", a, b)
	}
}
