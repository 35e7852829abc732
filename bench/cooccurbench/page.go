package cooccurbench

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/collocate/collocate/bench/report"
)

// published is the paper's Table 1: seconds with window 2, means of 10 runs, on an AMD A10-7850K
// with 4 cores and a GTX 1050 Ti. The deviations are those of the times with writing.
var published = []struct {
	name                   string
	engine                 Engine
	seconds, written, sd   float64
	timesSequential, times float64 // printed speedups over sequential and over GloVe
	streams                int
}{
	{"GloVe", GloVe, 447.046, 459.563, 2.316, 0, 0, 0},
	{"sequential", Sequential, 245.397, 266.575, 2.164, 0, 1.724, 0},
	{"multicore (Algorithm 3)", PaperCores, 85.130, 108.613, 1.228, 2.454, 4.232, 0},
	{"multicore (ours)", Multicore, 0, 0, 0, 0, 0, 0},
	{"GPU (Algorithm 4)", Paper, 15.210, 21.829, 0.312, 12.212, 21.053, 2},
	{"GPU (ours)", GPU, 0, 0, 0, 0, 0, 0},
}

// Page makes a report of the measurements.
func Page(o Options, rows []Row) *report.Report {
	fewer := ""
	if o.Enough > 0 {
		fewer = fmt.Sprintf(" (fewer once they took %v together, where it says so)", o.Enough)
	}
	r := &report.Report{
		Name:  "cooccur",
		Title: "Vocabulary and co-occurrence: the paper's table again",
		Intro: fmt.Sprintf("Generated sentences of %d words, %d threads of %d cores, weighting %v. Times are of the whole job, from text in the page cache to the vocabulary and all rows of the matrix in memory; means of %s%s, on a GPU after one that does not count.",
			o.Tokens, o.Threads, runtime.NumCPU(), o.Weighting, report.Count(max(1, o.Rounds), "round"), fewer),
	}
	for _, window := range o.Windows {
		r.Add(section(window, rows, o.Rounds))
	}
	r.Add(stages(rows))
	return r
}

func section(window int, rows []Row, wanted int) report.Section {
	at := map[Engine]Row{}
	for _, row := range rows {
		if row.Window == window {
			at[row.Engine] = row
		}
	}
	t := report.Table{
		Name: fmt.Sprintf("table1-window-%d", window), Title: fmt.Sprintf("Window %d", window),
		Header: []string{"engine", "seconds", "deviation", "with writing", "deviation with writing",
			"million words/s", "times sequential", "times GloVe", "streams", "entries",
			"paper: seconds", "paper: with writing", "paper: deviation", "paper: times sequential",
			"paper: times GloVe", "paper: streams"},
	}
	plot := report.Plot{Name: t.Name, Title: t.Title, X: "engine", Y: "seconds", LogY: true}
	series := [4]report.Series{{Name: "measured here"}, {Name: "here, with writing"},
		{Name: "the paper"}, {Name: "the paper, with writing"}}
	point := func(s int, x int, y float64) {
		if y > 0 {
			series[s].X, series[s].Y = append(series[s].X, float64(x)), append(series[s].Y, y)
		}
	}
	for i, p := range published {
		row, measured := at[p.engine]
		cells := make([]string, len(t.Header))
		cells[0] = p.name
		if measured {
			ourCells(cells, row, at, allTokens(rows, row.Tokens), wanted)
			point(0, i, row.Mean)
			point(1, i, row.Written)
		}
		if window == 2 && p.seconds > 0 {
			cells[10], cells[11], cells[12] = fmt.Sprintf("%.3f", p.seconds),
				fmt.Sprintf("%.3f", p.written), fmt.Sprintf("%.3f", p.sd)
			cells[13], cells[14], cells[15] = unlessZero("%.3f", p.timesSequential),
				unlessZero("%.3f", p.times), unlessZero("%.0f", float64(p.streams))
			point(2, i, p.seconds)
			point(3, i, p.written)
		}
		if measured || cells[10] != "" {
			t.Rows = append(t.Rows, cells)
		}
	}
	for _, s := range series {
		if len(s.X) > 0 {
			plot.Series = append(plot.Series, s)
		}
	}
	text := "The paper counted 719 million words of the 1 Billion Word Benchmark at window 2. Times are means with standard deviations: seconds without and with vocabulary and matrix written to files, " +
		"the paper's rows Vocabulário + Matriz and Total (+I/O); ours wait until all is on disk. As in the paper, speedups are of the times with writing, or without if these were not measured. " +
		"GloVe reads and writes at the same time, so its rows differ only by its last output. "
	for _, row := range at {
		if row.Scaled {
			text += "Times that are scaled from a sample include scaled constant costs, such as the second in which GloVe traverses its table: --sample 0 measures all engines on all words. "
			break
		}
	}
	if _, ok := at[GloVe]; !ok {
		text += "GloVe was not measured: it needs the engine glove, and GloVe's programs vocab_count and cooccur on the PATH. "
	}
	s := report.Section{Title: fmt.Sprintf("Table 1, window %d", window), Tables: []report.Table{t},
		Text: text + "Engines from left to right: 0 GloVe, 1 sequential, 2 multicore by the paper's Algorithm 3, 3 our multicore engine, 4 GPU by its Algorithm 4, 5 our GPU engine."}
	if len(plot.Series) > 0 {
		s.Plots = []report.Plot{plot}
	}
	return s
}

