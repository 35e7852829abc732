package check

import (
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// TestConformance runs the suites of `collocate gpu test` in the interpreter.
func TestConformance(t *testing.T) {
	dev, _ := gputest.Device(t)
	r, err := NewReceipt(dev)
	if err != nil {
		t.Fatal(err)
	}
	if r.Results, err = Conform(t.Context(), dev, Primitives, []int{0, 1, 33, 5000}); err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failed() {
		t.Error(f)
	}
	for _, x := range r.Results {
		if x.Cases == 0 {
			t.Errorf("%s: nothing was compared", x.Name)
		}
	}
}

// TestBenchesRun: the times of an interpreter mean nothing, but the benchmarks must run.
func TestBenchesRun(t *testing.T) {
	trials.Long(t, "figures of the interpreter say nothing; the suites of TestConformance are tried")
	dev, _ := gputest.Device(t)
	if dev.Info().Emulated {
		b, err := Measure(t.Context(), dev, 1<<12)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 15 {
			t.Errorf("%d measurements, want at least 15", len(b))
		}
	}
}
