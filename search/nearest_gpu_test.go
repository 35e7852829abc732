package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search"
	_ "github.com/collocate/collocate/search/gpu"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Vectors alone and beside words have the same answers on a GPU, one by one and in a batch: in
// living indexes, with filters, pages, cursors and all fusions. Statistics say what was left to the
// cores, which nothing of a vector alone is.
func TestNearestOnGPU(t *testing.T) {
	rounds := uint64(12)
	if testing.Short() {
		rounds = 4
	}
	ctx := context.Background()
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 51))
		field := fmt.Sprintf("%d:%s:%s", 1+r.IntN(40), []string{"dot", "cosine", "euclidean"}[r.IntN(3)],
			[]string{"float32", "float16", "int8"}[r.IntN(3)])
		if r.IntN(2) == 0 {
			field += ":optional"
		}
		if r.IntN(3) == 0 {
			field += ":many"
		}
		s, docs := meaningful(t, r, field)
		if len(docs) == 0 {
			continue
		}
		dev, _ := gputest.Named(t)
		if err := s.OpenGPU(ctx, search.GPUOptions{Device: dev.Which(0)}); err != nil {
			t.Fatal(err)
		}
		f, _ := search.VectorField(s.Index().Schema(), "")
		var batch []search.Request
		var want [][]search.Hit
		for range 8 {
			n := &search.Nearest{Vector: make([]float32, f.Dim), Weight: []float64{0, 0.01, 3}[r.IntN(3)],
				Fusion: search.Fusion(r.IntN(3)), Depth: r.IntN(30)}
			for i := range n.Vector {
				n.Vector[i] = float32(r.NormFloat64())
			}
			for id, d := range docs {
				if len(d.vectors) > 0 && r.IntN(4) == 0 { // all of its vectors, if it has several
					n.Vector, n.Like = nil, id
				}
				break
			}
			if r.IntN(2) == 0 {
				n.Filter = query.Field{Name: "place", Part: query.Term{Text: "here"}}
			}
			req := search.Request{Nearest: n, K: 1 + r.IntN(20), From: r.IntN(3)}
			if r.IntN(2) == 0 {
				req.Text = fmt.Sprintf("w%d w%d", r.IntN(40), r.IntN(10))
			}
			cores, err := s.Search(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			if len(cores.Hits) > 2 && r.IntN(3) == 0 {
				req.From, req.After = 0, &search.After{Score: cores.Hits[1].Score, Doc: int64(cores.Hits[1].Doc)}
				if cores, err = s.Search(ctx, req); err != nil {
					t.Fatal(err)
				}
			}
			batch, want = append(batch, req), append(want, cores.Hits)
			req.Parallel = &search.Parallel{Engine: engine.GPU}
			got, err := s.Search(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			checkOnGPU(t, seed, &req, got, cores.Hits)
		}
		i := 0
		for got, err := range s.SearchBatch(ctx, slices.Values(batch), search.Batch{Engine: engine.GPU, Threads: 3}) {
			if err != nil {
				t.Fatal(err)
			}
			checkOnGPU(t, seed, &batch[i], got, want[i])
			i++
		}
		if i != len(batch) {
			t.Fatalf("%d results of a batch of %d", i, len(batch))
		}
		i = 0 // so few vectors are for the cores, unless the GPU is named
		for got, err := range s.SearchBatch(ctx, slices.Values(batch), search.Batch{Threads: 2}) {
			if err != nil || !slices.Equal(got.Hits, want[i]) || got.Stats.GPU != nil {
				t.Fatalf("seed %d: %v, %+v, %v", seed, got, got.Stats.GPU, err)
			}
			i++
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkOnGPU(t *testing.T, seed uint64, r *search.Request, got *search.Result, want []search.Hit) {
	t.Helper()
	if !slices.Equal(got.Hits, want) {
		t.Fatalf("seed %d, %+v, %q:\n%v\nwant\n%v", seed, r.Nearest, r.Text, got.Hits, want)
	}
	g := got.Stats.GPU
	if g == nil || r.Text == "" && g.Fallback != "" || len(want) > 0 && g.Candidates == 0 {
		t.Fatalf("seed %d, %q: %+v", seed, r.Text, g)
	}
}

// A newer generation finds new vectors and no deleted ones on the device, whether or not the older
// one is closed first. Without OpenGPU the cores answer, and say so.
func TestGenerationsOfVectorsOnGPU(t *testing.T) {
	ctx := context.Background()
	schema, err := fields.ParseList([]string{"body:text", "v:vector:3"})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := text.ParseAnalyzer("whitespace")
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r := rand.New(rand.NewPCG(4, 4))
	add := func(n int) {
		t.Helper()
		for i := range n {
			v := []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), 1}
			if err := w.Add(text.Document{ID: fmt.Sprintf("d%d", i+r.IntN(300)),
				Fields: []fields.Values{{[]byte("word")}, {fields.VectorValue(v)}}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	add(200)
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.Close() }()
	request := search.Request{Nearest: &search.Nearest{Vector: []float32{1, 2, 3}}, K: 7}
	check := func(why string) {
		t.Helper()
		cores, err := s.Search(ctx, request)
		if err != nil {
			t.Fatal(err)
		}
		onGPU := request
		onGPU.Parallel = &search.Parallel{Engine: engine.GPU}
		got, err := s.Search(ctx, onGPU)
		if err != nil || !slices.Equal(got.Hits, cores.Hits) || got.Stats.GPU.Fallback != why {
			t.Fatalf("%v, %+v, want %v, %q: %v", got.Hits, got.Stats.GPU, cores.Hits, why, err)
		}
	}
	check("the index is not on a GPU")
	dev, _ := gputest.Named(t)
	open := func() {
		t.Helper()
		if err := s.OpenGPU(ctx, search.GPUOptions{Device: dev.Which(0)}); err != nil {
			t.Fatal(err)
		}
	}
	open()
	check("")
	for generation := range 4 {
		add(50)
		newer, err := s.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		older := s
		if s = newer; generation%2 == 0 {
			err = older.Close()
			open()
		} else {
			open()
			check("")
			err = older.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		check("")
	}
}
