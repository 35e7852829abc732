// Package worker answers the question: what does a program that started us want done?
//
// It is the other end of the Python package: the calls that arrive over package pipe, one file for
// each kind of job. Parameters of a call are named like the flags of the command; lists are passed
// as arrays. Nothing is computed here.
package worker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"sync"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
)

// Worker holds what is kept between calls: the open indexes, and word vectors.
type Worker struct {
	version string

	mu      sync.Mutex
	open    map[int]*opened
	vectors map[int]*vectors.Vectors
	last    int
}

// opened is an open index. A search holds a read lock, so that the index is not closed meanwhile.
type opened struct {
	sync.RWMutex
	s    *search.Searcher
	view *bucket.View // of an index in a bucket, or nil
}

// New returns a worker without indexes. version is what it reports as its own.
func New(version string) *Worker {
	return &Worker{version: version, open: map[int]*opened{}, vectors: map[int]*vectors.Vectors{}}
}

// Serve answers calls until the other end of the control socket is closed.
func (w *Worker) Serve(ctx context.Context, descriptor int) error {
	err := pipe.Serve(ctx, descriptor, w.answer, kindOf)
	if errors.Is(err, pipe.ErrBusy) {
		return err // a search may still be reading an index
	}
	for _, o := range w.open {
		err = errors.Join(err, o.close())
	}
	return err
}

// call answers a call.
type call func(*Worker, context.Context, *pipe.Call) (pipe.Reply, error)

// calls has the methods by the names of calls. Those about words are added by their declarations.
var calls = map[string]call{
	"hello":    (*Worker).hello,
	"build":    (*Worker).build,
	"add":      (*Worker).add,
	"delete":   (*Worker).delete,
	"merge":    (*Worker).merge,
	"compact":  (*Worker).compact,
	"export":   (*Worker).export,
	"open":     (*Worker).openIndex,
	"close":    (*Worker).closeIndex,
	"search":   (*Worker).search,
	"ids":      (*Worker).ids,
	"find":     (*Worker).find,
	"texts":    (*Worker).texts,
	"stored":   (*Worker).stored,
	"snippets": (*Worker).snippets,
	"explain":  (*Worker).explain,
	"evaluate": (*Worker).evaluate,
	"compare":  (*Worker).compare,
	"fuse":     (*Worker).fuse,
	"tune":     (*Worker).tune,

	"matrix words": (*Worker).matrixWords,
	"matrix":       (*Worker).matrix,
	"count":        (*Worker).count,

	"embed":        (*Worker).embed,
	"keep vectors": (*Worker).keepVectors,
	"drop vectors": (*Worker).dropVectors,
	"vectors of":   (*Worker).vectorsOf,

	"mine":    (*Worker).mine,
	"pairs":   aboutPlaces(api.PairsQuestion, asItIs),
	"curve":   aboutPlaces(api.CurveQuestion, curveArrays),
	"summary": aboutPlaces(api.SummaryQuestion, asItIs),

	"co-occurrence": aboutPlaces(api.CoOccurrenceQuestion, ratios),
	"enrichment":    (*Worker).enrichment,
}

// answer implements pipe.Handler.
func (w *Worker) answer(ctx context.Context, c *pipe.Call) (reply pipe.Reply, err error) {
	do, ok := calls[c.Do]
	if !ok {
		return reply, pipe.Valuef("unknown call %q", c.Do)
	}
	err = mmap.Safely(func() (err error) {
		reply, err = do(w, ctx, c)
		return err
	})
	return reply, err
}

// atLeast checks a parameter that has a lower bound.
func atLeast(name string, value, low int) error {
	if value < low {
		return pipe.Valuef("%s=%d: want at least %d", name, value, low)
	}
	return nil
}

// within checks a parameter that has two bounds.
func within(name string, value, low, high int) error {
	if value < low || value > high {
		return pipe.Valuef("%s=%d: want %d to %d", name, value, low, high)
	}
	return nil
}

// resources checks the number of threads and the bound on memory of a call.
func resources(threads int, memory int64) error {
	const least = 1 << 16 // smaller ones are likely not meant as bytes
	if memory < 0 || memory > 0 && memory < least {
		return pipe.Valuef("memory=%d: want bytes, at least %d, or 0 for 2 GB", memory, least)
	}
	return atLeast("threads", threads, 0)
}

// kindOf says which exception an error becomes.
func kindOf(err error) string {
	var value pipe.ValueError
	var param *api.Error
	var repeated *index.DuplicateIDError
	switch {
	case errors.Is(err, engine.ErrNoGPU):
		return "gpu"
	case errors.As(err, &value), errors.As(err, &param), errors.As(err, &repeated), errors.Is(err, search.ErrRequest):
		return "value"
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	}
	return ""
}

func (w *Worker) hello(context.Context, *pipe.Call) (pipe.Reply, error) {
	return pipe.Reply{Result: map[string]any{
		"version": w.version, "pid": os.Getpid(), "threads": runtime.GOMAXPROCS(0),
	}}, nil
}
