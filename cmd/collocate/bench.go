package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

func newBenchCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure how fast the jobs are on this machine",
		GroupID: groupTools,
		Args:    cobra.NoArgs,
		Example: `  collocate bench search news.index --topics topics.txt
  collocate bench weigh --sizes 100MB`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchPapersCmd(a), newBenchThesisCmd(a), newBenchSearchCmd(a),
		newBenchClientsCmd(a), newBenchCooccurCmd(a), newBenchWeighCmd(a), newBenchPlacesCmd(a),
		newBenchEnergyCmd(a))
	return cmd
}

// withGPU calls f with the device that --device names if --engine is gpu, and with nil otherwise.
func (a *app) withGPU(f func(dev *gpu.Device) error) error {
	if a.engine != engine.GPU {
		return f(nil)
	}
	dev, err := gpu.Open(a.gpu.Ordinal)
	if err != nil {
		return err
	}
	return errors.Join(f(dev), dev.Close())
}

// printReport writes the report of run to the folder dir, or prints it if dir is empty. The folder
// is created before run, so that a bad path is an error at once and not after minutes of
// measuring. With --json the tables are printed as JSON as well.
func (a *app) printReport(dir string, run func() (*report.Report, error)) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	r, err := run()
	if err != nil {
		return err
	}
	if dir != "" {
		if err := r.Write(dir); err != nil {
			return err
		}
	}
	switch {
	case a.json:
		return a.printJSON(r)
	case dir == "":
		return r.Markdown(a.stdout)
	}
	return nil
}
