package points

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Curves report how far they are from the first pass over the points on, also without rounds.
func TestCurvesReportProgressFromTheStart(t *testing.T) {
	var mu sync.Mutex
	var stages []string
	last := make(map[string]int64)
	_, err := Curves(t.Context(), drawn(1, 3000, 3, 0.5), CurveOptions{Rounds: 2, Progress: func(stage string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(stages, stage) {
			stages = append(stages, stage)
		}
		last[stage] = max(last[stage], done*1000/total)
	}})
	if err != nil || !slices.Equal(stages, []string{"pairs of points", "null rounds"}) || last["pairs of points"] != 1000 ||
		last["null rounds"] != 1000 {
		t.Errorf("stages %q, of each %v of 1000 done, %v; want all of the pairs of points and of the rounds", stages, last, err)
	}
}

// Reading reports the bytes of a file from the first on, also of one that is read in any order.
func TestReadingReportsProgress(t *testing.T) {
	table := filepath.Join(t.TempDir(), "points.csv")
	if err := os.WriteFile(table, []byte("x,y,kind\n"+strings.Repeat("1,2,a\n", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{table, "testdata/places.osm.pbf"} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		calls, first, last, all := 0, int64(-1), int64(0), int64(0)
		_, err = ReadFile(path, ReadOptions{Progress: func(done, total int64) {
			if calls++; calls == 1 {
				first = done
			}
			last, all = max(last, done), total
		}})
		if err != nil || calls < 3 || first != 0 || all != info.Size() || path == table && last != all || last > all {
			t.Errorf("%s: %d calls from %d to %d of %d, %v; want 0 to %d", path, calls, first, last, all, err, info.Size())
		}
	}
	// The size of a stream is not known.
	in, err := Read(strings.NewReader("x,y,kind\n1,2,a\n"), ReadOptions{Progress: func(_, total int64) {
		if total != 0 {
			t.Errorf("a stream of %d bytes; want 0, not known", total)
		}
	}})
	if err != nil || in.Len() != 1 {
		t.Errorf("a stream: %v, %v", in, err)
	}
}

// Co-occurrences report the pairs of points.
func TestCoOccurrencesReportProgress(t *testing.T) {
	var mu sync.Mutex
	most := 0.0
	_, err := CoOccurrences(t.Context(), drawn(1, 3000, 3, 0.5), CoOccurrenceOptions{Most: 0.1, Progress: func(_ string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, float64(done)/float64(total))
	}})
	if err != nil || most != 1 {
		t.Errorf("%v of the pairs, %v; want all", most, err)
	}
}
