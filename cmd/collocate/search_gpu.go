package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// onGPU copies the index to the device if the engine is the GPU.
func (a *app) onGPU(ctx context.Context, s *search.Searcher) error {
	if a.engine != engine.GPU {
		return nil
	}
	return a.bringToGPU(ctx, s)
}

// gpuOptions returns the options for copying the index to the devices.
func (a *app) gpuOptions() search.GPUOptions {
	return search.GPUOptions{Device: a.gpu, Also: a.alsoGPUs(), Progress: a.progress("postings to the GPU"), Log: a.log}
}

// alsoGPUs returns the devices of --more-devices.
func (a *app) alsoGPUs() (also []engine.Device) {
	for _, n := range a.moreDevices {
		also = append(also, engine.Device{Ordinal: n, Memory: a.gpu.Memory})
	}
	return also
}

// checkMoreDevices refuses --more-devices where it has no effect.
func (a *app) checkMoreDevices() error {
	if len(a.moreDevices) > 0 && a.engine != engine.GPU {
		return usagef("--more-devices needs --engine gpu")
	}
	for _, n := range a.moreDevices {
		if n < 0 {
			return usagef("--more-devices %d: want 0 or more", n)
		}
	}
	return nil
}

// registerSharing adds --more-devices, for verbs whose GPUs share something.
func (a *app) registerSharing(cmd *cobra.Command, what string) {
	cmd.Flags().IntSliceVar(&a.moreDevices, "more-devices", nil,
		"with --engine gpu: numbers of further GPUs that share "+what+"; the same one again is another context on it (set --gpu-memory)")
	group(cmd, "Engine", "more-devices")
}

// registerMoreDevices adds --more-devices, for verbs that search on several GPUs.
func (a *app) registerMoreDevices(cmd *cobra.Command) {
	cmd.Flags().IntSliceVar(&a.moreDevices, "more-devices", nil,
		"with --engine gpu: numbers of further GPUs that share topics and partitions, each with a copy of the index; the same one again is another context on it (set --gpu-memory)")
	group(cmd, "Engine", "more-devices")
}

func (a *app) bringToGPU(ctx context.Context, s *search.Searcher) error {
	err := s.OpenGPU(ctx, a.gpuOptions())
	a.endProgress()
	return err
}

// printOpening prints the steps of bringing the index to the device.
func (a *app) printOpening(s *search.Searcher, took time.Duration) {
	var steps []string
	for _, step := range s.GPUOpening() {
		steps = append(steps, fmt.Sprintf("%s %v", step.Name, step.Time.Round(time.Millisecond)))
	}
	if len(steps) > 0 {
		a.summary("on the GPU after %v: %s", took.Round(time.Millisecond), strings.Join(steps, ", "))
	}
}

func printGPU(w io.Writer, g *search.GPUStats) {
	switch {
	case g == nil:
	case g.Fallback != "":
		fmt.Fprintf(w, "answered by the CPU: %s\n", g.Fallback)
	default:
		tiles := ""
		if g.Candidates+g.Rescored > 0 { // algorithm tiles only
			tiles = fmt.Sprintf(" %d candidates, %d scored exactly,", g.Candidates, g.Rescored)
		}
		fmt.Fprintf(w, "on the GPU: %s,%s %v\n", counted(g.Items, "work item"), tiles,
			g.Time.Round(100*time.Nanosecond))
	}
}
