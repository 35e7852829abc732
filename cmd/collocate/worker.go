package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/worker"
)

// newWorkerCmd is the other end of the Python package, which starts it. It is not for people.
func newWorkerCmd(a *app) *cobra.Command {
	var descriptor int
	cmd := &cobra.Command{
		Use:    "worker --descriptor N",
		Short:  "Answer the calls of the Python package",
		Hidden: true,
		Long: `The Python package starts this verb and calls it over the Unix socket that it hands down
as file descriptor N. It ends when that is closed.`,
		Example: `  collocate worker --descriptor 3`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if descriptor < 3 {
				return usagef("--descriptor %d: want that of a socket, 3 or more; this verb is for programs", descriptor)
			}
			return worker.New(versionName()).Serve(cmd.Context(), descriptor)
		},
	}
	cmd.Flags().IntVar(&descriptor, "descriptor", 0, "file descriptor of the control socket")
	return cmd
}
