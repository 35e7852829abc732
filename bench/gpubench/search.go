package gpubench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
	"github.com/collocate/collocate/search"
)

// searchJob compares and measures retrieval.
var searchJob = Job{
	Name: "search",
	Suites: []check.Suite{
		{Name: "search: tiles", Run: trySearch(search.Tiles, 4)},
		{Name: "search: tiles, many words", Run: trySearch(search.Tiles, 400)},
		{Name: "search: wand", Run: trySearch(search.WAND, 4)},
		{Name: "search: block-max wand", Run: trySearch(search.BMW, 4)},
		{Name: "search: maxscore", Run: trySearch(search.MaxScore, 4)},
		{Name: "search: compressed lists", Run: tryCompressed},
		{Name: "search: batches",
			Run: func(t *check.Trial) error { return trySearchBatch(t, search.GPUOptions{Device: t.Dev.Which(0)}, false) }},
		{Name: "search: batches within filters",
			Run: func(t *check.Trial) error { return trySearchBatch(t, search.GPUOptions{Device: t.Dev.Which(0)}, true) }},
		{Name: "search: two contexts of the device", Run: trySearchTwice},
		{Name: "search: nearest vectors", Run: tryNearest},
		{Name: "search: weighted tokens", Run: tryWeighted},
	},
	Measure: measureSearch,
}

// searchModels are BM25 with several parameters, then all models of one field.
var searchModels = func() []search.Model {
	list := []search.Model{search.BM25{}, search.BM25{K1: 0.9, B: 0.4, Variant: bm25.Lucene},
		search.BM25{K1: 2, B: 1, Variant: bm25.Plus}, search.BM25{K1: 1.5, B: 0.75, Variant: bm25.L}}
	for _, name := range search.Models() {
		m, err := search.ParseModel(name)
		if err != nil {
			panic(err) // of a name in its own list
		}
		list = append(list, m)
	}
	return list
}()

// withIndex generates a collection, copies its index to the device and calls f.
func withIndex(ctx context.Context, dev *gpu.Device, shape thesisbench.Shape,
	f func(*search.Searcher) error) (err error) {
	return withIndexOn(ctx, search.GPUOptions{Device: dev.Which(0)}, shape, f)
}

