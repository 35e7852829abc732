package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/placesbench"
	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
)

func newBenchPlacesCmd(a *app) *cobra.Command {
	o := placesbench.Options{}
	var out string
	cmd := &cobra.Command{
		Use:   "places",
		Short: "The figures of the thesis on co-location again, and up to 10 million points",
		Long: `Measures co-location on points with planted patterns: by number of points, distance and prevalence,
sparse and dense, even and clustered, with SGCT and our own search on one core, on all cores and on the
GPU if there is one, and with joinless, iCPI-tree and Co-location Miner on one core. Prints a page of Markdown, or with --out writes it to a folder with CSV files and plots.
--engine gpu insists on a GPU, --engine multicore leaves it out. SGCT needs memory: up to 8GB unless --memory
says otherwise. Takes many minutes; --quick takes a hundredth of the points.`,
		Annotations: hasGPU,
		Args:        cobra.NoArgs,
		Example: `  collocate bench places --out places-report
  collocate bench places --quick`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Rounds < 1 || o.Limit <= 0 {
				return usagef("--rounds %d, --limit %v: want at least one round and some time", o.Rounds, o.Limit)
			}
			o.Threads, o.Memory = a.threads, 8e9
			if cmd.Flags().Changed("memory") {
				o.Memory = int64(a.memory)
			}
			if a.engine == engine.Auto || a.engine == engine.GPU {
				o.GPU, err = coloc.OpenGPU(a.gpu)
				switch {
				case err == nil:
					defer func() { err = errors.Join(err, o.GPU.Close()) }()
				case a.engine == engine.GPU || !errors.Is(err, engine.ErrNoGPU):
					return err
				}
			}
			o.Note = func(s string) { a.log.Info(s) }
			return a.printReport(out, func() (*report.Report, error) { return placesbench.Run(cmd.Context(), o) })
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	f.IntVar(&o.Rounds, "rounds", 20, "how often each job is run; the mean counts, as in the thesis")
	f.DurationVar(&o.Limit, "limit", 20*time.Second, "give up on a job that takes longer")
	f.BoolVar(&o.Quick, "quick", false, "a hundredth of the points")
	return cmd
}
