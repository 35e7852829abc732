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
		Short:       "The tables and figures of a thesis on parallel retrieval, on a GPU or on cores",
		Annotations: hasGPU,
		Long: `The thesis is R. Gaioso, "Paralelização de algoritmos de busca de documentos mais relevantes na
Web utilizando GPUs", UFSCar 2019. Makes a collection of 50.2 million documents with lists of the
thesis' four lengths, answers two-word queries with parallel WAND and MaxScore in all their
variants, and prints times, speedups over one core, and recall beside the thesis', cell for cell.

With an index and --topics it measures these instead, in four classes by the length of their lists.
--engine gpu and multicore say where; auto takes the GPU if there is one. On cores a hundredth of
the collection is the default. As in the thesis, each of 20 queries is asked 10 times, and the
fastest and the slowest query do not count. --out writes Markdown, CSV files and plots to a folder.`,
		Args: cobra.MaximumNArgs(1),
		Example: `  collocate bench thesis --out thesis
  collocate bench thesis --engine multicore --share 0.001 --queries 4 --runs 3
  collocate bench thesis news.index --topics topics.txt --out news`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) != (topics != "") {
				return usagef("an index and --topics go together: without them, a collection is made")
			}
			if len(args) == 1 {
				if cmd.Flags().Changed("share") {
					return usagef("--share is of the collection that is made; it does not belong to an index")
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
	fl.Float64Var(&o.Share, "share", 0, "size of the collection, 1 being the thesis' (default 1, on cores 0.01)")
	fl.IntVar(&o.Queries, "queries", 20, "queries of each class")
	fl.IntVar(&o.Runs, "runs", 10, "how often each query is asked, if that takes less than half a second")
	fl.IntVar(&o.Batch, "batch", 500, "queries of a batch")
	fl.IntVarP(&o.K, "k", "k", 128, "number of documents")
	fl.StringVar(&topics, "topics", "", "file of queries, in any of the formats of 'search --topics'")
	fl.StringVar(&o.Dir, "scratch", "", "folder for the collection while it is needed, some 2 GB")
	fl.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

func (a *app) benchThesis(ctx context.Context, o thesisbench.Options, out string) (err error) {
	if o.Share < 0 || o.Share > 1 || o.Queries < 1 || o.Runs < 1 || o.Batch < 1 || o.K < 1 || o.K > 1024 {
		return usagef("--share %v, --queries %d, --runs %d, --batch %d, -k %d: want a share up to 1, a k up to 1024, and positive numbers", o.Share, o.Queries, o.Runs, o.Batch, o.K)
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

// gpuIfAny opens the GPU that --device names. Under --engine auto there may be none: then it is
// nil, as under the engines of the CPU.
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