// withIndexOn is like withIndex, for several devices.
func withIndexOn(ctx context.Context, o search.GPUOptions, shape thesisbench.Shape,
	f func(*search.Searcher) error) (err error) {
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := shape.Build(ctx, filepath.Join(dir, "index")); err != nil {
		return err
	}
	s, err := search.Open(filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.OpenGPU(ctx, o); err != nil {
		return err
	}
	return f(s)
}

// answers returns a result as numbers, for comparison.
func answers(r *search.Result) (out []uint64) {
	for _, h := range r.Hits {
		out = append(out, uint64(math.Float32bits(h.Score))<<32|uint64(h.Doc))
	}
	return out
}

// some returns the number of queries to try: fewer in the interpreter, which is slow.
func some(dev *gpu.Device, n int) int {
	if dev.Info().Emulated {
		return max(1, n/10)
	}
	return n
}

var searchSizes = []int{1, 1000, 50_000, 1_000_000}

// eachSize calls f with a collection of each size, and the index on the device.
func eachSize(t *check.Trial, f func(docs int, shape *thesisbench.Shape, s *search.Searcher) error) error {
	for _, docs := range searchSizes {
		if docs > t.Sizes[len(t.Sizes)-1] {
			break
		}
		shape := thesisbench.Zipf(docs, 500, uint64(docs))
		if err := withIndex(t.Ctx, t.Dev, shape, func(s *search.Searcher) error {
			return f(docs, &shape, s)
		}); err != nil {
			return err
		}
	}
	return nil
}

// trySearch compares the results of random queries with those of one core.
func trySearch(a search.Algorithm, most int) func(t *check.Trial) error {
	return func(t *check.Trial) error {
		return eachSize(t, func(docs int, shape *thesisbench.Shape, s *search.Searcher) error {
			for i := range some(t.Dev, 40) {
				r := search.Request{Words: shape.Query(t.Rng, most),
					K: []int{1, 10, 128, 1000}[i%4], Mode: search.Mode(i / 4 % 2),
					Model: searchModels[i%len(searchModels)]}
				want, err := s.Search(t.Ctx, r)
				if err != nil {
					return err
				}
				r.Algorithm, r.Parallel = a, &search.Parallel{Engine: engine.GPU}
				if a != search.Tiles { // try all settings of blocks
					r.Parallel.Blocks = blocksOf(i)
				}
				got, err := s.Search(t.Ctx, r)
				if err != nil {
					return err
				}
				if err := check.Same(t, fmt.Sprintf("%d documents, query %d", docs, i),
					answers(got), answers(want)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// blocksOf returns the i-th setting of blocks.
func blocksOf(i int) search.Blocks {
	return search.Blocks{Threads: 32 << (i % 3), Slice: 32 * (i % 5), Insert: i%2 == 1,
		Pairs: i/2%2 == 1, Start: i/8%2 == 1}
}

// tryCompressed compares the results of the thesis' algorithms on compressed lists with those of
// one core if they are exact, and with those on plain lists if each is the same in every run.
func tryCompressed(t *check.Trial) error {
	algorithms := []search.Algorithm{search.WAND, search.MaxScore, search.BMW}
	return eachSize(t, func(docs int, shape *thesisbench.Shape, s *search.Searcher) error {
		for i := range some(t.Dev, 3*4*4*4) {
			r := search.Request{Words: shape.Query(t.Rng, 4), K: []int{1, 10, 128, 1000}[i/48%4],
				Mode: search.Mode(t.Rng.IntN(2)), Model: searchModels[i%len(searchModels)]}
			one, err := s.Search(t.Ctx, r)
			if err != nil {
				return err
			}
			p := search.Parallel{Engine: engine.GPU, Partition: search.Partition(i / 3 % 4),
				Policy: search.Policy(i / 12 % 4), Size: 32 << (i % 3), Row: 1 + i%2*9, Slack: 5,
				Blocks: blocksOf(i)}
			r.Algorithm = algorithms[i%3]
			var found [2]*search.Result // on plain and on compressed lists
			for j := range found {
				with := p
				with.Blocks.Compressed = j == 1
				r.Parallel = &with
				if found[j], err = s.Search(t.Ctx, r); err != nil {
					return err
				}
			}
			name := fmt.Sprintf("%d documents, query %d, %v, %v, %v", docs, i, r.Algorithm, p.Partition, p.Policy)
			if p.Exact() {
				err = check.Same(t, name, answers(found[1]), answers(one))
			}
			if p.Policy == search.Local {
				err = errors.Join(err, check.Same(t, name+", plain and compressed",
					answers(found[1]), answers(found[0])))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// trySearchTwice is trySearchBatch with the device used as two, each with a context of its own.
func trySearchTwice(t *check.Trial) error {
	free, _, err := t.Dev.MemInfo()
	if err != nil {
		return err
	}
	which := t.Dev.Which(min(free/4, 8<<30))
	return trySearchBatch(t, search.GPUOptions{Device: which, Also: []engine.Device{which}}, false)
}

// trySearchBatch compares the results of a batch of all kinds of queries with those of the CPU;
// most of them are limited to a tenth or to most of the documents, if filters is set.
func trySearchBatch(t *check.Trial, o search.GPUOptions, filters bool) error {
	docs := min(300_000, t.Sizes[len(t.Sizes)-1])
	shape := thesisbench.Zipf(docs, 500, 3)
	return withIndexOn(t.Ctx, o, shape, func(s *search.Searcher) error {
		var requests []search.Request
		within := []*search.Within{nil}
		for _, share := range []float64{0.1, 0.7} {
			set := docset.New(docs)
			for doc := range docs {
				if filters && t.Rng.Float64() < share {
					set.Add(uint32(doc))
				}
			}
			if filters {
				within = append(within, &search.Within{Sets: []*docset.Set{set}})
			}
		}
		for i := range some(t.Dev, 900) {
			requests = append(requests,
				search.Request{Words: shape.Query(t.Rng,
					[]int{1, 2, 3, 4, 5, 6, 20, 7}[i%8]), K: 1 + i%200, Mode: search.Mode(i % 2),
					Model: searchModels[i/8%2], Within: within[i/16%len(within)]})
		}
		i := 0
		for got, err := range s.SearchBatch(t.Ctx, func(yield func(search.Request) bool) {
			for _, r := range requests {
				if !yield(r) {
					return
				}
			}
		}, search.Batch{Engine: engine.GPU}) {
			if err != nil {
				return err
			}
			want, err := s.Search(t.Ctx, requests[i])
			if err != nil {
				return err
			}
			if err := check.Same(t, fmt.Sprintf("request %d", i), answers(got), answers(want)); err != nil {
				return err
			}
			i++
		}
		return nil
	})
}
