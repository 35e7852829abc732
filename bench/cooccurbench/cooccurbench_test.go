package cooccurbench

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// All engines count the same matrix, and the page has a line for each.
func TestAllEngines(t *testing.T) {
	trials.Long(t, "every engine, two in the interpreter")
	dev, _ := gputest.Named(t)
	fakeGloVe(t)
	o := Options{
		Tokens: 1500, Sample: 500, Windows: []int{2},
		Engines: []Engine{GPU, Paper, Multicore, PaperCores, Sequential, GloVe}, Rounds: 2,
		Write: true,
		Dir:   t.TempDir(), Threads: 2, Memory: 1e9, Weighting: cooccur.Count, Device: dev.Which(32 << 20), Stages: true,
	}
	rows, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Seconds <= 0 || r.Mean < r.Seconds || r.Written <= 0 || r.Rounds != 2 ||
			r.Scaled != (r.Engine == Sequential || r.Engine == PaperCores || r.Engine == GloVe) ||
			(len(r.Stages) > 0) != (r.Engine == GPU || r.Engine == Paper) {
			t.Errorf("%+v: want times of 2 rounds, scaled if of a sample, and stages on the GPU only", r)
		}
		if r.Engine == Sequential && r.Entries != rows[3].Entries {
			t.Errorf("%s has %d entries, %s %d", r.Engine, r.Entries, rows[3].Engine, rows[3].Entries)
		}
		if !r.Scaled && (r.Entries != rows[0].Entries || r.Distinct != rows[0].Distinct) {
			t.Errorf("%s has %d entries and %d words, %s %d and %d", r.Engine, r.Entries,
				r.Distinct, rows[0].Engine, rows[0].Entries, rows[0].Distinct)
		}
	}
	var page strings.Builder
	if err := Page(o, rows).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| GloVe", "| sequential", "| multicore (Algorithm 3)",
		"| multicore (ours)", "| GPU (Algorithm 4)", "| GPU (ours)", "scaled from 500 words",
		"--sample 0 measures all", "rows on the host",
		"| 15.210 | 21.829 | 0.312 | 12.212 | 21.053 | 2 |", "| 447.046 | 459.563"} {
		if !strings.Contains(strings.Join(strings.Fields(page.String()), " "), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// fakeGloVe puts programs on the PATH that check GloVe's options and write a little output.
func fakeGloVe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	dir := t.TempDir()
	for name, script := range map[string]string{
		"vocab_count": "#!/bin/sh\ncat >/dev/null; echo the 2\n",
		"cooccur":     "#!/bin/sh\ncase \"$*\" in *'-window-size 2 -distance-weighting 0'*) ;; *) echo \"unexpected: $*\" >&2; exit 1;; esac\ncat >/dev/null; printf 0123456789abcdef\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// Deviations are those of a sample. Speedups compare times with writing, or times without.
func TestMeans(t *testing.T) {
	if mean, sd := meanAndSD([]float64{1, 2, 3, 4}, 10); mean != 25 || math.Abs(sd-12.909944) > 1e-6 {
		t.Errorf("mean %v, deviation %v, want 25 and 12.91", mean, sd)
	}
	if _, sd := meanAndSD([]float64{7}, 1); sd != 0 {
		t.Errorf("the deviation of one round is %v, want 0", sd)
	}
	slow, fast := Row{Mean: 10, Written: 30}, Row{Mean: 5, Written: 10}
	if got := speedup(slow, fast); got != 3 {
		t.Errorf("speedup with writing: %v, want 3", got)
	}
	fast.Written = 0
	if got := speedup(slow, fast); got != 2 {
		t.Errorf("speedup without writing: %v, want 2", got)
	}
}
