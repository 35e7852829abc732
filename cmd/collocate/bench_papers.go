package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/papersbench"
	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
)

func newBenchPapersCmd(a *app) *cobra.Command {
	var o papersbench.Options
	var out string
	cmd := &cobra.Command{
		Use:         "papers",
		Short:       "Reproduce every table and figure of the five papers, on one page",
		Annotations: hasGPU,
		Long: `Run the benchmarks of all four jobs, and list every table and figure of the five papers that
Collocate began with: its number, the paper's value, ours, both machines, how the settings
differ, and whether the values can be compared. All measurements follow, with plots.

With a GPU it takes about an hour. --engine multicore leaves the GPU out and uses less data.
--quick takes two or three minutes on two cores.`,
		Args: cobra.NoArgs,
		Example: `  collocate bench papers --out papers
  collocate bench papers --quick --engine multicore --out papers`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			o.Threads, o.Memory = a.threads, int64(a.memory)
			o.Say = func(format string, args ...any) { a.summary(format, args...) }
			if o.Device, err = a.gpuIfAny(); err != nil {
				return err
			}
			if o.Device != nil {
				defer func() { err = errors.Join(err, o.Device.Close()) }()
				if o.Places, err = coloc.OpenGPU(a.gpu); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, o.Places.Close()) }()
			}
			return a.printReport(out, func() (*report.Report, error) { return papersbench.Run(cmd.Context(), o) })
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.Quick, "quick", false, "use small data: two or three minutes on two cores")
	f.StringVar(&o.Dir, "scratch", "", "folder for temporary data, about 6 GB, or little with --quick (default the system's temporary folder)")
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}
