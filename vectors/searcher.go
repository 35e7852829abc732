package vectors

import (
	"context"
	"errors"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
)

// Searcher compares many words with all others, on CPU cores or on a GPU that holds the vectors.
// The results are the same. Only one goroutine at a time may use a Searcher.
type Searcher struct {
	v       *Vectors
	threads int
	device  *deviceVectors // or nil
}

// NewSearcher returns a Searcher. It uses a GPU only if kind is engine.GPU, because copying the
// vectors there takes longer than comparing some hundred words on CPU cores. Close frees it.
func (v *Vectors) NewSearcher(kind engine.Kind, d engine.Device, threads int) (*Searcher, error) {
	s := &Searcher{v: v, threads: threads}
	if kind == engine.Sequential {
		s.threads = 1
	}
	if kind == engine.GPU {
		g, err := openGPU(d)
		if err != nil {
			return nil, err
		}
		if s.device, err = v.onGPU(g); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	return s, nil
}

// Close frees the GPU, if the Searcher uses one.
func (s *Searcher) Close() error {
	if s.device == nil {
		return nil
	}
	return s.device.g.Close()
}

// Similar finds, for each of the words, the k whose vectors have the largest cosine with its own,
// ties by their order. An unknown word is an error.
func (s *Searcher) Similar(ctx context.Context, words []string, k int) ([][]Near, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var queries []query
	var errs []error
	for _, word := range words {
		i, err := s.v.Number(word)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		queries = append(queries, query{s.v.unit(i), []int{i}})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s.nearest(ctx, queries, k)
}

// Analogy finds, for each question, the k words that are to C what B is to A. D is ignored.
func (s *Searcher) Analogy(ctx context.Context, list []Question, k int) ([][]Near, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var queries []query
	for _, q := range list {
		a, err1 := s.v.Number(q.A)
		b, err2 := s.v.Number(q.B)
		c, err3 := s.v.Number(q.C)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		queries = append(queries, s.v.offset(a, b, c))
	}
	return s.nearest(ctx, queries, k)
}

func (s *Searcher) nearest(ctx context.Context, queries []query, k int) ([][]Near, error) {
	if k <= 0 {
		k = 10
	}
	if s.device != nil {
		return s.device.nearest(ctx, queries, k)
	}
	out := make([][]Near, len(queries))
	for i, q := range queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = s.v.nearest(q, k, s.threads)
	}
	return out, nil
}
