package gpubench

import (
	"os"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// The suites find no difference, and all figures can be measured: in the interpreter with little
// data, on a real GPU as for the receipt.
func TestSearchJob(t *testing.T) {
	trials.Long(t, "suites and figures in the interpreter")
	dev, _ := gputest.Named(t)
	quick := os.Getenv("COLLOCATE_TEST_GPU") == ""
	sizes := []int{1000}
	if !quick {
		sizes = []int{1_000_003}
	}
	results, err := check.Conform(t.Context(), dev, searchJob.Suites, sizes)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Error != "" {
			t.Errorf("%s: %s", r.Name, r.Error)
		}
	}
	benches, err := searchJob.Measure(t.Context(), dev, quick)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range benches {
		if strings.HasPrefix(b.Name, "thesis: ") {
			if lossy := strings.Contains(b.Name, "homogeneous"); (b.Recall > 0) != lossy || b.Note == "" {
				t.Errorf("%s: recall %v, note %q: want a note, and a recall if it is not exact", b.Name,
					b.Recall, b.Note)
			}
		}
		met := ""
		if b.Met != nil {
			met = map[bool]string{true: "met", false: "not met"}[*b.Met]
		}
		t.Logf("%-45s %10.1f us, median %10.1f us, %6.0f GB/s; wanted %s %s", b.Name, b.Seconds*1e6,
			b.Median*1e6, b.GBs, b.Wanted, met)
	}
}
