package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/clientbench"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

type benchClientsFlags struct {
	o         clientbench.Options
	topics    string
	k         int
	documents int
	words     int
	scratch   string
}

func newBenchClientsCmd(a *app) *cobra.Command {
	var f benchClientsFlags
	cmd := &cobra.Command{
		Use:         "clients [DIR --topics FILE]",
		Short:       "Load test: many clients for minutes; checks results, errors, fairness and memory",
		Annotations: hasGPU,
		Long: `Query one index from many clients for as long as --for says. Each client sends its next query when
it has the answer to the last. One result in --check is compared with that of one core, to the
bit; one request in --batch is a batch of 16 queries.

At intervals of --every a line is printed with the throughput, the latencies and the memory in
use: resident memory of the process (rss), the part of it that is not mapped from files (own),
Go's heap, and the GPU's. The last lines summarise latencies and errors, compare the slowest
client with the fastest, and the memory of the second minute with that of the last. The exit
code is 1 if a result was wrong, a query failed, a client was much slower than others, or memory
grew.

The queries are those in FILE. Without an index, a collection of --documents and queries of the
same distribution are generated. With --engine gpu the index is copied to the GPU; with multicore
all cores share each query. With --json one object is printed at the end.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  collocate bench clients --engine gpu
  collocate bench clients --engine gpu --clients 64 --for 10m --documents 2000000
  collocate bench clients news.index --topics topics.txt --for 30s`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchClients(cmd.Context(), args, &f) },
	}
	fl := cmd.Flags()
	fl.IntVar(&f.o.Clients, "clients", 64, "number of clients")
	fl.DurationVar(&f.o.For, "for", 10*time.Minute, "duration of the test")
	fl.DurationVar(&f.o.Every, "every", 10*time.Second, "interval between two lines of output")
	fl.IntVar(&f.o.Check, "check", 1000, "compare one of this many results of a client with that of one core")
	fl.IntVar(&f.o.Batch, "batch", 200, "make one of this many requests of a client a batch of 16")
	fl.StringVar(&f.topics, "topics", "", "file of queries, in any of the formats of 'search --topics'")
	fl.IntVarP(&f.k, "k", "k", 10, "number of documents per query of --topics")
	fl.IntVar(&f.documents, "documents", 1_000_000, "number of documents to generate")
	fl.IntVar(&f.words, "words", 20_000, "number of distinct words to generate")
	fl.StringVar(&f.scratch, "scratch", "", "folder for the generated collection, which is deleted at the end (default the system's temporary folder)")
	return cmd
}

func (f *benchClientsFlags) check(args []string) error {
	if f.o.Clients < 1 || f.o.For <= 0 || f.o.Every <= 0 || f.o.Check < 1 || f.o.Batch < 1 ||
		f.documents < 1 || f.words < 1 || f.k < 1 || f.k > search.MaxK {
		return usagef("--clients %d, --for %v, --every %v, --check %d, --batch %d, --documents %d, "+
			"--words %d, -k %d: want positive numbers, and at most %d for -k", f.o.Clients, f.o.For,
			f.o.Every, f.o.Check, f.o.Batch, f.documents, f.words, f.k, search.MaxK)
	}
	if (len(args) == 1) != (f.topics != "") {
		return usagef("an index and --topics go together: give both, or neither to generate a collection")
	}
	return nil
}

