package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/cpu"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version = ""

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Print the version; with --verbose also which vector instructions are used. They
are the best that the processor has, or those that the environment variable
COLLOCATE_SIMD names: avx512, avx2, neon or none. Results are the same to the bit.`,
		GroupID: groupTools,
		Args:    cobra.NoArgs,
		Example: `  collocate version
  collocate version --json
  COLLOCATE_SIMD=none collocate version --verbose`,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
				SIMD    string `json:"simd"`
			}{versionName(), runtime.Version(), runtime.GOOS, runtime.GOARCH, cpu.Used().String()}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.stdout, "collocate %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
			if a.verbose {
				fmt.Fprintf(a.stdout, "vector instructions: %s\n", v.SIMD)
			}
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
