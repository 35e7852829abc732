package search

import (
	"cmp"
	"context"
	"errors"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/search/internal/nearest"
)

// openVectors makes the vectors of the index searchable on the device. They are brought there when
// a request first wants them, since most words are searched without.
func (s *Searcher) openVectors(o GPUOptions) error {
	if schema := s.index.Schema(); s.vectors != nil || schema == nil || len(schema.Of(fields.Vector)) == 0 {
		return nil
	}
	d, err := nearest.TheDevice()
	if err == nil {
		s.vectors, err = d.Open(o)
	}
	return err
}

// keepVectors retains the vectors that an older Searcher has on a GPU and that this one also
// searches.
func (s *Searcher) keepVectors(older *Searcher) {
	if older.vectors == nil {
		return
	}
	var columns []*dense.Column
	for _, segment := range s.index.Segments() {
		schema := s.index.Schema()
		for _, at := range schema.Of(fields.Vector) {
			if c, err := segment.Vectors(schema.Fields[at].Name); err == nil && c != nil {
				columns = append(columns, c)
			}
		}
	}
	s.vectors = older.vectors.Another(columns)
}

// closeVectors releases the vectors on a GPU.
func (s *Searcher) closeVectors() (err error) {
	if s.vectors != nil {
		err = s.vectors.Close()
	}
	s.vectors = nil
	return err
}

// vectorsOnGPU reports whether a batch with vectors is for the GPU.
func (s *Searcher) vectorsOnGPU(kind engine.Kind) bool {
	return kind == engine.GPU || kind == engine.Auto && s.vectors != nil && s.vectorBytes() >= leastOnGPU
}

// vectorBytes returns the bytes of codes of the largest field of vectors.
func (s *Searcher) vectorBytes() (most int64) {
	schema := s.index.Schema()
	if schema == nil {
		return 0
	}
	for _, at := range schema.Of(fields.Vector) {
		most = max(most, int64(s.index.Docs())*int64(dense.Stride(schema.Fields[at].Dim)))
	}
	return most
}

// nearestOf is nearest.Search on the device, if that is wanted, and on the cores what it leaves.
// Without a device there are no reports.
func (s *Searcher) nearestOf(ctx context.Context, onGPU bool, parts []nearest.Part, queries []*nearest.Query,
	wants []nearest.Want, threads int) ([]nearest.List, []nearest.Report, error) {
	if !onGPU {
		lists, err := nearest.Search(ctx, parts, queries, wants, threads)
		return lists, nil, err
	}
	lists, reports := make([]nearest.List, len(queries)), make([]nearest.Report, len(queries))
	err := errNotOnGPU
	if s.onGPU() && s.vectors != nil {
		var found []nearest.List
		var how []nearest.Report
		if found, how, err = s.vectors.Search(ctx, parts, queries, wants); err == nil {
			lists, reports = found, how
		}
	}
	if err != nil {
		if stopped := ctx.Err(); stopped != nil {
			return nil, nil, stopped
		}
		why := "the device failed: " + err.Error()
		if errors.Is(err, errNotOnGPU) {
			why = "the index is not on a GPU"
		}
		for i := range reports {
			reports[i].Why = why
		}
	}
	var left []*nearest.Query
	var want []nearest.Want
	for i := range reports {
		if reports[i].Why != "" {
			left, want = append(left, queries[i]), append(want, wants[i])
		}
	}
	onCores, err := nearest.Search(ctx, parts, left, want, threads)
	if err != nil {
		return nil, nil, err
	}
	for i := range reports {
		if reports[i].Why != "" {
			lists[i], onCores = onCores[0], onCores[1:]
		}
	}
	return lists, reports, nil
}

// report adds what a device did for a request.
func (m *meaning) report(r nearest.Report) {
	m.gpu.Candidates += r.Candidates
	m.gpu.Rescored += r.Summed
	m.gpu.Fallback = cmp.Or(m.gpu.Fallback, r.Why)
}
