package gpubench

import (
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// The suites of weights and dictionaries find no difference; their figures have names and times.
func TestWeighAndDict(t *testing.T) {
	trials.Long(t, "suites and figures in the interpreter")
	dev, _ := gputest.Named(t)
	for _, job := range []Job{weighJob, dictJob} {
		results, err := check.Conform(t.Context(), dev, job.Suites, []int{0, 31, 2000})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if r.Error != "" || r.Cases == 0 {
				t.Errorf("%s: %d cases, %s", r.Name, r.Cases, r.Error)
			}
		}
		list, err := job.Measure(t.Context(), dev, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list {
			if b.Seconds <= 0 || !strings.HasPrefix(b.Name, "weigh") &&
				!strings.HasPrefix(b.Name, "dict") && !strings.HasPrefix(b.Name, "index") {
				t.Errorf("%+v: want a time, and a name that begins with weigh, dict or index", b)
			}
			if strings.Contains(b.Name, "500 MB") || strings.Contains(b.Name, "3 GB") {
				t.Errorf("%q: want the size of the quick measurement, not of the full one", b.Name)
			}
		}
	}
}
