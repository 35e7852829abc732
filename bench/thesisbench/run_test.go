package thesisbench

import (
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
)

// All of it on a tiny collection: every exact way gives the exact result, else Run fails.
func TestRun(t *testing.T) {
	dev, _ := gputest.Named(t)
	r, err := Run(t.Context(), dev, Options{Share: 0.00001, Queries: 1, Runs: 1, Batch: 2, K: 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Sections) != 5 || len(r.Sections[0].Tables) != 3 || len(r.Sections[4].Plots) != 4 {
		t.Errorf("%d sections", len(r.Sections))
	}
	if err := r.Write(t.TempDir()); err != nil {
		t.Error(err)
	}
	if _, err := Run(t.Context(), dev, Options{Share: 2}); err == nil {
		t.Error("twice the collection was taken")
	}
}
