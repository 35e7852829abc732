package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/energybench"
	"github.com/collocate/collocate/bench/report"
)

func newBenchEnergyCmd(a *app) *cobra.Command {
	o := energybench.Options{Prices: energybench.Defaults}
	var out string
	cmd := &cobra.Command{
		Use:         "energy",
		Short:       "Measure joules and price of queries, words and points, on cores and on a GPU",
		Annotations: hasGPU,
		Long: `Run batches of queries, co-occurrence, BM25 weights and patterns of points for some seconds each,
on all cores and, if there is one, on a GPU, and print the joules of a query, of a million words
and of a million points, with what a million of them cost.

The energy of the cores comes from Linux' powercap (RAPL), which most systems let only root read;
that of a GPU from NVIDIA's management library. Both are of whole devices, idle power included.
What cannot be measured is left empty, and the page says why. Prices come from the flags, which
are assumptions: of a kilowatt hour, of an hour of the machine, and of the power where no counter
can be read.`,
		Args: cobra.NoArgs,
		Example: `  sudo collocate bench energy
  collocate bench energy --kwh 0.30 --gpu-hour 2.50 --out energy`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			p := o.Prices
			if o.For <= 0 || p.KWh < 0 || p.CoresHour < 0 || p.GPUHour < 0 || p.CoresWatts < 0 || p.GPUWatts < 0 {
				return usagef("--for %v, --kwh %v, --cores-hour %v, --gpu-hour %v, --cores-watts %v, --gpu-watts %v: "+
					"want a positive duration, and no negative number", o.For, p.KWh, p.CoresHour, p.GPUHour, p.CoresWatts, p.GPUWatts)
			}
			o.Threads, o.Memory = a.threads, int64(a.memory)
			o.Say = func(format string, args ...any) { a.summary(format, args...) }
			if o.Device, err = a.gpuIfAny(); err != nil {
				return err
			}
			if o.Device != nil {
				defer func() { err = errors.Join(err, o.Device.Close()) }()
			}
			return a.printReport(out, func() (*report.Report, error) { return energybench.Run(cmd.Context(), o) })
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.For, "for", 3*time.Second, "how long each job runs again and again")
	f.BoolVar(&o.Quick, "quick", false, "use small data")
	f.Float64Var(&o.Prices.KWh, "kwh", o.Prices.KWh, "price of a kilowatt hour")
	f.Float64Var(&o.Prices.CoresHour, "cores-hour", o.Prices.CoresHour, "price of an hour of a machine without a GPU")
	f.Float64Var(&o.Prices.GPUHour, "gpu-hour", o.Prices.GPUHour, "price of an hour of a machine with a GPU")
	f.Float64Var(&o.Prices.CoresWatts, "cores-watts", o.Prices.CoresWatts, "power of the processor where no counter can be read")
	f.Float64Var(&o.Prices.GPUWatts, "gpu-watts", o.Prices.GPUWatts, "power of the GPU where no counter can be read")
	f.StringVar(&o.Dir, "scratch", "", "folder for temporary data (default the system's temporary folder)")
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files (default: the page on standard output)")
	return cmd
}
