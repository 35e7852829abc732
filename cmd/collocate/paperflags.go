package main

import (
	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/bytesize"
)

// paperFlags bound the tables of the co-occurrence paper's GPU engine, under the paper's names.
type paperFlags struct {
	sigma, lambda countOrZero
	text          bytesize.Size
	streams, part int
}

func (f *paperFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Var(&f.sigma, "sigma",
		"the paper's method on a GPU: slots of the table of words, a power of two; 0 means 33554432")
	fl.Var(&f.lambda, "lambda", "the paper's method on a GPU: slots of the table of pairs; 0 means 1073741824")
	fl.Var(&f.text, "block-text",
		"the paper's method on a GPU: text that a kernel takes, such as 768MB; 0B means 512MB")
	fl.IntVar(&f.streams, "streams", 2,
		"the paper's method on a GPU: kernels that run at the same time, each on its own text")
	fl.IntVar(&f.part, "table-part", 6,
		"the paper's method on a GPU: a table takes at most this part of the memory; 3, a third, is the paper's")
	group(cmd, "The papers' algorithms", "sigma", "lambda", "block-text", "streams", "table-part")
}

// tables returns the tables of the flags. If the paper's engine is not used, it refuses them.
func (f *paperFlags) tables(cmd *cobra.Command, used bool) (cooccur.PaperTables, error) {
	for _, name := range []string{"sigma", "lambda", "block-text", "streams", "table-part"} {
		if !used && cmd.Flags().Changed(name) {
			return cooccur.PaperTables{}, usagef("--%s needs the paper's method on a GPU", name)
		}
	}
	for name, n := range map[string]countOrZero{"sigma": f.sigma, "lambda": f.lambda} {
		if n != 0 && (n < 1024 || n&(n-1) != 0) {
			return cooccur.PaperTables{}, usagef("--%s %d: want a power of two, at least 1024", name, int64(n))
		}
	}
	if f.streams < 1 || f.streams > 32 {
		return cooccur.PaperTables{}, usagef("--streams %d: want 1 to 32", f.streams)
	}
	if f.text != 0 && f.text < 1024 {
		return cooccur.PaperTables{}, usagef("--block-text %v: want at least 1kB", f.text)
	}
	if f.part < 3 {
		return cooccur.PaperTables{}, usagef("--table-part %d: want at least 3", f.part)
	}
	return cooccur.PaperTables{Words: int(f.sigma), Pairs: int(f.lambda), Text: int64(f.text),
		Streams: f.streams, Part: f.part}, nil
}
