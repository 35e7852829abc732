package gpubench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// withVectors generates vectors of weighted tokens, copies their index to the device and calls f
// with queries of the same topics.
func withVectors(ctx context.Context, o search.GPUOptions, docs, queries int,
	f func(s *search.Searcher, queries []string) error) (err error) {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "vectors.jsonl")
	w, err := os.Create(file)
	if err != nil {
		return err
	}
	err = datagen.Vectors(ctx, w, datagen.VectorOptions{Count: int64(docs)})
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	var lines bytes.Buffer
	if err := datagen.Vectors(ctx, &lines, datagen.VectorOptions{Count: int64(queries), Queries: true}); err != nil {
		return err
	}
	var texts []string
	for line := range strings.Lines(lines.String()) {
		_, q, _ := strings.Cut(line, "\t")
		texts = append(texts, q)
	}
	corpus := &text.Corpus{Paths: []string{file}}
	a, err := text.ParseAnalyzer("impact")
	if err != nil {
		return err
	}
	to := filepath.Join(dir, "index")
	if err := index.Build(ctx, to, corpus, index.BuildOptions{Analyzer: a}); err != nil {
		return err
	}
	s, err := search.Open(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.OpenGPU(ctx, o); err != nil {
		return err
	}
	return f(s, texts)
}

// tryWeighted compares dot products with those of one core: one by one and in a batch, with and
// without a filter, with all lists on the device and with a part of them.
func tryWeighted(t *check.Trial) error {
	for _, docs := range []int{1, 3000, 50_000} {
		if docs > t.Sizes[len(t.Sizes)-1] {
			break
		}
		for _, memory := range []int64{0, int64(docs)*100 + 6<<20} {
			o := search.GPUOptions{Device: t.Dev.Which(memory)}
			err := withVectors(t.Ctx, o, docs, some(t.Dev, 60), func(s *search.Searcher, queries []string) error {
				return compareWeighted(t, s, docs, queries)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func compareWeighted(t *check.Trial, s *search.Searcher, docs int, queries []string) error {
	third := docset.New(docs)
	for d := 0; d < docs; d += 3 {
		third.Add(uint32(d))
	}
	var requests []search.Request
	var want [][]uint64
	for i, q := range queries {
		r := search.Request{Text: q, K: []int{1, 10, 100, 1000}[i%4]}
		if i%8 > 5 {
			r.Within = &search.Within{Sets: []*docset.Set{third}}
		}
		found, err := s.Search(t.Ctx, r)
		if err != nil {
			return err
		}
		requests, want = append(requests, r), append(want, answers(found))
		r.Parallel = &search.Parallel{Engine: engine.GPU}
		one, err := s.Search(t.Ctx, r)
		if err != nil {
			return err
		}
		if err := check.Same(t, fmt.Sprintf("%d documents, query %d", docs, i), answers(one), want[i]); err != nil {
			return err
		}
	}
	i := 0
	for got, err := range s.SearchBatch(t.Ctx, slices.Values(requests), search.Batch{Engine: engine.GPU}) {
		if err != nil {
			return err
		}
		if err := check.Same(t, fmt.Sprintf("%d documents, request %d", docs, i), answers(got), want[i]); err != nil {
			return err
		}
		i++
	}
	return nil
}

// weighted measures single queries and batches of weighted tokens.
func (m *searching) weighted(o search.GPUOptions, quick bool) error {
	docs, queries, runs := 1_000_000, 10_000, 500
	if quick {
		docs, queries, runs = 2000, 20, 2
	}
	return withVectors(m.ctx, o, docs, queries, func(s *search.Searcher, queries []string) error {
		for _, k := range []int{10, 1000} {
			var times []float64
			for i := range runs {
				start := time.Now()
				r := search.Request{Text: queries[i%len(queries)], K: k, Parallel: &search.Parallel{Engine: engine.GPU}}
				if _, err := s.Search(m.ctx, r); err != nil {
					return err
				}
				times = append(times, time.Since(start).Seconds())
			}
			name := fmt.Sprintf("search, weighted tokens, %d documents, k %d", docs, k)
			mid := median(times)
			m.out = append(m.out, check.Bench{Name: name + ", one query", Items: 1, Seconds: times[0], Median: mid,
				Note: "the whole call"})
			best := 0.0
			for range 3 {
				start := time.Now()
				requests := func(yield func(search.Request) bool) {
					for _, q := range queries {
						if !yield(search.Request{Text: q, K: k}) {
							return
						}
					}
				}
				for _, err := range search.MapBatch(m.ctx, s, requests, search.Batch{Engine: engine.GPU},
					func(_ int, r *search.Result) (int, error) { return len(r.Hits), nil }) {
					if err != nil {
						return err
					}
				}
				if took := time.Since(start).Seconds(); best == 0 || took < best {
					best = took
				}
			}
			m.out = append(m.out, check.Bench{Name: name + ", a batch", Items: len(queries), Seconds: best})
		}
		return nil
	})
}
