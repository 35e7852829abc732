package main

import (
	"context"
	"fmt"
	"io"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// onGPU puts the index on the device if the engine is the GPU.
func (a *app) onGPU(ctx context.Context, s *search.Searcher) error {
	if a.engine != engine.GPU {
		return nil
	}
	return a.bringToGPU(ctx, s)
}

// gpuOptions say how the index is brought to the device.
func (a *app) gpuOptions() search.GPUOptions {
	return search.GPUOptions{Device: a.gpu, Progress: a.progress("postings to the GPU"), Log: a.log}
}

func (a *app) bringToGPU(ctx context.Context, s *search.Searcher) error {
	err := s.OpenGPU(ctx, a.gpuOptions())
	a.endProgress()
	return err
}

func printGPU(w io.Writer, g *search.GPUStats) {
	switch {
	case g == nil:
	case g.Fallback != "":
		fmt.Fprintf(w, "answered by the CPU: %s\n", g.Fallback)
	default:
		fmt.Fprintf(w, "on the GPU: %d items of work, %d candidates, %d scored exactly, %.1f us\n", g.Items, g.Candidates, g.Rescored,
			float64(g.Time.Nanoseconds())/1e3)
	}
}
