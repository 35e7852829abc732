package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/internal/gpu"
)

func newBenchThesisCmd(a *app) *cobra.Command {
	var o thesisbench.Options
	var out string
	cmd := &cobra.Command{
		Use:         "thesis",
		Short:       "The tables and figures of a thesis on parallel retrieval, on this machine's GPU",
		Annotations: hasGPU,
		Long: `The thesis is R. Gaioso, "Paralelização de algoritmos de busca de documentos mais relevantes na Web utilizando GPUs", UFSCar 2019.
Makes a collection of 50.2 million documents with lists of the thesis' four lengths, answers two-word queries with
parallel WAND and MaxScore on the GPU in all their variants, and prints times, speedups over one core, and recall, next to
our own search by tiles. With --out it writes Markdown, CSV files and plots to a folder. It takes some minutes; a smaller
--share of the collection takes less.`,
		Args: cobra.NoArgs,
		Example: `  collocate bench thesis --out thesis
  collocate bench thesis --share 0.01 --queries 2 --runs 1`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.benchThesis(cmd.Context(), o, out) },
	}
	fl := cmd.Flags()
	fl.Float64Var(&o.Share, "share", 1, "size of the collection, 1 being the thesis'")
	fl.IntVar(&o.Queries, "queries", 4, "queries of each class")
	fl.IntVar(&o.Runs, "runs", 3, "how often each is measured; the best counts")
	fl.IntVar(&o.Batch, "batch", 500, "queries of a batch")
	fl.IntVarP(&o.K, "k", "k", 128, "number of documents")
	fl.StringVar(&o.Dir, "scratch", "", "folder for the collection while it is needed, some 2 GB")
	fl.StringVarP(&out, "out", "o", "", "folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

func (a *app) benchThesis(ctx context.Context, o thesisbench.Options, out string) (err error) {
	if !(o.Share > 0 && o.Share <= 1) || o.Queries < 1 || o.Runs < 1 || o.Batch < 1 || o.K < 1 || o.K > 1024 {
		return usagef("--share %v, --queries %d, --runs %d, --batch %d, -k %d: want a share up to 1, a k up to 1024, and positive numbers", o.Share, o.Queries, o.Runs, o.Batch, o.K)
	}
	dev, err := gpu.Open(a.gpu.Ordinal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	o.Say = func(format string, args ...any) { a.summary(format, args...) }
	return a.printReport(out, func() (*report.Report, error) { return thesisbench.Run(ctx, dev, o) })
}
