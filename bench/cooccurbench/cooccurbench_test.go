package cooccurbench

import (
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// All engines measure the same matrix, and the page has a line for each.
func TestAllEngines(t *testing.T) {
	dev, _ := gputest.Named(t)
	o := Options{
		Tokens: 1500, Sample: 500, Windows: []int{2}, Engines: []Engine{GPU, Paper, Multicore, Sequential}, Rounds: 2,
		Dir: t.TempDir(), Threads: 2, Memory: 1e9, Weighting: cooccur.Count, GPU: dev.Which(32 << 20), Stages: true,
	}
	rows, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Seconds <= 0 || r.Scaled != (r.Engine == Sequential) || (len(r.Stages) > 0) != (r.Engine == GPU || r.Engine == Paper) {
			t.Errorf("%+v", r)
		}
		if r.Engine != Sequential && (r.Entries != rows[0].Entries || r.Distinct != rows[0].Distinct) {
			t.Errorf("%s has %d entries and %d words, %s %d and %d", r.Engine, r.Entries, r.Distinct, rows[0].Engine, rows[0].Entries, rows[0].Distinct)
		}
	}
	var page strings.Builder
	if err := Page(o, rows).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| GloVe", "| sequential", "| multicore", "| GPU ", "| GPU (ours)", "scaled from 500 words", "rows on the host"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}
