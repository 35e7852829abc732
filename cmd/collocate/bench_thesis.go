package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/trec"
)

func newBenchThesisCmd(a *app) *cobra.Command {
	var o thesisbench.Options
	var out, topics string
	cmd := &cobra.Command{
		Use:         "thesis [DIR --topics FILE]",
		Short:       "Reproduce a thesis on parallel retrieval with WAND and MaxScore, on a GPU or on cores",
		Annotations: hasGPU,
		Long: `Reproduce the tables and figures of R. Gaioso, "Paralelização de algoritmos de busca de documentos
mais relevantes na Web utilizando GPUs", UFSCar 2019. Generate a collection of 50.2 million
documents whose postings lists have the thesis' four lengths, answer two-word queries by parallel
WAND and MaxScore in all variants, and print times, speedups over one core, and recall beside the
thesis' values.

Two sections are of what the thesis leaves to others: schedulers of queries, which answer the same
log in several orders, and its partitions on compressed lists beside plain ones.

With an index and --topics, measure these queries instead, in four classes by the length of their
postings lists, and the first 2,000 in four batches of 500. --engine auto uses a GPU if there is
one; on cores, a hundredth of the collection is the default. As in the thesis, each of 20 queries
runs 10 times, and the fastest and the slowest query are left out. --out writes the page with CSV
files and plots to a folder.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  collocate bench thesis --out thesis
  collocate bench thesis --engine multicore --share 0.001 --queries 4 --runs 3
  collocate bench thesis news.index --topics topics.txt --out news`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) != (topics != "") {
				return usagef("an index and --topics go together: give both, or neither to generate a collection")
			}
			if len(args) == 1 {
				if cmd.Flags().Changed("share") {
					return usagef("--share is the size of the generated collection; leave it out with an index")
				}
				o.Index = args[0]
				list, err := trec.ReadTopics(topics, trec.TopicOptions{IDs: trec.ByPosition})
				if err != nil {
					return err
				}
				for _, t := range list {
					o.Topics = append(o.Topics, t.Text)
				}
			}
			return a.benchThesis(cmd.Context(), o, out)
		},
	}
	fl := cmd.Flags()
	fl.Float64Var(&o.Share, "share", 0, "size of the generated collection as a share of the thesis' (default 1, on cores 0.01)")
	fl.IntVar(&o.Queries, "queries", 20, "number of queries of each class")
	fl.IntVar(&o.Runs, "runs", 10, "number of runs of each query, as long as they take less than half a second")
	fl.IntVar(&o.Batch, "batch", 500, "number of queries in a batch")
	fl.IntVar(&o.Batches, "batches", 0, "number of batches, whose times are averaged (default 4 if there are so many topics, else 1)")
	fl.IntVarP(&o.K, "k", "k", 128, "number of documents")
	fl.StringVar(&topics, "topics", "", "file of queries, in any of the formats of 'search --topics'")
	fl.StringVar(&o.Dir, "scratch", "", "folder for the generated collection, about 2 GB, which is deleted at the end (default the system's temporary folder)")
	fl.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

func (a *app) benchThesis(ctx context.Context, o thesisbench.Options, out string) (err error) {
	if o.Share < 0 || o.Share > 1 || o.Queries < 1 || o.Runs < 1 || o.Batch < 1 || o.Batches < 0 ||
		o.K < 1 || o.K > 1024 {
		return usagef("--share %v, --queries %d, --runs %d, --batch %d, --batches %d, -k %d: want "+
			"positive numbers, at most 1 for --share and at most 1024 for -k", o.Share, o.Queries,
			o.Runs, o.Batch, o.Batches, o.K)
	}
	o.Threads = a.threads
	o.Say = func(format string, args ...any) { a.summary(format, args...) }
	dev, err := a.gpuIfAny()
	if err != nil {
		return err
	}
	if dev != nil {
		defer func() { err = errors.Join(err, dev.Close()) }()
		o.Device = dev
	} else if o.Share == 0 {
		o.Share = 0.01
	}
	return a.printReport(out, func() (*report.Report, error) { return thesisbench.Run(ctx, o) })
}

// gpuIfAny opens the GPU that --device names. It returns nil for engines of the CPU, and for
// --engine auto on a machine without a GPU.
func (a *app) gpuIfAny() (*gpu.Device, error) {
	if a.engine != engine.Auto && a.engine != engine.GPU {
		return nil, nil
	}
	dev, err := gpu.Open(a.gpu.Ordinal)
	if a.engine == engine.Auto && errors.Is(err, engine.ErrNoGPU) {
		a.summary("no GPU: measuring on %d threads", a.threads)
		return nil, nil
	}
	return dev, err
}
