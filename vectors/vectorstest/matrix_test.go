package vectorstest

import "testing"

// A drawn matrix has about as many cells as were asked for, in rows that rise.
func TestDraw(t *testing.T) {
	m := Draw(2000, 50_000, 1)
	if n := m.Entries(); n < 45_000 || n > 55_000 {
		t.Errorf("%d cells", n)
	}
	for i, cols := range m.cols {
		for k := range cols {
			if k > 0 && cols[k] <= cols[k-1] || m.values[i][k] <= 0 {
				t.Fatalf("row %d: %v %v", i, cols, m.values[i])
			}
		}
	}
	if a, b := len(m.cols[0]), len(m.cols[1000]); a < 10*b {
		t.Errorf("the commonest word has %d cells, another %d", a, b)
	}
}
