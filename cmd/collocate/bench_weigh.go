package main

import (
	"context"
	"fmt"

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
	)
	cmd := &cobra.Command{
		Use:         "weigh",
		Short:       "The papers' figures of term weighting again: all methods on texts of several sizes",
		Annotations: hasGPU,
		Long: `Make texts as the papers do, weigh every word of every document by each method,
from memory to memory, and print a page of tables: time by size of the text, and with
--engine gpu where the time goes on the device. On the GPU are MRM (with --slow), PP, PPD, PPD as it
was published, and our own way; on the CPU our own and MRP (with --slow).`,
		Example: `  collocate bench weigh --engine gpu --out figures
  collocate bench weigh --sizes 10MB,20MB --rounds 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o := weighbench.Options{Threads: a.threads, Rounds: rounds, Slow: slow, Memory: int64(a.memory)}
			for _, s := range sizes {
				n, err := bytesize.Parse(s)
				if err != nil || n < 1 {
					return usagef("--sizes %s: want sizes such as 100MB", s)
				}
				o.Sizes = append(o.Sizes, int64(n))
			}
			if rounds < 1 || len(o.Sizes) == 0 {
				return usagef("--rounds %d, %d sizes: want at least one of each", rounds, len(o.Sizes))
			}
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
	f.StringSliceVar(&sizes, "sizes", []string{"100MB", "200MB", "300MB", "400MB", "500MB"}, "sizes of the texts")
	f.IntVar(&rounds, "rounds", 3, "how often each method runs; the best time counts")
	f.BoolVar(&slow, "slow", false, "MapReduce too, which the papers compare with")
	f.StringVar(&vocab, "vocab", "",
		"draw words by the counts of this vocabulary, as 'collocate vocab' writes it, instead of the papers' law")
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

// benchDictsGPU is dict bench on a device.
func (a *app) benchDictsGPU(ctx context.Context, o weighbench.DictOptions, out string) error {
	o.Log = func(format string, args ...any) { a.summary(format, args...) }
	return a.withGPU(func(dev *gpu.Device) error {
		return a.printReport(out, func() (*report.Report, error) { return weighbench.RunDict(ctx, dev, o) })
	})
}
