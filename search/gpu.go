package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/query"
)

var errNotOnGPU = errors.New("search: engine gpu: the index is not on a GPU; call OpenGPU first")

// OpenGPU loads the index onto one or several GPUs, where it stays until Close. If the index does
// not fit, the most recently used lists are kept there. From then on requests whose field Parallel
// names [engine.GPU], and batches that do, are answered there, with the same results. Segments that
// an older Searcher has loaded are not loaded again: see Refresh. OpenGPU must not be called while
// others search. Its error wraps [engine.ErrNoGPU] if there is no GPU.
func (s *Searcher) OpenGPU(ctx context.Context, o GPUOptions) (err error) {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.onGPU() {
		return errors.New("search: the index is on a GPU already")
	}
	switch {
	case s.many != nil:
		if err := s.openSegments(ctx, o); err != nil {
			return err
		}
		return s.openVectors(o)
	case s.e == nil:
		return errors.New("search: engine gpu: the index has no documents")
	}
	d, err := eval.TheDevice()
	if err != nil {
		return err
	}
	g, err := d.Open(ctx, s.e, s.keptOf(s.e), o)
	if err == nil {
		s.gpu = g
		g.HandOver(s.insteadOfGPU)
		err = errors.Join(s.releaseKept(), s.openVectors(o))
	}
	return err
}

// forCores is the reason why the cores answer requests of a batch on a GPU.
const forCores = "in batches, query trees, counts and pages are for the cores"

// plainly returns a request whose query is plain words, within a filter or not, with the words as
// its text and the filter apart, as a device needs it. It returns any other request as it is.
func plainly(r Request) Request {
	words := r.Query
	var filter query.Node
	if and, ok := words.(query.And); ok && len(and.Parts) == 2 {
		if f, ok := and.Parts[1].(query.Filter); ok {
			words, filter = and.Parts[0], f
		}
	}
	var parts []query.Node
	mode := Or
	switch n := words.(type) {
	case query.Term: // all of its words are required
		parts, mode = []query.Node{n}, And
	case query.Or:
		parts = n.Parts
	case query.And:
		parts, mode = n.Parts, And
	}
	if len(parts) == 0 || filter != nil && r.Filter != nil {
		return r
	}
	var texts []string
	for _, n := range parts {
		t, ok := n.(query.Term)
		if !ok {
			return r
		}
		texts = append(texts, t.Text)
	}
	if r.Query, r.Text, r.Words, r.Mode = nil, strings.Join(texts, " "), nil, mode; filter != nil {
		r.Filter = filter
	}
	return r
}

// limitAll finds the documents of the filters of requests that a device knows but for these.
// Requests of a batch mostly have the same filter, which is evaluated once.
func (s *Searcher) limitAll(ctx context.Context, requests iter.Seq[Request]) iter.Seq[Request] {
	return func(yield func(Request) bool) {
		var last struct {
			filter query.Node
			from   *Within
			to     *Within
		}
		for r := range requests {
			if limited := plainly(r); limited.Filter != nil {
				if last.to != nil && r.Within == last.from && reflect.DeepEqual(limited.Filter, last.filter) {
					limited.Within, limited.Filter = last.to, nil
				} else if filter := limited.Filter; s.limit(ctx, &limited) == nil { // else Search says why
					last.filter, last.from, last.to = filter, r.Within, limited.Within
				}
				if !limited.IsTree() {
					r = limited
				}
			} else {
				r = limited
			}
			if !yield(r) {
				return
			}
		}
	}
}

// insteadOfGPU answers a request of a batch that a GPU does not know.
func (s *Searcher) insteadOfGPU(ctx context.Context, r Request) (*Result, error) {
	why := forCores
	if s.many != nil {
		why = cmp.Or(notForSegments(&r), why)
	}
	if r.Parallel = nil; r.Algorithm == Tiles {
		r.Algorithm = Auto
	}
	found, err := s.Search(ctx, r)
	if err == nil {
		found.Stats.GPU = &GPUStats{Fallback: why}
	}
	return found, err
}

