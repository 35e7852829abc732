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
	dev, _ := gputest.Named(t)
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
	dev, _ := gputest.Named(t)
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

// Texts to measure with are made of the words, all of which are found.
func TestTexts(t *testing.T) {
	w, err := Words(2000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := build(t.Context(), w, dict.XBW)
	if err != nil {
		t.Fatal(err)
	}
	const n = 70_000 // more than a block of DrawText
	for name, text := range map[string]*dict.Text{
		"frequent": ByFrequency(w, n, 1), "uniform": Uniform(w, n, 1), "frequent, many": DrawText(w, n, 1, true), "uniform, many": DrawText(w, n, 1, false),
	} {
		var m Timing
		if found := m.Round(text, d); found != n || text.Len() != n {
			t.Errorf("%s: %d of %d words found", name, found, text.Len())
		}
		first := m.Total()
		if m.Round(text, d); first <= 0 || m.Total() > first {
			t.Errorf("%s: %v, and then %v", name, first, m.Total())
		}
	}
	if f, u := ByFrequency(w, n, 1).Chars(), Uniform(w, n, 1).Chars(); f >= u {
		t.Errorf("frequent words have %d characters, all words %d", f, u)
	}
}
