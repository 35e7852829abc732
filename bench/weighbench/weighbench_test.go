package weighbench

import (
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// The figures have a line for every method and a row for every size.
func TestFigures(t *testing.T) {
	dev, _ := gputest.Device(t)
	r, err := Run(t.Context(), Options{Sizes: []int64{4000, 8000}, Rounds: 1, Threads: 2, Device: dev, Slow: true})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := r.Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MRP", "CPU auto", "MRM", "PP", "PPD", "ours", "copy up", "4 sort", "copy down"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if got := r.Sections[1].Tables[0].Rows; len(got) != 2 || got[1][0] != "0.008" {
		t.Errorf("rows %v", got)
	}
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("nothing was measured, without an error")
	}
}

// A table that is too large is not built, but its size is in the figures.
func TestDictionaryFigures(t *testing.T) {
	dev, _ := gputest.Device(t)
	w, err := Words(1200)
	if err != nil {
		t.Fatal(err)
	}
	r, err := RunDict(t.Context(), dev, DictOptions{Words: w, Kinds: []dict.Kind{dict.STT, dict.XBW}, Lookups: 400, Memory: 100e3})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Sections[0].Tables[0].Rows
	if len(rows) != 4 || rows[1][3] != "more than --memory" || rows[3][1] != "1200" {
		t.Errorf("rows %v", rows)
	}
	if got := steps(1200, 100, 4); !slices.Equal(got, []int{120, 1200}) {
		t.Errorf("sizes %v", got)
	}
}
