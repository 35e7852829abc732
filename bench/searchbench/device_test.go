package searchbench

import (
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
)

// onBoth opens an index on a device, the same without a device, and returns options for both.
func onBoth(t *testing.T) (onGPU, onCores *search.Searcher, o Options) {
	t.Helper()
	dev, _ := gputest.Named(t)
	dir := built(t)
	onGPU, onCores = opened(t, dir), opened(t, dir)
	if err := onGPU.OpenGPU(t.Context(), search.GPUOptions{Device: dev.Which(0)}); err != nil {
		t.Fatal(err)
	}
	return onGPU, onCores, Options{Ks: []int{1, 20}, Modes: []search.Mode{search.Or, search.And}, Rounds: 1, Batch: 2}
}

// A device and the cores answer the same queries in turn. There is a row for every mode and k with
// the times of both and the speedup.
func TestDeviceBesideCores(t *testing.T) {
	trials.Long(t, "batches in the interpreter")
	onGPU, onCores, o := onBoth(t)
	queries := []string{"a", "a b", "c d e", "nothing"}
	var rows []DeviceRow
	err := Device(t.Context(), onGPU, onCores, queries, o,
		func(r DeviceRow) error { rows = append(rows, r); return nil })
	if err != nil || len(rows) != 4 {
		t.Fatalf("rows %+v, %v; want 4", rows, err)
	}
	for i, want := range []struct {
		mode    string
		k, hits int
	}{{"or", 1, 3}, {"or", 20, 60}, {"and", 1, 3}, {"and", 20, 60}} {
		r := rows[i]
		if r.Mode != want.mode || r.K != want.k || r.Hits != want.hits || r.Queries != 4 ||
			r.Threads != 2 || r.Rounds != 1 || r.OnCores != 0 {
			t.Errorf("%+v, want %+v", r, want)
		}
		for _, took := range []Took{r.GPU.Search, r.GPU.Map, r.Cores.Search, r.Cores.Map} {
			if took.Min <= 0 || took.Min > took.Median {
				t.Errorf("%+v: want a positive minimum, at most the median", r)
			}
		}
		best := min(r.Cores.Search.Median, r.Cores.Map.Median)
		if r.Times.Search != best/r.GPU.Search.Median || r.Times.Map != best/r.GPU.Map.Median {
			t.Errorf("%+v: want speedups over the cores' better median, %v ms", r, best)
		}
	}
	rows, o.Within, o.Language = nil, []float64{50}, true
	o.Ks, o.Modes = o.Ks[1:], o.Modes[:1]
	if err := Device(t.Context(), onGPU, onCores, []string{"a -b", "+a +b"}, o,
		func(r DeviceRow) error { rows = append(rows, r); return nil }); err != nil || len(rows) != 2 ||
		rows[1].Within != 50 || rows[1].Hits > rows[0].Hits {
		t.Errorf("within half of the documents: %+v, %v", rows, err)
	}
	if err := Device(t.Context(), onGPU, onCores, nil, o, nil); err == nil {
		t.Error("Device without queries returns no error")
	}
	enough := errors.New("enough")
	if err := Device(t.Context(), onGPU, onCores, queries[:1], o,
		func(DeviceRow) error { return enough }); err != enough {
		t.Errorf("got %v, want the error of the report", err)
	}
}

// Different results are an error: an index of other documents takes the place of a wrong device.
func TestDifferentResultsAreAnError(t *testing.T) {
	onGPU, _, o := onBoth(t)
	other := opened(t, indexOf(t, "b c\na b c\n"))
	err := Device(t.Context(), onGPU, other, []string{"nothing", "a b"}, o,
		func(DeviceRow) error { return errors.New("reported") })
	if err == nil || !strings.Contains(err.Error(),
		`mode or, k 1, within 0%: query 2, "a b": the result of the GPU's SearchBatch is not that of the cores' SearchBatch`) {
		t.Errorf("different results: got %v, want an error that names the query", err)
	}
	if err := Device(t.Context(), other, onGPU, []string{"a"}, o, nil); err == nil ||
		!strings.Contains(err.Error(), "the index is not on a GPU") {
		t.Errorf("an index without a device: got %v", err)
	}
}
