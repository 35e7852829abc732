package gpubench

import (
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

func TestCooccur(t *testing.T) { tryAll(t, cooccurJob, []int{0, 31, 1000}) }

// tryAll checks that a job's suites find no difference, and that its figures have names and times.
func tryAll(t *testing.T, job Job, sizes []int) {
	t.Helper()
	trials.Long(t, "suites and figures in the interpreter")
	dev, _ := gputest.Named(t)
	results, err := check.Conform(t.Context(), dev, job.Suites, sizes)
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
		if b.Seconds <= 0 || !strings.HasPrefix(b.Name, job.Name) {
			t.Errorf("%+v: want a time, and a name that begins with %q", b, job.Name)
		}
	}
}
