package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/topk"
)

// openSegments loads each segment onto the devices that the options name.
func (s *Searcher) openSegments(ctx context.Context, o GPUOptions) (err error) {
	d, err := eval.TheDevice()
	if err != nil {
		return err
	}
	groups, err := d.OpenSegments(ctx, s.many.Parts, s.kept, o)
	if err == nil {
		s.segments = groups
		err = s.releaseKept()
	}
	return err
}

// searchSegments answers a request in all segments on the device at once. Scores use the statistics
// of all segments, so that they are comparable between segments.
func (s *Searcher) searchSegments(ctx context.Context, r Request) (*Result, error) {
	if why := notForSegments(&r); why != "" {
		r.Parallel = nil
		if r.Algorithm == Tiles {
			r.Algorithm = Auto
		}
		found, err := s.many.Search(ctx, &r)
		if err == nil {
			found.Stats.GPU = &GPUStats{Fallback: why}
		}
		return found, err
	}
	var (
		all  *Result
		best topk.Heap
		left int // segments that the cores searched
		why  string
	)
	each, errs := make([]*Result, len(s.segments)), make([]error, len(s.segments))
	var waiting sync.WaitGroup
	for i, g := range s.segments[1:] {
		waiting.Go(func() { each[i+1], errs[i+1] = g.Answer(ctx, r) })
	}
	each[0], errs[0] = s.segments[0].Answer(ctx, r)
	waiting.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	k := r.K
	if k == 0 {
		k = 10
	}
	best.Reset(min(k, max(1, int(s.many.Docs()))))
	for i, found := range each {
		if gpu := found.Stats.GPU; gpu != nil && gpu.Fallback != "" {
			left, why = left+1, gpu.Fallback
		}
		if i == 0 {
			all = found
		} else {
			all.Stats.Add(&found.Stats)
		}
		base := s.index.Segments()[i].Base
		for _, h := range found.Hits {
			best.Add(base+h.Doc, h.Score)
		}
	}
	all.Hits = best.Hits()
	if all.Stats.GPU != nil {
		all.Stats.GPU.Fallback = ""
		if left > 0 {
			all.Stats.GPU.Fallback = fmt.Sprintf("%d of %d segments: %s", left, len(s.segments),
				why)
		}
	}
	return all, nil
}

// notForSegments returns the reason why the cores must answer a request on several segments, or "".
func notForSegments(r *Request) string {
	_, usual := r.Model.(BM25)
	_, impact := r.Model.(Impact) // of an index of weighted tokens; the device knows whether it is
	if r.Model != nil && !usual && !impact {
		return "for several segments, the device supports only bm25"
	}
	if r.Algorithm != Auto && r.Algorithm != Tiles {
		return "the thesis' algorithms on the device support only one segment"
	}
	return ""
}

// closeSegments releases what openSegments loaded.
func (s *Searcher) closeSegments() error {
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.Close())
	}
	s.segments = nil
	return errors.Join(errs...)
}
