package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/bench/gpubench"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/internal/gpu/driver"
)

func newGPUCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:         "gpu",
		Short:       "List the GPUs, test that they work, and measure their speed",
		GroupID:     groupTools,
		Annotations: hasGPU,
		Long: `List the NVIDIA GPUs of this machine, compare the primitives on one of them (--device) with the
CPU, and measure copies, scans and sorts. Only the display driver is needed (520 or later), no
CUDA toolkit. If no GPU can be used, the reason is printed, and all other commands use the CPU.

With COLLOCATE_GPU=emulator in the environment, a slow interpreter of the same
kernels stands in for a GPU.`,
		Args: cobra.NoArgs,
		Example: `  collocate gpu
  collocate gpu --device 1 --json
  collocate gpu test --receipt h200.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.runGPU(cmd, a.gpu.Ordinal) },
	}
	cmd.AddCommand(newGPUTestCmd(a))
	return cmd
}

// gpuReport is what `collocate gpu --json` prints.
type gpuReport struct {
	Available bool           `json:"available"`
	Reason    string         `json:"reason,omitempty"`
	Devices   []gpu.Info     `json:"devices,omitempty"`
	Works     bool           `json:"works"`
	Trouble   string         `json:"trouble,omitempty"`
	Results   []check.Result `json:"results,omitempty"`
	Benches   []check.Bench  `json:"benches,omitempty"`
}

func (a *app) runGPU(cmd *cobra.Command, device int) error {
	var r gpuReport
	list, err := gpu.Devices()
	if err != nil {
		r.Reason = err.Error()
	} else {
		r.Available, r.Devices = true, list
		if err := r.try(cmd, device); err != nil {
			if cmd.Context().Err() != nil {
				return err
			}
			r.Trouble = err.Error()
		}
	}
	if a.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		r.print(a.stdout, device)
	}
	if r.Trouble != "" { // unlike a machine without a GPU, one that does not work is an error
		return fmt.Errorf("device %d does not work: %s", device, r.Trouble)
	}
	return nil
}

// Input sizes for measuring primitives.
const (
	quickItems    = 1 << 26 // collocate gpu: keeps a whole device busy for about a second
	testItems     = 1 << 28 // collocate gpu test
	emulatedItems = 1 << 12 // either, in the interpreter
)

func (r *gpuReport) try(cmd *cobra.Command, device int) (err error) {
	dev, err := gpu.Open(device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	items, sizes := quickItems, []int{1, 1000, 100_000}
	if dev.Info().Emulated {
		items, sizes = emulatedItems, []int{1, 1000}
	}
	if r.Results, err = check.Conform(cmd.Context(), dev, check.Primitives, sizes); err != nil {
		return err
	}
	if bad := (&check.Receipt{Results: r.Results}).Failed(); len(bad) > 0 {
		return fmt.Errorf("wrong results: %v", bad)
	}
	r.Works = true
	r.Benches, err = check.Measure(cmd.Context(), dev, items)
	return err
}

func (r *gpuReport) print(w io.Writer, device int) {
	if !r.Available {
		fmt.Fprintf(w, "%s; the CPU is used\n", r.Reason)
		return
	}
	for _, d := range r.Devices {
		fmt.Fprintf(w, "%d  %s, %v, compute capability %d.%d, %d multiprocessors, driver %s", d.Ordinal, d.Name,
			bytesize.Size(d.Memory), d.Major, d.Minor, d.Multiprocessors, d.Driver)
		if d.PCI != "" {
			fmt.Fprintf(w, ", at %s", d.PCI)
		}
		fmt.Fprintln(w)
	}
	if !r.Works {
		return
	}
	fmt.Fprintf(w, "\nresults of device %d are equal to the CPU's (%d suites)\n", device, len(r.Results))
	printBenches(w, r.Benches)
}

func printBenches(w io.Writer, list []check.Bench) {
	for _, b := range list {
		fmt.Fprintf(w, "  %-40s %s", b.Name, b.Rate())
		if b.Fraction > 0 {
			fmt.Fprintf(w, "  %3.0f%% of a copy", b.Fraction*100)
		}
		if b.Recall > 0 {
			fmt.Fprintf(w, "  recall %.3f", b.Recall)
		}
		if b.Joules > 0 {
			fmt.Fprintf(w, "  %.3g J", b.Joules)
		}
		if b.Met != nil && !*b.Met {
			fmt.Fprintf(w, "  (wanted: %s)", b.Wanted)
		}
		fmt.Fprintln(w)
	}
}

// gpuTestFlags are the flags of gpu test.
type gpuTestFlags struct {
	receipt, only            string
	items                    int
	quick, noBench, noFaults bool
}

func newGPUTestCmd(a *app) *cobra.Command {
	var f gpuTestFlags
	cmd := &cobra.Command{
		Use:   "test",
		Short: "Compare all kernels on a GPU with the CPU, measure them, and write a receipt",
		Long: `Run every primitive and every job on the GPU and compare the results with the CPU's, provoke
