package main

import (
	"io"
	"os"
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
	harmless := []string{"dir", "scratch", "weigh --index", "crs", "feature", "encoding", "format", "qrels-format", "layer"}
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

// No verb takes an address for a local path: a folder named s3: would be created. Verbs that can
// write to S3 refuse other addresses.
func TestNoOutputIsAnAddress(t *testing.T) {
	tried := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		for _, name := range outputFlags {
			f := cmd.LocalFlags().Lookup(name)
			if f == nil || f.Value.Type() != "string" || !cmd.Runnable() {
				continue
			}
			tried++
			said, needed := []string{}, []string{"--" + name, "gs://bucket/x"}
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 && f.Name != name {
					needed = append(needed, "--"+f.Name, "1")
				}
			})
			for n := range 4 { // as many arguments as the verb needs
				path := strings.Fields(cmd.CommandPath())[1:]
				args := slices.Concat(path, slices.Repeat([]string{"nothing"}, n), needed)
				a := newApp(strings.NewReader(""), io.Discard, io.Discard)
				if err := newRoot(a, args...).ExecuteContext(t.Context()); err != nil {
					said = append(said, err.Error())
				}
			}
			if all := strings.Join(said, "\n"); !strings.Contains(all, "cannot write to an address") &&
				!strings.Contains(all, "an address in S3") {
				t.Errorf("%s --%s gs://bucket/x: %s; want that it is refused", cmd.CommandPath(), name, all)
			}
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
	if tried < 40 {
		t.Errorf("%d flags of verbs, want at least 40", tried)
	}
	if _, err := os.Stat("gs:"); err == nil {
		t.Error("a folder gs: was created")
	}
}
