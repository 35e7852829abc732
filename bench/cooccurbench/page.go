package cooccurbench

import (
	"fmt"
	"runtime"

	"github.com/collocate/collocate/bench/report"
)

// published are the paper's times in seconds at window 2, with input and output: on
// an AMD A10-7850K with 4 cores and a GTX 1050 Ti.
var published = []struct {
	name    string
	engine  Engine
	seconds float64
}{
	{"GloVe", "", 459.6}, {"sequential", Sequential, 266.6}, {"multicore", Multicore, 108.6}, {"GPU", Paper, 21.8}, {"GPU (ours)", GPU, 0},
}

// Page is the report of some rows.
func Page(o Options, rows []Row) *report.Report {
	r := &report.Report{
		Name:  "cooccur",
		Title: "Vocabulary and co-occurrence: the paper's table again",
		Intro: fmt.Sprintf("Generated sentences of %d words, %d threads of %d cores, weighting %v. Times are of the whole job, from text in the page cache to the vocabulary and all rows of the matrix in memory.",
			o.Tokens, o.Threads, runtime.NumCPU(), o.Weighting),
	}
	for _, window := range o.Windows {
		r.Add(section(window, rows))
	}
	r.Add(stages(rows))
	return r
}

func section(window int, rows []Row) report.Section {
	at := map[Engine]Row{}
	for _, row := range rows {
		if row.Window == window {
			at[row.Engine] = row
		}
	}
	t := report.Table{
		Name: fmt.Sprintf("table1-window-%d", window), Title: fmt.Sprintf("Window %d", window),
		Header: []string{"engine", "seconds", "million words/s", "times sequential", "paper: seconds", "paper: times sequential", "entries"},
	}
	plot := report.Plot{Name: t.Name, Title: t.Title, X: "engine", Y: "seconds", LogY: true}
	var ours, theirs report.Series
	ours.Name, theirs.Name = "measured here", "the paper"
	for i, p := range published {
		row, measured := at[p.engine]
		cells := []string{p.name, "", "", "", "", "", ""}
		if measured {
			cells[1] = fmt.Sprintf("%.3f", row.Seconds)
			if row.Scaled {
				cells[1] += fmt.Sprintf(" (scaled from %d words)", row.Tokens)
			}
			tokens := row.Tokens
			if row.Scaled {
				tokens = allTokens(rows, row.Tokens)
			}
			cells[2] = fmt.Sprintf("%.0f", float64(tokens)/row.Seconds/1e6)
			if s, ok := at[Sequential]; ok {
				cells[3] = fmt.Sprintf("%.1f", s.Seconds/row.Seconds)
			}
			cells[6] = fmt.Sprint(row.Entries)
			ours.X, ours.Y = append(ours.X, float64(i)), append(ours.Y, row.Seconds)
		}
		if window == 2 && p.seconds > 0 {
			cells[4] = fmt.Sprintf("%.1f", p.seconds)
			cells[5] = fmt.Sprintf("%.2f", published[1].seconds/p.seconds)
			theirs.X, theirs.Y = append(theirs.X, float64(i)), append(theirs.Y, p.seconds)
		}
		if measured || cells[4] != "" {
			t.Rows = append(t.Rows, cells)
		}
	}
	for _, s := range []report.Series{ours, theirs} {
		if len(s.X) > 0 {
			plot.Series = append(plot.Series, s)
		}
	}
	s := report.Section{Title: fmt.Sprintf("Table 1, window %d", window), Tables: []report.Table{t},
		Text: "The paper counted 719 million words of the 1 Billion Word Benchmark at window 2. Engines from left to right: 0 GloVe, 1 sequential, 2 multicore, 3 GPU as the paper has it, 4 our GPU engine."}
	if len(plot.Series) > 0 {
		s.Plots = []report.Plot{plot}
	}
	return s
}

// allTokens is the size of the corpus, of which some is a sample.
func allTokens(rows []Row, sample int64) int64 {
	for _, r := range rows {
		sample = max(sample, r.Tokens)
	}
	return sample
}

// stages says where the GPU's time goes.
func stages(rows []Row) report.Section {
	t := report.Table{Name: "stages", Title: "Stages on the GPU", Header: []string{"engine", "window", "stage", "milliseconds"}}
	for _, r := range rows {
		for _, s := range r.Stages {
			t.Rows = append(t.Rows, []string{string(r.Engine), fmt.Sprint(r.Window), s.Name, fmt.Sprintf("%.1f", s.Seconds*1e3)})
		}
	}
	s := report.Section{Title: "Where the GPU's time goes", Text: "Measured in a round of its own, in which the device waits after each stage. Rows that are made cross the link while others are sorted; the last stage is what is left of that."}
	if len(t.Rows) > 0 {
		s.Tables = []report.Table{t}
	} else {
		s.Text = "Not measured: see --stages."
	}
	return s
}
