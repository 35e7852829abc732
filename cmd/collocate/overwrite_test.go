package main

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every flag that names a file is in the list of outputs or of inputs, so that a new verb cannot
// forget to protect its inputs.
func TestFlagsThatNameFilesAreKnown(t *testing.T) {
	// Flags that name no file, or folders that are created or filled and never hold an input. For
	// weigh --index, package index protects the folder: it replaces nothing but an index.
	harmless := []string{"dir", "scratch", "weigh --index", "crs", "feature", "encoding"}
	names := regexp.MustCompile(`(?i)\b(file|folder|write|dictionary that)\b`)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "string" || !names.MatchString(f.Usage) {
				return
			}
			known := slices.Concat(outputFlags, inputFlags, harmless)
			if !slices.Contains(known, f.Name) && !slices.Contains(known, cmd.Name()+" --"+f.Name) {
				t.Errorf("%s --%s (%s) is in none of the lists of overwrite.go", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
}
