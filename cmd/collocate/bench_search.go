package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/searchbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

type benchSearchFlags struct {
	topics            string
	most              int
	algorithms, modes []string
	ks                []int
	rounds            int
	p99, step         time.Duration
	batch, language   bool
	within            []float64
}

func newBenchSearchCmd(a *app) *cobra.Command {
	var f benchSearchFlags
	cmd := &cobra.Command{
		Use:         "search DIR --topics FILE",
		Short:       "Measure latency, throughput at a bound on p99, and batches on cores and a GPU",
		Annotations: hasGPU,
		Long: `Run the queries in FILE on the index in DIR, and print their latencies in microseconds for every
algorithm, mode and k, and by the number of words. The latency of a query is the median of
--rounds. Each query runs on one core. With --engine multicore it runs on all cores and, in turn,
on one, and the last column is the speedup.

--p99 also finds the highest load of queries arriving at random at which 99% of them are answered
within that time, queueing included. --threads queries run at the same time; with --engine
multicore one.

--batch also measures the throughput of all queries as one batch, on 1, 2, 4 and so on up to
--threads threads, scheduled as by 'search --topics' with --batch auto and --batch async.

--engine gpu measures batches instead: all queries at once, for every mode and k, on the GPU and,
in turn, on --threads cores. First all results are compared; a difference is an error. Then it
prints milliseconds per batch, the median and the minimum of --rounds, each of which is the mean
over a fifth of a second. There are two calls of the library: SearchBatch, which allocates its
results, and MapBatch, which reuses buffers for them. The last two columns are the GPU's speedups
with each call over the faster call on the cores. Copying the index to the GPU is not included.

With --json each line is an object.`,
		Args: cobra.ExactArgs(1),
		Example: `  collocate bench search news.index --topics topics.txt
  collocate bench search news.index --topics topics.txt --algorithms auto,wand,bmw -k 10,1000 --modes or
  collocate bench search news.index --topics topics.txt --batch --threads 16
  collocate bench search news.index --topics topics.txt --p99 20ms --threads 8
  collocate bench search news.index --topics topics.txt --engine gpu -k 10,1000 --rounds 21`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchSearch(cmd, args[0], &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.topics, "topics", "", "file of queries, in any of the formats of 'search --topics'")
	fl.IntVar(&f.most, "most", 0, "use at most this many of the queries, evenly spaced; 0 means all")
	fl.StringSliceVar(&f.algorithms, "algorithms", []string{"auto"},
		"algorithms to measure: "+strings.Join(coreAlgorithms(), ", "))
	fl.StringSliceVar(&f.modes, "modes", []string{"or", "and"}, "modes to measure: or, and")
	fl.IntSliceVarP(&f.ks, "k", "k", []int{10, 100, 1000}, "numbers of documents to measure with")
	fl.IntVar(&f.rounds, "rounds", 3, "number of runs of each query")
	fl.DurationVar(&f.p99, "p99", 0, "also find the highest load at which 99% of the queries take no longer than this")
	fl.DurationVar(&f.step, "step", time.Second, "with --p99: duration of each trial")
	fl.BoolVar(&f.batch, "batch", false, "also measure all queries as one batch, by number of threads")
	fl.Float64SliceVar(&f.within, "within", nil, "with --engine gpu: also limit the queries to these random shares of the documents, in percent")
	fl.BoolVar(&f.language, "language", false, "with --engine gpu: queries are in the query language, with phrases and the like")
	must(cmd.MarkFlagRequired("topics"))
	a.registerMoreDevices(cmd)
	choices(cmd, map[string][]string{"algorithms": coreAlgorithms(), "modes": {"or", "and"}})
	return cmd
}

// coreAlgorithms are the algorithms that run on CPU cores: all but tiles, which needs a GPU.
func coreAlgorithms() []string {
	return slices.DeleteFunc(search.Algorithms(), func(name string) bool { return name == search.Tiles.String() })
}

func (f *benchSearchFlags) options(a *app) (o searchbench.Options, err error) {
	for _, name := range f.algorithms {
		algorithm, err := search.ParseAlgorithm(name)
		if err != nil {
			return o, usageError{err}
		}
		if algorithm == search.Tiles {
			return o, usagef("--algorithms %s: it runs only on a GPU; want %s", name, strings.Join(coreAlgorithms(), ", "))
		}
		o.Algorithms = append(o.Algorithms, algorithm)
	}
	for _, name := range f.modes {
		mode, err := search.ParseMode(name)
		if err != nil {
			return o, usageError{err}
		}
		o.Modes = append(o.Modes, mode)
	}
	for _, k := range f.ks {
		if k < 1 || k > search.MaxK {
			return o, usagef("-k %d: want 1 to %d", k, search.MaxK)
		}
	}
	if len(o.Algorithms) == 0 || len(o.Modes) == 0 || len(f.ks) == 0 {
		return o, usagef("--algorithms, --modes and -k: want at least one each")
	}
	if f.rounds < 1 || f.most < 0 || f.p99 < 0 || f.step <= 0 {
		return o, usagef("--rounds %d, --most %d, --p99 %v, --step %v: want positive numbers",
			f.rounds, f.most, f.p99, f.step)
	}
	for _, share := range f.within {
		if share <= 0 || share > 100 {
			return o, usagef("--within %g: want percents above 0, at most 100", share)
		}
	}
	if a.engine != engine.GPU && (len(f.within) > 0 || f.language) {
		return o, usagef("--within and --language are for --engine gpu")
	}
	o.Within, o.Language = f.within, f.language
	o.Ks, o.Rounds, o.P99, o.Step, o.Workers = f.ks, f.rounds, f.p99, f.step, a.threads
	if f.batch {
		o.Batch = a.threads
	}
	if a.engine == engine.Multicore {
		o.Parallel, o.Workers = &search.Parallel{Engine: engine.Multicore, Threads: a.threads}, 1
	}
	if a.engine == engine.GPU {
		o.Batch = a.threads
	}
	return o, nil
}

func (a *app) benchSearch(cmd *cobra.Command, dir string, f *benchSearchFlags) error {
	o, err := f.options(a)
	if err != nil {
		return err
	}
	for _, name := range []string{"algorithms", "p99", "step", "batch"} {
		if a.engine == engine.GPU && cmd.Flags().Changed(name) {
			return usagef("--%s has no effect with --engine gpu, which measures batches only; leave it out", name)
		}
	}
	topics, err := trec.ReadTopics(f.topics, trec.TopicOptions{IDs: trec.ByPosition, Note: a.note})
	if err != nil {
		return err
	}
	n := len(topics)
	if f.most > 0 {
		n = min(n, f.most)
	}
	queries := make([]string, n)
	for i := range queries {
		queries[i] = topics[i*len(topics)/n].Text
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	if a.engine == engine.GPU {
		return a.benchDevice(cmd.Context(), s, dir, queries, o)
	}
	if a.json {
		e := json.NewEncoder(a.stdout)
		o.Report = func(r searchbench.Row) error { return e.Encode(r) }
	} else {
		times := ""
		if o.Parallel != nil {
			times = "   one core"
		}
		fmt.Fprintf(a.stdout, "%-10s %-4s %6s %6s %8s %10s %10s %10s %10s %10s%s\n", "algorithm",
			"mode", "k", "words", "queries", "mean", "p50", "p95", "p99", "queries/s", times)
		o.Report = a.printBenchRow
	}
	return searchbench.Run(cmd.Context(), s, queries, o)
}

func (a *app) printBenchRow(r searchbench.Row) error {
	rate := "-"
	if r.Rate > 0 {
		rate = fmt.Sprintf("%.0f", r.Rate)
	}
	times := ""
	if r.Times > 0 {
		times = fmt.Sprintf("%10.2fx", r.Times)
	}
	_, err := fmt.Fprintf(a.stdout, "%-10v %-4s %6d %6s %8d %10.1f %10.1f %10.1f %10.1f %10s%s\n",
		r.Algorithm, r.Mode, r.K, r.Words, r.Queries, r.Mean, r.P50, r.P95, r.P99, rate, times)
	for _, b := range r.Batch {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "  batch %-5v %3d threads %10.0f queries/s %6.2fx\n",
				b.Schedule, b.Threads, b.Rate, b.Times)
		}
	}
	return err
}
