package search

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"slices"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/text"
)

// gpuPays reports whether a GPU should answer requests for which the cores would need the given
// time: if that is more than twice the time to open the device and copy the postings to it, which
// are weighted tokens or words, and the given bytes of vectors. Twice, because both times are
// estimates, and the GPU then still has to answer.
func gpuPays(cores time.Duration, postings, vectors int64, weighted bool) bool {
	speed := gpuPostings
	if weighted {
		speed = gpuWeighted
	}
	loading := float64(postings)/(speed*float64(runtime.GOMAXPROCS(0))) + float64(vectors)/gpuVectors
	return cores.Seconds() > 2*(gpuOpening.Seconds()+loading)
}

// realGPU reports whether the device exists and is not emulated.
func realGPU(ordinal int) bool {
	d, err := eval.TheDevice()
	return err == nil && d.Real(ordinal)
}

// MapAll is MapBatch for requests that are all known in advance, so that [engine.Auto] can choose.
// The cores start. They may need more than twice as long for the remaining requests as loading the
// index onto the GPU that o names takes. If so, and if that GPU exists, the index is loaded as by
// OpenGPU and the GPU answers the rest. The results are the same. If the GPU fails, the cores
// continue, and do may be called twice for a request. Like OpenGPU, MapAll must not run while
// others use the Searcher.
//
// MapAll is the same as MapBatch where there is no choice. That is so if the batch names an engine
// or a schedule, if a request names an algorithm or an engine, or if the index is already on a GPU.
func MapAll[T any](ctx context.Context, s *Searcher, requests []Request, b Batch, o GPUOptions,
	do func(i int, found *Result) (T, error)) iter.Seq2[T, error] {
	pays := func(cores time.Duration, postings int64) bool {
		vectors := int64(0)
		if requests[0].Nearest != nil {
			vectors = 5 * s.vectorBytes() // codes, and up to four bytes a number
		}
		return gpuPays(cores, postings, vectors,
			text.OfWeights(s.analyzer.Name())) && realGPU(o.Device.Ordinal)
	}
	return mapAll(ctx, s, requests, b, o, pays, do)
}

// mapAll is MapAll with a function that decides whether the GPU pays off.
func mapAll[T any](ctx context.Context, s *Searcher, requests []Request, b Batch, o GPUOptions,
	pays func(cores time.Duration, postings int64) bool,
	do func(int, *Result) (T, error)) iter.Seq2[T, error] {
	if s == nil || len(requests) <= autoProbe || s.gpu != nil || s.e == nil || b.Engine != engine.Auto ||
		b.Schedule != Mixed || slices.ContainsFunc(requests, choosesItself) {
		return MapBatch(ctx, s, slices.Values(requests), b, do)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return func(yield func(T, error) bool) {
		if err := s.begin(oneBatch); err != nil {
			yield(*new(T), err)
			return
		}
		defer s.users.leave(oneBatch, s.release)
		next, elsewhere := 0, time.Duration(0)
		// some answers the requests from next up to n. It returns errors of the device, so that the
		// caller can retry on the cores.
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
				o.Log.Info("the GPU answers the remaining requests", "requests", left)
				err = some(len(requests), Batch{Threads: b.Threads, Engine: engine.GPU})
			}
			if err != nil {
				o.Log.Warn("the GPU failed; the cores answer the remaining requests", "error",
					errors.Join(err, s.closeGPU()))
			}
		}
		if next < len(requests) {
			some(len(requests), b)
		}
	}
}

// choosesItself reports whether a request names its algorithm or engine.
func choosesItself(r Request) bool {
	return r.Algorithm != Auto || r.Parallel != nil && r.Parallel.Engine != engine.Auto
}
