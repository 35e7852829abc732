package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/bench/weighbench"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
)

func newBenchWeighCmd(a *app) *cobra.Command {
	var (
		sizes  []string
		rounds int
		slow   bool
		out    string
		vocab  string
		words  = countOrZero(10_000_000)
	)
	cmd := &cobra.Command{
		Use:         "weigh",
		Short:       "Reproduce the papers' figures on term weighting: all methods, by size of the text",
		Annotations: hasGPU,
		Long: `Generate texts as the papers do, compute the weight of every word in every document by each
method, from memory to memory, and print a page of tables: time by size of the text and, with
--engine gpu, by step on the device. Methods on the GPU are MRM (MapReduce, with --slow), PP
(primitives), PPD (with a dictionary), PPD as published, and our own; on the CPU our own and, with
--slow, MRP (MapReduce). PPD's dictionary has the most frequent words (--dict-words); the words of
a text that it lacks are numbered after these, so that all methods give the same weights.`,
		Example: `  collocate bench weigh --engine gpu --out figures
  collocate bench weigh --sizes 10MB,20MB --rounds 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o := weighbench.Options{Threads: a.threads, Rounds: rounds, Slow: slow, Memory: int64(a.memory)}
			for _, s := range sizes {
				n, err := bytesize.Parse(s)
				if err != nil || n < 1 {
					return usagef("--sizes %s: want sizes such as 100MiB", s)
				}
				o.Sizes = append(o.Sizes, int64(n))
			}
			if rounds < 1 || len(o.Sizes) == 0 {
				return usagef("--rounds %d, --sizes %s: want at least one round and one size",
					rounds, strings.Join(sizes, ","))
			}
			o.DictWords = int(words)
			if vocab != "" {
				var err error
				if o.Frequencies, err = frequencies([]string{vocab}); err != nil {
					return err
				}
				if o.Frequencies.Len() == 0 {
					return fmt.Errorf("%s: no words: want lines of a word, a blank and its count", vocab)
				}
			}
			o.Log = func(format string, args ...any) { a.summary(format, args...) }
			return a.withGPU(func(dev *gpu.Device) error {
				o.Device = dev
				return a.printReport(out, func() (*report.Report, error) { return weighbench.Run(cmd.Context(), o) })
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&sizes, "sizes", []string{"100MiB", "200MiB", "300MiB", "400MiB", "500MiB"}, "sizes of the texts to generate")
	f.IntVar(&rounds, "rounds", 3, "number of runs of each method; the shortest time counts")
	f.BoolVar(&slow, "slow", false, "also measure MapReduce, the papers' baseline")
	f.Var(&words, "dict-words",
		"words of PPD's dictionary, the most frequent ones, as the papers build it beforehand; 0: exactly those of the text")
	f.StringVar(&vocab, "vocab", "",
		"draw words with the frequencies in this file of 'collocate vocab', instead of by the papers' law")
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

// benchDictsGPU runs 'dict bench --engine gpu'.
func (a *app) benchDictsGPU(ctx context.Context, o weighbench.DictOptions, out string) error {
	o.Log = func(format string, args ...any) { a.summary(format, args...) }
	return a.withGPU(func(dev *gpu.Device) error {
		return a.printReport(out, func() (*report.Report, error) { return weighbench.RunDict(ctx, dev, o) })
	})
}
