package gpubench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// mostNearest is the largest number of documents with vectors: more than the room for candidates,
// so that samples and thresholds take part.
const mostNearest = 40_000

// tryNearest compares the documents with the nearest vectors with those of the cores, alone and in
// batches, for all metrics and precisions, in two segments with deleted documents.
func tryNearest(t *check.Trial) error {
	metrics, precisions := []string{"cosine", "dot", "euclidean"}, []string{"float32", "float16", "int8"}
	most := min(t.Sizes[len(t.Sizes)-1], mostNearest)
	for i, metric := range metrics {
		for j, precision := range precisions {
			docs, dim := max(40, most/20), 1+t.Rng.IntN(100)
			switch {
			case i == 0 && j == 1:
				docs, dim = max(40, most), 64
			case i == 1 && j == 0 && !t.Dev.Info().Emulated:
				dim = 768
			}
			if err := tryVectors(t, docs, dim, metric, precision); err != nil {
				return fmt.Errorf("%d documents, %d dimensions, %s, %s: %w", docs, dim, metric, precision, err)
			}
		}
	}
	return nil
}

func tryVectors(t *check.Trial, docs, dim int, metric, precision string) (err error) {
	dir, err := os.MkdirTemp("", "nearest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "index")
	draw := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(int(t.Rng.NormFloat64() * 30))
		}
		v[0] = max(v[0], -v[0]) + 1 // not zero, which cosine refuses
		return v
	}
	if err := indexVectors(dir, docs, fmt.Sprintf("v:vector:%d:%s:%s", dim, metric, precision), draw); err != nil {
		return err
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.OpenGPU(t.Ctx, search.GPUOptions{Device: t.Dev.Which(0)}); err != nil {
		return err
	}
	for _, k := range []int{10, 300} {
		requests := make([]search.Request, some(t.Dev, 60)+1)
		for i := range requests {
			requests[i] = search.Request{Nearest: &search.Nearest{Vector: draw()}, K: k}
		}
		list := func(kind engine.Kind) (out []uint64, err error) {
			for found, err := range s.SearchBatch(t.Ctx, slices.Values(requests), search.Batch{Engine: kind}) {
				if err != nil {
					return nil, err
				}
				if g := found.Stats.GPU; g != nil && g.Fallback != "" {
					return nil, errors.New(g.Fallback)
				}
				out = append(out, answers(found)...)
			}
			return out, nil
		}
		want, err := list(engine.Multicore)
		if err != nil {
			return err
		}
		got, err := list(engine.GPU)
		if err == nil {
			err = check.Same(t, fmt.Sprintf("batch of k %d", k), got, want)
		}
		if err != nil {
			return err
		}
		r := requests[0]
		r.Parallel = &search.Parallel{Engine: engine.GPU}
		found, err := s.Search(t.Ctx, r)
		if err == nil {
			err = check.Same(t, fmt.Sprintf("k %d", k), answers(found), want[:len(found.Hits)])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// indexVectors makes an index of documents with a vector in two segments. Every tenth document of
// the first is deleted.
func indexVectors(dir string, docs int, field string, draw func() []float32) (err error) {
	schema, err := fields.ParseList([]string{"body:text", field})
	if err != nil {
		return err
	}
	a, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		return err
	}
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	add := func(from, to int) error {
		for d := from; d < to; d++ {
			v := draw()
			for i := range v { // of int8, too
				v[i] = max(-128, min(127, v[i]))
			}
			doc := text.Document{ID: fmt.Sprint(d), Fields: []fields.Values{{[]byte("word")}, {fields.VectorValue(v)}}}
			if err := w.Add(doc); err != nil {
				return err
			}
		}
		return w.Commit()
	}
	if err := add(0, docs*2/3); err != nil {
		return err
	}
	for d := 0; d < docs*2/3; d += 10 {
		if _, err := w.Delete(fmt.Sprint(d)); err != nil {
			return err
		}
	}
	return add(docs*2/3, docs)
}
