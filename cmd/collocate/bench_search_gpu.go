package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/collocate/collocate/bench/searchbench"
	"github.com/collocate/collocate/search"
)

// benchDevice compares batches on a GPU and on the cores, in turn. onCores is the open index that
// the cores search; the GPU gets a Searcher of its own.
func (a *app) benchDevice(ctx context.Context, onCores *search.Searcher, dir string,
	queries []string, o searchbench.Options) error {
	onGPU, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer onGPU.Close()
	if err := a.bringToGPU(ctx, onGPU); err != nil {
		return err
	}
	report := func(r searchbench.DeviceRow) error { return json.NewEncoder(a.stdout).Encode(r) }
	if !a.json {
		fmt.Fprintf(a.stdout, "%29s%19s%19s%19s%19s%18s\n", "", "GPU SearchBatch", "GPU MapBatch",
			"cores SearchBatch", "cores MapBatch", "speedup")
		least := strings.Repeat(fmt.Sprintf("%11s%8s", "ms", "least"), 4)
		fmt.Fprintf(a.stdout, "%-4s %6s %7s %9s%s%9s%9s\n", "mode", "k", "within", "queries", least,
			"Search", "Map")
		report = a.printDeviceRow
	}
	err = searchbench.Device(ctx, onGPU, onCores, queries, o, report)
	if err == nil {
		a.summary("all results of the GPU are equal to those of the cores")
	}
	return err
}

func (a *app) printDeviceRow(r searchbench.DeviceRow) error {
	within := "all"
	if r.Within > 0 {
		within = fmt.Sprintf("%g%%", r.Within)
	}
	fmt.Fprintf(a.stdout, "%-4s %6d %7s %9d", r.Mode, r.K, within, r.Queries)
	for _, t := range []searchbench.Took{r.GPU.Search, r.GPU.Map, r.Cores.Search, r.Cores.Map} {
		fmt.Fprintf(a.stdout, "%11.2f%8.2f", t.Median, t.Min)
	}
	_, err := fmt.Fprintf(a.stdout, "%8.2fx%8.2fx\n", r.Times.Search, r.Times.Map)
	if err == nil && r.OnCores > 0 {
		_, err = fmt.Fprintf(a.stdout, "  %d of these queries were answered on the cores\n", r.OnCores)
	}
	return err
}
