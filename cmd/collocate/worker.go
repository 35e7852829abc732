package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cmd/internal/worker"
)

// newWorkerCmd makes the hidden verb worker: the process that the Python package starts and calls.
func newWorkerCmd(a *app) *cobra.Command {
	var descriptor int
	cmd := &cobra.Command{
		Use:    "worker --descriptor N",
		Short:  "Answer the calls of the Python package",
		Hidden: true,
		Long: `Answer the calls of the Python package, which starts this command and passes it a Unix socket as
file descriptor N. It ends when the socket is closed.`,
		Example: `  collocate worker --descriptor 3`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if descriptor < 3 {
				return usagef("--descriptor %d: want that of a socket, 3 or more; only the Python package calls this command", descriptor)
			}
			return worker.New(versionName()).Serve(cmd.Context(), descriptor)
		},
	}
	cmd.Flags().IntVar(&descriptor, "descriptor", 0, "file descriptor of the control socket")
	return cmd
}