faults and check how they are reported, and measure the speed of all of it. The receipt is a JSON
file of the results, with checksums of the kernels, the device and the driver. A test of the
source tree fails for kernels without a receipt.`,
		Annotations: hasGPU,
		Args:        cobra.NoArgs,
		Example: `  collocate gpu test
  collocate gpu test --receipt internal/gpu/receipts/h200.json
  collocate gpu test --no-faults --only 'several GPUs'
  COLLOCATE_GPU=emulator collocate gpu test --quick --no-bench --only sort`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.testGPU(cmd.Context(), &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.receipt, "receipt", "", "write the receipt to this file")
	fl.IntVar(&f.items, "items", 0, fmt.Sprintf(
		"number of items to measure with; 0 means %d, or %d in the interpreter", testItems, emulatedItems))
	fl.StringVar(&f.only, "only", "", "compare only suites whose names match this regular expression, such as sort, and measure only their jobs")
	fl.BoolVar(&f.quick, "quick", false, "compare small inputs only")
	fl.BoolVar(&f.noBench, "no-bench", false, "do not measure speed")
	fl.BoolVar(&f.noFaults, "no-faults", false, "do not provoke faults, which memory checkers such as compute-sanitizer would report")
	return cmd
}

func (a *app) testGPU(ctx context.Context, f *gpuTestFlags) (err error) {
	if f.items != 0 && f.items < 1<<10 {
		return usagef("--items %d: want at least 1024", f.items)
	}
	only, err := regexp.Compile(f.only)
	if err != nil {
		return usagef("--only: %v", err)
	}
	some := func(list []check.Suite) []check.Suite {
		return slices.DeleteFunc(slices.Clone(list), func(s check.Suite) bool { return !only.MatchString(s.Name) })
	}
	suites := some(check.Primitives)
	primitives := len(suites) > 0
	var jobs []gpubench.Job // to measure
	for _, job := range gpubench.Jobs() {
		if list := some(job.Suites); len(list) > 0 || f.only == "" {
			suites, jobs = append(suites, list...), append(jobs, job)
		}
	}
	if len(suites) == 0 {
		return usagef("--only %q: no suite matches", f.only)
	}
	if err := canWrite(f.receipt); err != nil {
		return fmt.Errorf("write the receipt: %w", err)
	}
	dev, err := gpu.Open(a.gpu.Ordinal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	r, err := check.NewReceipt(dev)
	if err != nil {
		return err
	}
	r.Only = f.only
	sizes := []int{0, 1, 31, 4096, 4097, 100_003, 3_000_001}
	if f.quick || dev.Info().Emulated {
		sizes = []int{0, 1, 31, 4097}
	}
	if r.Results, err = check.Conform(ctx, dev, suites, sizes); err != nil {
		return err
	}
	if !f.noBench {
		if primitives {
			if r.Benches, err = check.Measure(ctx, dev, f.itemsOn(dev.Info())); err != nil {
				return err
			}
		}
		for _, job := range jobs {
			more, err := job.Measure(ctx, dev, f.quick || dev.Info().Emulated)
			r.Benches = append(r.Benches, more...)
			if err != nil {
				return fmt.Errorf("measure %s: %w", job.Name, err)
			}
		}
	}
	if !f.noFaults {
		r.Results = append(r.Results, check.Faults(ctx, dev)...)
	}
	return a.finishGPUTest(r, f.receipt)
}

// itemsOn returns the input size for measuring a device.
func (f *gpuTestFlags) itemsOn(d driver.Info) int {
	switch {
	case f.items != 0:
		return f.items
	case d.Emulated:
		return emulatedItems
	}
	return testItems
}

func (a *app) finishGPUTest(r *check.Receipt, path string) error {
	text, err := r.JSON()
	if err != nil {
		return err
	}
	if path != "" {
		if err := atomicfile.WriteFile(path, func(f *atomicfile.File) error {
			_, err := f.Write(text)
			return err
		}); err != nil {
			return fmt.Errorf("write the receipt: %w", err)
		}
	}
	if a.json {
		if _, err := a.stdout.Write(text); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.stdout, "%s, driver %s\n", r.Device.Name, r.Device.Driver)
		for _, x := range r.Results {
			verdict := "equal"
			if x.Error != "" {
				verdict = x.Error
			}
			fmt.Fprintf(a.stdout, "  %-40s %3d cases: %s\n", x.Name, x.Cases, verdict)
		}
		printBenches(a.stdout, r.Benches)
	}
	if bad := r.Failed(); len(bad) > 0 {
		return fmt.Errorf("%d of %d comparisons failed: %s", len(bad), len(r.Results), bad[0])
	}
	return nil
}
