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
		Short: "Reproduce the thesis' figures on co-location, with up to 10 million points",
		Long: `Measure co-location mining on points with planted patterns, by number of points, distance and
prevalence, on sparse and dense, uniform and clustered points. SGCT and our own algorithm run on
one core, on all cores and, if there is one, on a GPU; joinless, iCPI-tree and Co-location Miner
run on one core. The result is a page in Markdown, or with --out a folder with the page, CSV
files and plots.

--engine gpu requires a GPU, --engine multicore leaves it out. SGCT may use up to 8GB, unless
--memory is given. All of it takes many minutes; --quick uses a hundredth of the points.`,
		Annotations: hasGPU,
		Args:        cobra.NoArgs,
		Example: `  collocate bench places --out places-report
  collocate bench places --quick`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.Rounds < 1 || o.Limit <= 0 {
				return usagef("--rounds %d, --limit %v: want at least one round and a positive duration",
					o.Rounds, o.Limit)
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
	f.IntVar(&o.Rounds, "rounds", 20, "number of runs of each job; times are means, as in the thesis")
	f.DurationVar(&o.Limit, "limit", 20*time.Second, "stop a job that takes longer than this")
	f.BoolVar(&o.Quick, "quick", false, "use a hundredth of the points")
	return cmd
}
