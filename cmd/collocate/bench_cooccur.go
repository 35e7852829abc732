package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/cooccurbench"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
)

// benchCooccurFlags are the flags of bench cooccur.
type benchCooccurFlags struct {
	tokens    countFlag
	sample    countOrZero
	write     bool
	tables    paperFlags
	windows   []int
	engines   []string
	rounds    int
	weighting cooccur.Weighting
	stages    bool
	dir, out  string
}

func newBenchCooccurCmd(a *app) *cobra.Command {
	f := benchCooccurFlags{tokens: 719_000_000, sample: 5_000_000, weighting: cooccur.Count}
	cmd := &cobra.Command{
		Use:   "cooccur",
		Short: "Reproduce the paper's table on co-occurrence, on one core, on all, and on a GPU",
		Long: `Generate text with the statistics of the 1 Billion Word Benchmark (719 million words, 2.4 million
distinct), and measure how long its vocabulary and co-occurrence matrix take: from text in the
page cache to all rows in memory and, unless --write=false, to files. Times are means of --rounds
runs with standard deviations, as in the paper. --out writes a page in Markdown with tables and
plots.

The engines:
  sequential       one core, a hash table
  multicore        all cores, our own method
  paper-multicore  all cores, the paper's Algorithm 3
  gpu              a GPU, our own method
  paper            a GPU, the paper's Algorithm 4
  glove            Stanford GloVe's vocab_count and cooccur, which must be on the PATH
sequential, paper-multicore and glove are slow: they process a sample of --sample words, and their
times are scaled up. --sample 0 gives them all of the text.`,
		Annotations: hasGPU,
		Args:        cobra.NoArgs,
		Example: `  collocate bench cooccur --tokens 20M --engines multicore,sequential
  collocate bench cooccur --engines gpu,paper,multicore --windows 2,10 --out table1`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchCooccur(cmd, &f) },
	}
	fl := cmd.Flags()
	fl.Var(&f.tokens, "tokens", "number of words to generate, such as 50M")
	fl.Var(&f.sample, "sample", "number of words for sequential, paper-multicore and glove; 0 means all")
	fl.IntSliceVar(&f.windows, "windows", []int{2}, "window sizes to measure, in words on each side")
	fl.StringSliceVar(&f.engines, "engines", []string{"multicore", "sequential"},
		"engines to measure: sequential, multicore, paper-multicore, gpu, paper, glove")
	fl.IntVar(&f.rounds, "rounds", 10, "number of runs of each engine")
	fl.BoolVar(&f.write, "write", true, "also measure with the results written to files")
	f.tables.register(cmd)
	fl.Var(textFlag{&f.weighting, "weighting"}, "weighting", "what a co-occurrence adds: count (1, as in the paper) or distance (1/distance)")
	fl.BoolVar(&f.stages, "stages", false, "print the time of each stage on a GPU, from one more run")
	fl.StringVar(&f.dir, "dir", "", "folder for the generated text (default the system's temporary folder)")
	choices(cmd, map[string][]string{"engines": {"sequential", "multicore", "paper-multicore",
		"gpu", "paper", "glove"}, "weighting": {"distance", "count"}})
	fl.StringVarP(&f.out, "out", "o", "", "folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

func (a *app) benchCooccur(cmd *cobra.Command, f *benchCooccurFlags) error {
	o := cooccurbench.Options{
		Tokens: int64(f.tokens), Sample: int64(f.sample), Windows: f.windows, Rounds: f.rounds,
		Dir: f.dir, Stages: f.stages,
		Threads: a.threads, Memory: int64(a.memory), Device: a.gpu, Weighting: f.weighting, Write: f.write,
	}
	var err error
	if o.Tables, err = f.tables.tables(cmd, slices.Contains(f.engines, "paper")); err != nil {
		return err
	}
	if f.rounds < 1 {
		return usagef("--rounds %d: want at least 1", f.rounds)
	}
	if a.engine != engine.Auto {
		return usagef("--engine %v: this command compares engines; choose them with --engines", a.engine)
	}
	names := map[string]cooccurbench.Engine{"sequential": cooccurbench.Sequential,
		"multicore": cooccurbench.Multicore, "gpu": cooccurbench.GPU, "paper": cooccurbench.Paper,
		"paper-multicore": cooccurbench.PaperCores, "glove": cooccurbench.GloVe}
	for _, name := range f.engines {
		e, ok := names[name]
		if !ok {
			return usagef("--engines %q: want sequential, multicore, paper-multicore, gpu, paper or glove", name)
		}
		o.Engines = append(o.Engines, e)
	}
	if o.Tokens < 1 || slices.ContainsFunc(f.windows, func(w int) bool { return w < 1 || w > cooccur.MaxWindow }) {
		return usagef("--tokens %d, --windows %v: want at least one word, and windows of 1 to %d",
			o.Tokens, f.windows, cooccur.MaxWindow)
	}
	o.Report = func(r cooccurbench.Row) error {
		if a.json {
			return a.printJSON(r)
		}
		var stages strings.Builder
		for _, s := range r.Stages {
			fmt.Fprintf(&stages, "\n  %-28s %8.1f ms", s.Name, s.Seconds*1e3)
		}
		written := ""
		if r.Written > 0 {
			written = fmt.Sprintf(", with writing %.3f s", r.Written)
		}
		a.summary("%-17s window %-3d %9.3f s ± %.3f%s %12d entries%s", r.Engine, r.Window, r.Mean,
			r.SD, written, r.Entries, stages.String())
		return nil
	}
	rows, err := cooccurbench.Run(cmd.Context(), o)
	if err != nil {
		return err
	}
	page := cooccurbench.Page(o, rows)
	if f.out != "" {
		return page.Write(f.out)
	}
	if a.json {
		return nil
	}
	return page.Markdown(a.stdout)
}