// keep retains the segments that an older Searcher has on a GPU and that this one also searches.
func (s *Searcher) keep(older *Searcher) {
	have := map[*index.Reader]bool{}
	for _, segment := range s.index.Segments() {
		have[segment.Reader] = true
	}
	groups := older.segments
	if older.gpu != nil {
		groups = []eval.OnDevice{older.gpu}
	}
	for _, g := range groups {
		if k := g.Kept(); k != nil {
			s.kept = append(s.kept, k)
		}
	}
	for _, k := range older.kept {
		s.kept = append(s.kept, k.Another())
	}
	s.kept = slices.DeleteFunc(s.kept, func(k eval.Kept) bool {
		gone := !have[k.Of()]
		if gone {
			k.Release() // the older Searcher still holds it
		}
		return gone
	})
}

// keptOf returns the segment that is kept for an engine's index, or nil.
func (s *Searcher) keptOf(e *eval.Engine) eval.Kept {
	for _, k := range s.kept {
		if k.Of() == e.Index {
			return k
		}
	}
	return nil
}

// releaseKept releases the segments that were kept from an older Searcher.
func (s *Searcher) releaseKept() error {
	var errs []error
	for _, k := range s.kept {
		errs = append(errs, k.Release())
	}
	s.kept = nil
	return errors.Join(errs...)
}

// onGPU reports whether the index is on a GPU.
func (s *Searcher) onGPU() bool { return s.gpu != nil || len(s.segments) > 0 }

// GPUMemory returns the free and the total memory of the GPU that holds the index; 0 and 0 if there
// is none. Memory that other programs use does not count as free.
func (s *Searcher) GPUMemory() (free, total int64, err error) {
	if err := s.begin(oneCall); err != nil {
		return 0, 0, err
	}
	defer s.leave()
	switch {
	case s.gpu != nil:
		return s.gpu.Memory()
	case len(s.segments) > 0: // all segments are on the same devices
		return s.segments[0].Memory()
	}
	return 0, 0, nil
}

// GPUOpening returns the steps of OpenGPU with their times: opening the device, reading the
// dictionary, loading the kernels, copying the postings, and what the device makes of them. The
// first two overlap, and so do kernels, postings and codes. Segments are loaded at the same time:
// each step is given with its longest time in any of them.
func (s *Searcher) GPUOpening() []GPUStage {
	if s.gpu != nil {
		return s.gpu.Opening()
	}
	var all []GPUStage
	for _, g := range s.segments {
		for _, step := range g.Opening() {
			at := slices.IndexFunc(all, func(x GPUStage) bool { return x.Name == step.Name })
			if at < 0 {
				all = append(all, step)
			} else {
				all[at].Time = max(all[at].Time, step.Time)
			}
		}
	}
	return all
}

// ProfileBatchGPU answers requests on the device as one launch, stage by stage, and returns the
// best time of each stage over several runs. If guess is set, the thresholds of the requests are
// guessed beforehand, as in a batch; otherwise they are not, as in the second attempt at requests
// whose guess was wrong.
func (s *Searcher) ProfileBatchGPU(ctx context.Context, requests []Request, runs int,
	guess bool) ([]GPUStage, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if s.gpu == nil {
		return nil, errNotOnGPU // several segments are not supported either
	}
	return s.gpu.Profile(ctx, requests, runs, guess)
}

// closeGPU releases what the Searcher holds on GPUs.
func (s *Searcher) closeGPU() error {
	err := errors.Join(s.releaseKept(), s.closeVectors())
	if s.gpu == nil {
		return errors.Join(err, s.closeSegments())
	}
	err = errors.Join(err, s.gpu.Close())
	s.gpu = nil
	return err
}

// searchGPU answers a request on the device.
func (s *Searcher) searchGPU(ctx context.Context, r Request) (*Result, error) {
	switch {
	case s.gpu != nil:
		return s.gpu.Answer(ctx, r)
	case len(s.segments) > 0:
		return s.searchSegments(ctx, r)
	}
	return nil, errNotOnGPU
}
