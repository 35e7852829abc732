package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search"
)

// onGPU puts the index on the device if the engine is the GPU.
func (a *app) onGPU(ctx context.Context, s *search.Searcher) error {
	if a.engine != engine.GPU {
		return nil
	}
	return a.bringToGPU(ctx, s)
}

func (a *app) bringToGPU(ctx context.Context, s *search.Searcher) error {
	err := s.OpenGPU(ctx, search.GPUOptions{Device: a.gpu, Progress: a.progress("postings to the GPU")})
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

// Under auto, the cores answer the first topics, which tells how long they would take for the others. If that is much longer than it takes
// to bring the index to a GPU, and there is one, the GPU answers them, with the same results. Opening a device takes 0.4 s, the first time
// ever 2 s more; an H200 took 28 million postings and 50 million documents in 1 to 5 s.
const (
	autoProbe   = 1000 // topics
	gpuOpening  = time.Second
	gpuPostings = 20e6 // a second
)

// gpuPays says whether cores that would take so long are slower than bringing so many postings to a GPU. Twice, for it is an estimate.
func gpuPays(cores time.Duration, postings int64) bool {
	return cores.Seconds() > 2*(gpuOpening.Seconds()+float64(postings)/gpuPostings)
}

// realGPU says whether the device that auto would take is there, and no interpreter.
func realGPU(ordinal int) bool {
	devices, err := gpu.Devices()
	return err == nil && ordinal < len(devices) && !devices[ordinal].Emulated
}

// manyTopics answers n requests in order, on the engine that auto chooses.
type manyTopics struct {
	a        *app
	s        *search.Searcher
	n        int
	requests func(from, to int) iter.Seq[search.Request]
	batch    search.Batch
	pays     func(cores time.Duration, postings int64) bool // the GPU
}

// resultsOf is search.MapBatch for all requests.
func resultsOf[T any](ctx context.Context, m *manyTopics, do func(int, *search.Result) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next, elsewhere := 0, time.Duration(0)
		// some answers the next requests up to the n-th. Errors of the device are for the caller, who can try again.
		some := func(n int, b search.Batch) error {
			from := next
			for made, err := range search.MapBatch(ctx, m.s, m.requests(from, n), b, func(i int, r *search.Result) (T, error) { return do(from+i, r) }) {
				if err != nil && b.Engine == engine.GPU && ctx.Err() == nil {
					return err
				}
				start := time.Now()
				more := yield(made, err)
				elsewhere += time.Since(start)
				if next++; !more || err != nil {
					next = m.n
					return nil
				}
			}
			return nil
		}
		start := time.Now()
		some(min(m.n, autoProbe), m.batch)
		left := m.n - next
		cores := (time.Since(start) - elsewhere) / autoProbe * time.Duration(left)
		if left > 0 && m.pays(cores, m.s.Index().Postings()) {
			err := m.a.bringToGPU(ctx, m.s)
			if err == nil {
				m.a.log.Info("the GPU answers", "topics", left)
				err = some(m.n, search.Batch{Threads: m.batch.Threads, Engine: engine.GPU})
			}
			if err != nil {
				m.a.log.Warn("the cores go on without the GPU", "error", err)
			}
		}
		if next < m.n {
			b := m.batch
			b.Engine = engine.Multicore
			some(m.n, b)
		}
	}
}
