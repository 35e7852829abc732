package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Whoever asks a command for help gets examples that begin with the program's name.
func TestEveryVerbHasExamples(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		if !cmd.Runnable() || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		if !strings.Contains(cmd.Example, "collocate ") || cmd.Short == "" {
			t.Errorf("%s: has no examples or no short description", cmd.CommandPath())
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
}

// Threads that read text take memory of their own, so --memory bounds their number.
func TestThreadsThatFitMemory(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.threads = 8
	for _, c := range []struct {
		memory string
		want   int
	}{{"16MB", 1}, {"64MB", 2}, {"2GB", 8}} {
		if err := a.memory.Set(c.memory); err != nil {
			t.Fatal(err)
		}
		if got := a.textThreads(); got != c.want {
			t.Errorf("--memory %s: %d threads, want %d", c.memory, got, c.want)
		}
	}
}
