package gpubench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// TestPlaces runs the suites as for the receipt. On a real device it also logs the figures and the
// times of stages. COLLOCATE_PLACES_REPORT is a folder for the report of `collocate bench places`.
func TestPlaces(t *testing.T) {
	trials.Long(t, "all suites of places in the interpreter")
	dev, real := tryJob(t, placesJob)
	if !real {
		return
	}
	d, err := coloc.OpenGPU(dev.Which(0))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		name                 string
		points               *coloc.Points
		distance, prevalence float64
		algorithm            coloc.Algorithm
	}{
		{"dense", placesbench.Clustered(200_000, 20, 1000), 6, 0.1, coloc.Auto},
		{"dense, 40 features", placesbench.Clustered(200_000, 40, 1000), 6, 0.2, coloc.Auto},
		{"10M", placesbench.Even(10_000_000, 50, placesbench.SideFor(10_000_000, 10, 1)), 1, 0.1, coloc.Auto},
		{"sgct", placesbench.Clustered(80_000, 20, 1000), 4, 0.2, coloc.SGCT},
	} {
		for i := range 3 {
			o := coloc.Options{Distance: c.distance, MinPrevalence: c.prevalence,
				Engine: engine.GPU, GPU: d, Algorithm: c.algorithm}
			if i == 2 {
				o.Trace = func(stage string,
					took time.Duration) {
					t.Logf("    %-16s %8.3f ms", stage, took.Seconds()*1e3)
				}
			}
			start := time.Now()
			if _, err := coloc.Mine(t.Context(), c.points, o); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %.2f ms", c.name, time.Since(start).Seconds()*1e3)
		}
	}
	if dir := os.Getenv("COLLOCATE_PLACES_REPORT"); dir != "" {
		r, err := placesbench.Run(t.Context(), placesbench.Options{GPU: d, Rounds: 3, Limit: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPoints is the same for the statistics of points.
func TestPoints(t *testing.T) { tryJob(t, pointsJob) }

// tryJob runs the suites of a job and, on a real device, logs its figures.
func tryJob(t *testing.T, job Job) (dev *gpu.Device, real bool) {
	dev, _ = gputest.Named(t)
	real = os.Getenv("COLLOCATE_TEST_GPU") != ""
	sizes := []int{31}
	if real {
		sizes = []int{0, 1, 31, 4097, 100_003}
	}
	results, err := check.Conform(t.Context(), dev, job.Suites, sizes)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		t.Logf("%s: %d cases %s", r.Name, r.Cases, r.Error)
		if r.Error != "" {
			t.Error(r.Error)
		}
	}
	if !real {
		return dev, false
	}
	benches, err := job.Measure(t.Context(), dev, false)
	if err != nil {
		t.Error(err)
	}
	for _, b := range benches {
		met := ""
		if b.Met != nil {
			met = fmt.Sprintf("wanted %s: %v", b.Wanted, *b.Met)
		}
		t.Logf("%-60s %9.3f ms  %s", b.Name, b.Seconds*1e3, met)
	}
	return dev, true
}

// BenchmarkPlacesOpening logs the time of opening a device and of the first jobs of a process.
func BenchmarkPlacesOpening(b *testing.B) {
	if os.Getenv("COLLOCATE_TEST_GPU") == "" {
		b.Skip("COLLOCATE_TEST_GPU names no device")
	}
	pts := placesbench.Even(10_000, 20, 1000)
	start := time.Now()
	d, err := coloc.OpenGPU(engine.Device{})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	b.Logf("opened in %.0f ms", time.Since(start).Seconds()*1e3)
	for range 3 {
		start = time.Now()
		if _, err := coloc.Mine(b.Context(), pts,
			coloc.Options{Distance: 30, MinPrevalence: 0.3, Engine: engine.GPU,
				GPU: d}); err != nil {
			b.Fatal(err)
		}
		b.Logf("job in %.1f ms", time.Since(start).Seconds()*1e3)
	}
}
