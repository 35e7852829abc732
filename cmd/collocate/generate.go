package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/bytesize"
)

func newGenerateCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "generate",
		Short:   "Generate text, queries, vectors or points as test data",
		GroupID: groupTools,
		Long: `Generate test data of any size. The same flags and seed give the same bytes, whatever the number
of threads.`,
		Example: `  collocate generate text --bytes 100MB -o web.txt
  collocate generate queries --class long --count 500 -o queries.tsv
  collocate generate points --count 65k --clusters 2 -o points.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGenerateTextCmd(a), newGenerateQueriesCmd(a), newGenerateVectorsCmd(a),
		newGeneratePointsCmd(a))
	return cmd
}

// generateOutput holds the flags that all generators share.
type generateOutput struct {
	path string
	seed uint64
}

func (g *generateOutput) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&g.path, "out", "o", "-", "file to write; - is standard output")
	f.Uint64Var(&g.seed, "seed", 0, "seed of the random numbers")
}

// write sends what fill writes to the output, and shows progress towards total bytes (0 if unknown)
// and a summary.
func (g *generateOutput) write(a *app, total int64, fill func(w io.Writer) error) error {
	if g.path == "-" {
		if err := a.rawOutput("generated data have a format of their own; with --out FILE, --json prints a summary"); err != nil {
			return err
		}
	}
	show := a.progress("generating")
	start := time.Now()
	counted := func(w io.Writer) *countingWriter {
		return &countingWriter{w: w, total: total, show: show}
	}
	w := counted(a.stdout)
	var err error
	if g.path == "-" {
		err = fill(w)
	} else {
		err = atomicfile.WriteFile(g.path, func(f *atomicfile.File) error {
			w = counted(f)
			return fill(w)
		})
	}
	if wrong := (*datagen.OptionError)(nil); errors.As(err, &wrong) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	a.log.Info("generated", "bytes", w.n, "seconds", time.Since(start).Seconds(), "seed", g.seed,
		"threads", a.textThreads())
	if a.json {
		return a.printJSON(map[string]any{"file": g.path, "bytes": w.n})
	}
	if g.path != "-" {
		a.summary("%s: %v", g.path, bytesize.Size(w.n))
	}
	return nil
}

type countingWriter struct {
	w        io.Writer
	n, total int64
	show     func(done, total int64)
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if c.show != nil {
		c.show(c.n, c.total)
	}
	return n, err
}

// countFlag is a number of items or bytes with an optional unit: 65k, 50M, 100MB.
type countFlag int64

func (c *countFlag) String() string { return strconv.FormatInt(int64(*c), 10) }
func (c *countFlag) Type() string   { return "number" }

func (c *countFlag) Set(text string) error {
	n, err := bytesize.Parse(text)
	if err != nil {
		return fmt.Errorf("%q: want a number with an optional unit, such as 500, 65k or 50M", text)
	}
	if n == 0 {
		return errors.New("want at least 1")
	}
	*c = countFlag(n)
	return nil
}

// countOrZero is a countFlag that also accepts 0.
type countOrZero int64

func (c *countOrZero) String() string { return strconv.FormatInt(int64(*c), 10) }
func (c *countOrZero) Type() string   { return "number" }

func (c *countOrZero) Set(text string) error {
	if strings.TrimSpace(text) == "0" {
		*c = 0
		return nil
	}
	return (*countFlag)(c).Set(text)
}
