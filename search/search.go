package search

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/device"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/tree"
)

// Searcher answers queries on one index. Several goroutines may use it at once.
type Searcher struct {
	e   *eval.Engine
	own bool          // Close closes the index
	gpu *device.Group // the index on devices, if it is on any

	snippets sync.Pool // of *snippetMaker
	closed   atomic.Bool
}

var errClosed = errors.New("search: the searcher is closed")

// Open opens the index in a folder for searching.
func Open(dir string) (*Searcher, error) {
	r, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := New(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// New searches an open index. Closing the Searcher does not close it.
func New(r *index.Reader) (*Searcher, error) {
	e, err := eval.NewEngine(r)
	if err != nil {
		return nil, err
	}
	return &Searcher{e: e}, nil
}

// Close releases what Open opened. Calls that come afterwards get an error; calls that are under
// way must have ended before.
func (s *Searcher) Close() error {
	s.closed.Store(true)
	err := s.closeGPU()
	if s.own {
		err = errors.Join(err, s.e.Index.Close())
	}
	return err
}

// Index is the index that is searched. After Close of a Searcher that Open made it must not be
// used.
func (s *Searcher) Index() *index.Reader { return s.e.Index }

// Search answers a request.
func (s *Searcher) Search(ctx context.Context, r Request) (found *Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if s.closed.Load() {
		return nil, errClosed
	}
	if r.IsTree() {
		found, err := tree.Search(ctx, s.e, &r)
		if err == nil && ask.WantsGPU(r.Parallel) {
			found.Stats.GPU = &GPUStats{Fallback: "a tree, a count or a page is for the cores"}
		}
		return found, err
	}
	if ask.WantsGPU(r.Parallel) {
		return s.searchGPU(ctx, r)
	}
	return s.e.Search(ctx, &r)
}

// ID is the external ID of a document.
func (s *Searcher) ID(doc uint32) (string, error) {
	if s.closed.Load() {
		return "", errClosed
	}
	return s.e.Index.DocID(int(doc))
}