// ourCells fills in the cells of our measurements, of wanted rounds or less.
func ourCells(cells []string, row Row, at map[Engine]Row, tokens int64, wanted int) {
	cells[1] = fmt.Sprintf("%.3f", row.Mean)
	cells[2], cells[3], cells[4] = unlessZero("%.3f", row.SD), unlessZero("%.3f", row.Written),
		unlessZero("%.3f", row.WriteSD)
	for i, rounds := range map[int]int{1: row.Rounds, 3: row.WrittenRounds} {
		var notes []string
		if row.Scaled {
			notes = append(notes, fmt.Sprintf("scaled from %d words", row.Tokens))
		}
		if rounds < wanted {
			notes = append(notes, report.Count(rounds, "round"))
		}
		if cells[i] != "" && len(notes) > 0 {
			cells[i] += " (" + strings.Join(notes, "; ") + ")"
		}
	}
	cells[5] = fmt.Sprintf("%.1f", float64(tokens)/row.Mean/1e6)
	for i, base := range []Engine{Sequential, GloVe} {
		if b, ok := at[base]; ok && base != row.Engine {
			cells[6+i] = fmt.Sprintf("%.2f", speedup(b, row))
			if b.Scaled || row.Scaled {
				cells[6+i] += " (of a scaled time)"
			}
		}
	}
	cells[8], cells[9] = unlessZero("%.0f", float64(row.Streams)), unlessZero("%.0f", float64(row.Entries))
}

// speedup returns how many times as fast a row is as another: with writing, as in the paper, if
// both were measured so.
func speedup(of, row Row) float64 {
	if of.Written > 0 && row.Written > 0 {
		return of.Written / row.Written
	}
	return of.Mean / row.Mean
}

func unlessZero(format string, x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf(format, x)
}

// allTokens returns the number of words of the corpus: the largest of the rows and the sample.
func allTokens(rows []Row, sample int64) int64 {
	for _, r := range rows {
		sample = max(sample, r.Tokens)
	}
	return sample
}

// stages makes a table of the stages on the GPU.
func stages(rows []Row) report.Section {
	t := report.Table{Name: "stages", Title: "Stages on the GPU",
		Header: []string{"engine", "window", "stage", "milliseconds"}}
	for _, r := range rows {
		for _, s := range r.Stages {
			t.Rows = append(t.Rows, []string{string(r.Engine), fmt.Sprint(r.Window), s.Name,
				fmt.Sprintf("%.1f", s.Seconds*1e3)})
		}
	}
	s := report.Section{Title: "Where the GPU's time goes",
		Text: "Measured in an additional round, in which the device waits after each stage. Finished rows are copied while others are sorted; the last stage is the rest of that."}
	if len(t.Rows) > 0 {
		s.Tables = []report.Table{t}
	} else {
		s.Text = "Not measured: see --stages."
	}
	return s
}
