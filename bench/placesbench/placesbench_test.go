package placesbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

func TestAllFiguresAreThere(t *testing.T) {
	r, err := Run(t.Context(), Options{Quick: true, Rounds: 1, Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Figure 4", "Figure 5", "Figure 6", "Figure 7", "Figure 8", "Figure 9", "Figure 10", "Figure 11", "Beyond", "This was a trial"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %s", want)
		}
	}
	for _, file := range []string{"figure-4-by-points.csv", "figure-11-by-prevalence.svg", "beyond-by-points.csv"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// Every way finds as many neighbours, each in its own unit.
func TestJoinsAgree(t *testing.T) {
	dev, _ := gputest.Named(t)
	d, err := coloc.OpenGPU(dev.Which(0))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	b := &bench{Options: Options{Device: d, Threads: 2, Rounds: 1, Limit: time.Minute}, ctx: t.Context()}
	pts := Clustered(400, 5, 100)
	for _, algorithm := range []coloc.Algorithm{coloc.Auto, coloc.SGCT} {
		var want int64
		for _, e := range []engine.Kind{engine.Sequential, engine.Multicore, engine.GPU} {
			s, err := coloc.NewSurvey(pts, b.options(way{"", algorithm, e}, 6, 0.2))
			if err != nil {
				t.Fatal(err)
			}
			stats, err := s.Join(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want == 0 {
				want = stats.Pairs
			}
			if stats.Pairs != want || want == 0 {
				t.Errorf("%s, %v: %d pairs, want %d", algorithm, e, stats.Pairs, want)
			}
			if gpu := e == engine.GPU; gpu != (stats.Prepare > 0) || stats.Find <= 0 {
				t.Errorf("%s, %v: prepared %v, found %v", algorithm, e, stats.Prepare, stats.Find)
			}
		}
	}
}
