package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version = ""

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupTools,
		Args:    cobra.NoArgs,
		Example: `  collocate version
  collocate version --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.stdout, "collocate %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
			return nil
		},
	}
}

func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
