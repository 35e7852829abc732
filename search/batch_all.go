package search

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
)

// The cores answer the first requests, which tells how long they would take for the others. Opening
// a device takes 0.4 s, the first time ever 2 s more; an H200 took 28 million postings and 50
// million documents in 1 to 5 s.
const (
	autoProbe   = 1000 // requests
	gpuOpening  = time.Second
	gpuPostings = 20e6 // a second
)

// gpuPays says whether cores that would take so long are slower than bringing the given number of
// postings to a GPU. Twice, for it is an estimate.
func gpuPays(cores time.Duration, postings int64) bool {
	return cores.Seconds() > 2*(gpuOpening.Seconds()+float64(postings)/gpuPostings)
}

// realGPU says whether a device is there, and no interpreter.
func realGPU(ordinal int) bool {
	devices, err := gpu.Devices()
	return err == nil && ordinal < len(devices) && !devices[ordinal].Emulated
}

// MapAll is MapBatch for requests that are all there, so that [engine.Auto] has a choice: the cores
// begin, and if at their pace all that is left takes more than twice as long as to bring the index
// to the GPU that o names, and there is one, it is brought there, as by OpenGPU, and the GPU goes
// on. The results are the same. If it fails, the cores go on, and do may be called for a request
// once more. As OpenGPU, this is not for a Searcher that others use at the same time.
//
// Where there is nothing to choose MapAll is MapBatch: if the batch names an engine or a schedule,
// a request an algorithm or an engine, or the index is on a GPU.
func MapAll[T any](ctx context.Context, s *Searcher, requests []Request, b Batch, o GPUOptions,
	do func(i int, found *Result) (T, error)) iter.Seq2[T, error] {
	pays := func(cores time.Duration, postings int64) bool {
		return gpuPays(cores, postings) && realGPU(o.Device.Ordinal)
	}
	return mapAll(ctx, s, requests, b, o, pays, do)
}

// mapAll is MapAll with a function that says whether the GPU pays.
func mapAll[T any](ctx context.Context, s *Searcher, requests []Request, b Batch, o GPUOptions,
	pays func(cores time.Duration, postings int64) bool,
	do func(int, *Result) (T, error)) iter.Seq2[T, error] {
	if len(requests) <= autoProbe || s.gpu != nil || s.e == nil || b.Engine != engine.Auto ||
		b.Schedule != Mixed || slices.ContainsFunc(requests, choosesItself) {
		return MapBatch(ctx, s, slices.Values(requests), b, do)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return func(yield func(T, error) bool) {
		next, elsewhere := 0, time.Duration(0)
		// some answers the next requests up to the n-th. Errors of the device are for the caller,
		// who can try again.
		some := func(n int, b Batch) error {
			from := next
			for made, err := range MapBatch(ctx, s, slices.Values(requests[from:n]), b,
				func(i int, found *Result) (T, error) { return do(from+i, found) }) {
				if err != nil && b.Engine == engine.GPU && ctx.Err() == nil {
					return err
				}
				start := time.Now()
				more := yield(made, err)
				elsewhere += time.Since(start)
				if next++; !more || err != nil {
					next = len(requests)
					return nil
				}
			}
			return nil
		}
		start := time.Now()
		some(autoProbe, b)
		left := len(requests) - next
		cores := (time.Since(start) - elsewhere) / autoProbe * time.Duration(left)
		if left > 0 && pays(cores, s.index.Postings()) {
			err := s.OpenGPU(ctx, o)
			if err == nil {
				o.Log.Info("the GPU answers", "requests", left)
				err = some(len(requests), Batch{Threads: b.Threads, Engine: engine.GPU})
			}
			if err != nil {
				o.Log.Warn("the cores go on without the GPU", "error", errors.Join(err, s.closeGPU()))
			}
		}
		if next < len(requests) {
			some(len(requests), b)
		}
	}
}

// choosesItself says whether a request names how it wants to be answered.
func choosesItself(r Request) bool {
	return r.Algorithm != Auto || r.Parallel != nil && r.Parallel.Engine != engine.Auto
}