func (a *app) benchClients(ctx context.Context, args []string, f *benchClientsFlags) (err error) {
	if err := f.check(args); err != nil {
		return err
	}
	dir := ""
	if len(args) == 1 {
		dir = args[0]
		topics, err := trec.ReadTopics(f.topics, trec.TopicOptions{IDs: trec.ByPosition, Note: a.note})
		if err != nil {
			return err
		}
		var texts []string
		for _, t := range topics {
			texts = append(texts, t.Text)
		}
		if len(texts) == 0 {
			return fmt.Errorf("%s: no queries", f.topics)
		}
		f.o.Query = clientbench.Asked(texts, f.k)
	} else {
		made, err := os.MkdirTemp(f.scratch, "clients")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		dir = filepath.Join(made, "index")
		a.summary("generating a collection of %d documents", f.documents)
		shape := thesisbench.Zipf(f.documents, f.words, 5)
		if err := shape.Build(ctx, dir); err != nil {
			return err
		}
		f.o.Query = clientbench.Generated(&shape)
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return a.loadClients(ctx, s, f)
}

// loadClients runs the load test on an open index and prints its results.
func (a *app) loadClients(ctx context.Context, s *search.Searcher, f *benchClientsFlags) error {
	f.o.Engine = a.engine
	switch a.engine {
	case engine.GPU:
		if err := a.bringToGPU(ctx, s); err != nil {
			return err
		}
		f.o.Parallel = &search.Parallel{Engine: engine.GPU}
	case engine.Multicore:
		f.o.Parallel = &search.Parallel{Engine: engine.Multicore, Threads: a.threads}
	}
	if !a.json {
		fmt.Fprintf(a.stdout, "%8s %10s %10s %9s %9s %9s %7s %9s %9s %9s %9s\n", "time", "queries",
			"a second", "p50 us", "p99 us", "max us", "errors", "rss MB", "own MB", "heap MB",
			"device MB")
		f.o.Report = func(l clientbench.Sample) {
			fmt.Fprintf(a.stdout, "%7.0fs %10d %10.0f %9.1f %9.1f %9.0f %7d %9d %9d %9d %9d\n",
				l.At, l.Queries, l.Rate, l.P50, l.P99, l.Max, l.Errors,
				l.Resident>>20, l.Own>>20, l.Heap>>20, l.Device>>20)
		}
	}
	r, err := clientbench.Run(ctx, s, f.o)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(r)
	} else {
		printClients(a, r)
	}
	if problems := r.Problems(); err == nil && len(problems) > 0 {
		err = errors.New(strings.Join(problems, "; "))
	}
	return err
}

func printClients(a *app, r *clientbench.Result) {
	w := a.stdout
	fmt.Fprintf(w, "\n%d queries in %.0f s, %.0f a second; %d compared with one core, %d wrong; %d errors\n", r.Queries, r.Seconds, r.Rate, r.Compared, r.Wrong, r.Errors)
	fmt.Fprintf(w, "a query: mean %.1f us, p50 %.1f, p99 %.1f, max %.0f; a batch of 16: mean %.1f us, p99 %.1f, max %.0f\n",
		r.All.Mean, r.All.P50, r.All.P99, r.All.Max, r.Batches.Mean, r.Batches.P99, r.Batches.Max)
	low, high := r.Clients[0], r.Clients[0]
	for _, c := range r.Clients {
		low.Mean, high.Mean = min(low.Mean, c.Mean), max(high.Mean, c.Mean)
		low.P50, high.P50 = min(low.P50, c.P50), max(high.P50, c.P50)
		low.P99, high.P99 = min(low.P99, c.P99), max(high.P99, c.P99)
		low.Max, high.Max = min(low.Max, c.Max), max(high.Max, c.Max)
	}
	fmt.Fprintf(w, "clients: mean %.1f to %.1f us (%.2fx), p50 %.1f to %.1f, p99 %.1f to %.1f, max %.0f to %.0f\n", low.Mean, high.Mean, r.Fairness, low.P50, high.P50, low.P99, high.P99, low.Max, high.Max)
	g := r.Growth
	fmt.Fprintf(w, "memory, second and last minute: rss %d to %d MB, own %d to %d, Go's heap %d to %d, device %d to %d\n", g.First.Resident>>20, g.Last.Resident>>20, g.First.Own>>20, g.Last.Own>>20,
		g.First.Heap>>20, g.Last.Heap>>20, g.First.Device>>20, g.Last.Device>>20)
}
