package main

import "github.com/spf13/cobra"

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
	cmd.AddCommand(newBenchThesisCmd(a), newBenchSearchCmd(a), newBenchClientsCmd(a), newBenchCooccurCmd(a), newBenchWeighCmd(a), newBenchPlacesCmd(a))
	return cmd
}
