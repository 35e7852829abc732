package main

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
)

// The page shows how 'collocate places' reads a server's points: a line that a shell takes.
func TestFlagsOfReadingAreACommandLine(t *testing.T) {
	cmd := &cobra.Command{}
	addFlags(cmd, api.ServedQuestion, &api.Served{})
	if err := cmd.ParseFlags([]string{"--columns", "x,y,kind", "--planar", "--window", "POLYGON ((0 0, 9 0, 9 9))",
		"--layer", "it's", "--time", ""}); err != nil {
		t.Fatal(err)
	}
	got, err := readingFlags(cmd, "points.csv")
	if want := `--time '' --columns x,y,kind --layer 'it'\''s' --planar --window 'POLYGON ((0 0, 9 0, 9 9))'`; got != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
