package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/papersbench"
	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/coloc"
)

func newBenchPapersCmd(a *app) *cobra.Command {
	var o papersbench.Options
	var out string
	var again bool
	cmd := &cobra.Command{
		Use:         "papers",
		Short:       "Reproduce every table and figure of the five papers, on one page",
		Annotations: hasGPU,
		Long: `Run the benchmarks of all four jobs, and list every table and figure of the five papers that
Collocate began with: its number, the paper's value, ours, both machines, how the settings
differ, and whether the values can be compared. All measurements follow, with plots, and the
energy of all jobs as bench energy measures it.

With a GPU it takes about an hour. --engine multicore leaves the GPU out and uses less data.
--quick takes two or three minutes on two cores.

With --out, every result is kept in the subfolder pieces as soon as it is measured. A run that was
stopped goes on where it was when the command is given again; delete a file there to measure it
again. --only measures some jobs, or parts of them by the names of their files: places.5, or
dict.xbw.10000000. Parts may be of several machines with as many threads: then the page says which
was measured where. The folder has the page as index.html and README.md, a CSV file per table and an
SVG file per plot.`,
		Args: cobra.NoArgs,
		Example: `  collocate bench papers --out papers
  collocate bench papers --only weigh,dict,places.5 --out papers
  collocate bench papers --quick --engine multicore --out papers`,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			for _, name := range o.Only {
				if !papersbench.IsPart(name) {
					return usagef("--only %s: want some of %s", name, strings.Join(papersbench.Jobs, ","))
				}
				if out == "" && !slices.Contains(papersbench.Jobs, name) {
					return usagef("--only %s: parts of jobs need --out", name)
				}
			}
			if again {
				if out == "" {
					return usagef("--again needs --out with the folder of an earlier run")
				}
				return a.papersAgain(out)
			}
			o.Threads, o.Memory = a.threads, int64(a.memory)
			o.Say = func(format string, args ...any) { a.summary(format, args...) }
			if o.Device, err = a.gpuIfAny(); err != nil {
				return err
			}
			if o.Device != nil {
				defer func() { err = errors.Join(err, o.Device.Close()) }()
				if o.Places, err = coloc.OpenGPU(a.gpu); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, o.Places.Close()) }()
			}
			if out != "" {
				o.Pieces = filepath.Join(out, "pieces")
			}
			var r *report.Report
			err = a.printReport(out, func() (_ *report.Report, err error) {
				r, err = papersbench.Run(cmd.Context(), o)
				return r, err
			})
			if err == nil && out != "" {
				err = r.WriteHTML(out)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&again, "again", false, "measure nothing: make the page again from the parts in --out, which may be of another machine")
	f.BoolVar(&o.Quick, "quick", false, "use small data: two or three minutes on two cores")
	f.StringSliceVar(&o.Only, "only", nil,
		"measure these jobs only, or parts of them such as places.5: "+strings.Join(papersbench.Jobs, ", "))
	f.StringVar(&o.Dir, "scratch", "", "folder for temporary data, about 6 GB, or little with --quick (default the system's temporary folder)")
	f.StringVarP(&out, "out", "o", "",
		"folder for the page with CSV files and plots (default: the page on standard output)")
	return cmd
}

// papersAgain writes the page of the parts that were kept in a folder.
func (a *app) papersAgain(out string) error {
	r, err := papersbench.Page(filepath.Join(out, "pieces"))
	if err != nil {
		return err
	}
	return errors.Join(a.printReport(out, func() (*report.Report, error) { return r, nil }), r.WriteHTML(out))
}
