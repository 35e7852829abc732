package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// meant is a document of the tests: its words, its place, and its vectors.
type meant struct {
	id, words, place string
	vectors          [][]float32
}

// meaningful returns an index of documents that were added over several commits, some of which
// replaced or deleted earlier ones, and the documents that are left, by ID.
func meaningful(t *testing.T, r *rand.Rand, field string) (*search.Searcher, map[string]meant) {
	t.Helper()
	schema, err := fields.ParseList([]string{"body:text", "place:keyword", "v:vector:" + field})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := text.ParseAnalyzer("whitespace")
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	docs := map[string]meant{}
	f := schema.Fields[2]
	for range 1 + r.IntN(4) {
		for range 1 + r.IntN(150) {
			d := meant{id: fmt.Sprint("d", r.IntN(400)), place: []string{"here", "there"}[r.IntN(2)]}
			var words []string
			for range 1 + r.IntN(12) {
				x := r.Float64()
				words = append(words, fmt.Sprint("w", int(x*x*x*40)))
			}
			d.words = strings.Join(words, " ")
			count := 1
			if f.Optional {
				count = min(1, r.IntN(3))
			}
			if f.Many && count > 0 {
				count += r.IntN([]int{1, 4, 20}[r.IntN(3)])
			}
			v := fields.Values{}
			for range count {
				x := make([]float32, f.Dim)
				for i := range x {
					x[i] = float32(r.IntN(9) - 4)
				}
				x[0] += 5
				d.vectors, v = append(d.vectors, x), append(v, fields.VectorValue(x))
			}
			switch all := strings.ReplaceAll(fmt.Sprint(d.vectors), " ", ", "); {
			case r.IntN(2) == 0:
			case count == 1:
				v[0] = []byte(all[1 : len(all)-1])
			case count > 1:
				v = fields.Values{[]byte(all)}
			}
			err := w.Add(text.Document{ID: d.id, Fields: []fields.Values{{[]byte(d.words)}, {[]byte(d.place)}, v}})
			if err != nil {
				t.Fatal(err)
			}
			docs[d.id] = d
		}
		for id := range docs {
			if r.IntN(10) == 0 {
				if _, err := w.Delete(id); err != nil {
					t.Fatal(err)
				}
				delete(docs, id)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			if _, err := w.CommitAndMerge(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, segment := range s.Index().Segments() {
		if err := segment.Check(context.Background(), index.CheckOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return s, docs
}

// similar is the similarity of two vectors by its definition.
func similar(f *fields.Field, q, x []float32) float32 {
	switch f.Metric {
	case fields.Dot:
		return dense.Sum(q, x)
	case fields.Cosine:
		return float32(float64(dense.Sum(q, x)) / (float64(fields.Norm(q)) * float64(fields.Norm(x))))
	default:
		return float32(1 / (1 + float64(dense.Distance(q, x))))
	}
}

// byDefinition ranks all documents by the definition of a weighted sum or of the similarity alone.
func byDefinition(t *testing.T, s *search.Searcher, docs map[string]meant, r search.Request) []search.Hit {
	t.Helper()
	ctx := context.Background()
	n := r.Nearest.Usual()
	f, err := search.VectorField(s.Index().Schema(), n.Field)
	if err != nil {
		t.Fatal(err)
	}
	words := map[uint32]float32{}
	var byWords []search.Hit
	plain := r
	plain.Nearest, plain.K, plain.From, plain.Count, plain.Facets = nil, search.MaxK, 0, false, nil
	within, err := s.Match(ctx, search.Request{Query: query.Within(query.All{}, n.Filter)})
	if err != nil {
		t.Fatal(err)
	}
	given := r.Text != "" || r.Query != nil
	if given {
		plain.Within = within
		found, err := s.Search(ctx, plain)
		if err != nil {
			t.Fatal(err)
		}
		for byWords = found.Hits; len(found.Hits) > 0; found.Hits = found.Hits[1:] {
			words[found.Hits[0].Doc] = found.Hits[0].Score
		}
	}
	var all, byVectors []search.Hit
	for i, segment := range s.Index().Segments() {
		for d := range segment.Docs() {
			if segment.Live != nil && !segment.Live.Has(uint32(d)) || within.Of(i) != nil && !within.Of(i).Has(uint32(d)) {
				continue
			}
			doc := segment.Base + uint32(d)
			id, _ := s.ID(doc)
			vectors := docs[id].vectors
			bm, matches := words[doc]
			if vectors == nil && !matches {
				continue
			}
			sim := float32(0)
			if vectors != nil {
				asked := [][]float32{n.Vector}
				if n.Like != "" {
					asked = docs[n.Like].vectors
				}
				sim = float32(math.Inf(-1))
				for _, q := range asked {
					for _, x := range vectors {
						sim = max(sim, similar(f, q, x))
					}
				}
				byVectors = append(byVectors, search.Hit{Doc: doc, Score: sim})
			}
			all = append(all, search.Hit{Doc: doc, Score: bm})
			if !given {
				all[len(all)-1].Score = sim
				continue
			}
			all[len(all)-1].Score = float32(n.WordWeight*float64(bm) + n.Weight*float64(sim))
		}
	}
	sort := func(hits []search.Hit) {
		slices.SortFunc(hits, func(a, b search.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
	}
	sort(byVectors)
	if given && n.Fusion == search.ReciprocalRanks {
		sums := map[uint32]float64{}
		for i, h := range byWords[:min(n.Depth, len(byWords))] {
			sums[h.Doc] += n.WordWeight / float64(61+i)
		}
		for i, h := range byVectors[:min(n.Depth, len(byVectors))] {
			sums[h.Doc] += n.Weight / float64(61+i)
		}
		all = all[:0]
		for doc, sum := range sums {
			all = append(all, search.Hit{Doc: doc, Score: float32(sum)})
		}
	}
	if given && n.Fusion == search.SumOfShares {
		a, b := n.WordWeight, n.Weight
		if len(byWords) > 0 && byWords[0].Score > 0 {
			a /= float64(byWords[0].Score)
		}
		if len(byVectors) > 0 && byVectors[0].Score != 0 {
			b /= math.Abs(float64(byVectors[0].Score))
		}
		sims := map[uint32]float32{}
		for _, h := range byVectors {
			sims[h.Doc] = h.Score
		}
		for i, h := range all {
			all[i].Score = float32(a*float64(words[h.Doc]) + b*float64(sims[h.Doc]))
		}
	}
	sort(all)
	return all
}

// Vectors alone and beside words find what the definition finds, to the bit: in living indexes,
// with filters, pages, cursors, counts and facets, and each hit is explained by its score.
func TestNearestIsTheDefinition(t *testing.T) {
	rounds := uint64(40)
	if testing.Short() {
		rounds = 10
	}
	ctx := context.Background()
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 50))
		field := fmt.Sprintf("%d:%s:%s", 1+r.IntN(40), []string{"dot", "cosine", "euclidean"}[r.IntN(3)],
			[]string{"float32", "float16", "int8"}[r.IntN(3)])
		if r.IntN(2) == 0 {
			field += ":optional"
		}
		if r.IntN(2) == 0 {
			field += ":many"
		}
		s, docs := meaningful(t, r, field)
		f, _ := search.VectorField(s.Index().Schema(), "")
		var batch []search.Request
		var found [][]search.Hit
		for range 8 {
			n := &search.Nearest{Vector: make([]float32, f.Dim), Weight: []float64{0, 0.01, 3}[r.IntN(3)],
				WordWeight: []float64{0, 0.5}[r.IntN(2)], Fusion: search.Fusion(r.IntN(3)), Depth: r.IntN(30)}
			for i := range n.Vector {
				n.Vector[i] = float32(r.NormFloat64())
			}
			for id, d := range docs {
				if d.vectors != nil && r.IntN(3) == 0 {
					n.Like, n.Vector = id, nil
				}
				break
			}
			if r.IntN(2) == 0 {
				n.Filter = query.Field{Name: "place", Part: query.Term{Text: "here"}}
			}
			req := search.Request{Nearest: n, K: 1 + r.IntN(20), From: r.IntN(3), Count: true,
				Facets: []search.Facet{{Field: "place"}}}
			switch r.IntN(4) {
			case 0, 1:
				req.Text = fmt.Sprintf("w%d w%d", r.IntN(40), r.IntN(10))
			case 2:
				req.Query = query.And{Parts: []query.Node{query.Must{Part: query.Term{Text: fmt.Sprint("w", r.IntN(8))}},
					query.Term{Text: "w3"}}}
			}
			if r.IntN(3) == 0 {
				req.Parallel = &search.Parallel{Threads: 2}
			}
			all := byDefinition(t, s, docs, req)
			got, err := s.Search(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			want := all[min(req.From, len(all)):min(req.From+req.K, len(all))]
			if !slices.Equal(got.Hits, want) {
				t.Fatalf("seed %d, %s, %+v, %q:\n%v\nwant\n%v", seed, field, n, req.Text, got.Hits, want)
			}
			batch, found = append(batch, req), append(found, got.Hits)
			if n.Fusion != search.ReciprocalRanks || req.Text == "" && req.Query == nil {
				here := 0
				for _, v := range got.Facets[0].Values {
					here += v.Docs
				}
				if got.Total != int64(len(all)) || here != len(all) {
					t.Fatalf("seed %d: %d documents in all, %d of the facets: want %d", seed, got.Total, here, len(all))
				}
			}
			var ids []uint32
			for _, h := range got.Hits {
				ids = append(ids, h.Doc)
			}
			list, err := s.Explanations(ctx, req, ids)
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range list {
				if e.Score != got.Hits[i].Score || e.Vector == nil {
					t.Fatalf("seed %d: explained by %v (%+v), want %v", seed, e.Score, e.Vector, got.Hits[i].Score)
				}
				id, _ := s.ID(ids[i])
				vectors := docs[id].vectors
				if !f.Many || vectors == nil || n.Like != "" {
					continue
				}
				at := e.Vector.Number - 1
				if at < 0 || at >= len(vectors) || similar(f, n.Vector, vectors[at]) != e.Vector.Similarity {
					t.Fatalf("seed %d: vector %d of %d is said to have %v", seed, at+1, len(vectors), e.Vector.Similarity)
				}
			}
			if len(want) > 2 {
				next := req
				next.From, next.After = 0, &search.After{Score: want[1].Score, Doc: int64(want[1].Doc)}
				got, err := s.Search(ctx, next)
				if err != nil {
					t.Fatal(err)
				}
				from := req.From + 2
				if want := all[from:min(from+req.K, len(all))]; !slices.Equal(got.Hits, want) {
					t.Fatalf("seed %d: after a hit: %v, want %v", seed, got.Hits, want)
				}
			}
		}
		checkBatch(t, s, append(batch, search.Request{Text: "w1"}), found, 1+r.IntN(3))
	}
}

// checkBatch compares the hits of a batch with those of its requests one by one. The last request,
// which has no vector, is answered, too. A wrong request ends the batch and leaves those before.
func checkBatch(t *testing.T, s *search.Searcher, batch []search.Request, want [][]search.Hit, threads int) {
	t.Helper()
	last, err := s.Search(context.Background(), batch[len(batch)-1])
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, last.Hits)
	i := 0
	for found, err := range s.SearchBatch(context.Background(), slices.Values(batch), search.Batch{Threads: threads}) {
		if err != nil || !slices.Equal(found.Hits, want[i]) {
			t.Fatalf("request %d of a batch: %v, %v; want %v", i, found, err, want[i])
		}
		i++
	}
	if i != len(batch) {
		t.Fatalf("%d results of a batch of %d", i, len(batch))
	}
	wrong := slices.Clone(batch)
	wrong[2].Nearest = &search.Nearest{Vector: make([]float32, 1000)}
	i = 0
	for _, err := range s.SearchBatch(context.Background(), slices.Values(wrong), search.Batch{Threads: threads}) {
		if i++; (err != nil) != (i == 3) {
			t.Fatalf("request %d of a batch whose third is wrong: %v", i-1, err)
		}
	}
	if i != 3 {
		t.Fatalf("%d results of a batch whose third is wrong", i)
	}
}

// Vectors that are none of the field, and what is not supported beside them, are errors that say
// what was expected.
func TestNearestRefuses(t *testing.T) {
	s, _ := meaningful(t, rand.New(rand.NewPCG(1, 1)), "4:cosine")
	ctx := context.Background()
	good := []float32{1, 2, 3, 4}
	for want, r := range map[string]search.Request{
		"a vector of 3 dimensions: want 4":     {Nearest: &search.Nearest{Vector: good[:3]}},
		"number 2 of the vector is NaN":        {Nearest: &search.Nearest{Vector: []float32{1, float32(math.NaN()), 0, 0}}},
		"a zero vector has no direction":       {Nearest: &search.Nearest{Vector: make([]float32, 4)}},
		`unknown vector field "w": want v`:     {Nearest: &search.Nearest{Vector: good, Field: "w"}},
		`unknown vector field "body": want v`:  {Nearest: &search.Nearest{Vector: good, Field: "body"}},
		"hits are sorted by a field":           {Nearest: &search.Nearest{Vector: good}, Sort: &search.Sort{Field: "place"}},
		"weight -1: want 0 to":                 {Nearest: &search.Nearest{Vector: good, Weight: -1}},
		"depth -1: want 0 to":                  {Nearest: &search.Nearest{Vector: good, Depth: -1}},
		"boosts are not supported":             {Nearest: &search.Nearest{Vector: good}, Boosts: []search.Boost{{Match: query.All{}}}},
		"like: there is a vector beside it":    {Nearest: &search.Nearest{Vector: good, Like: "d1"}},
		`no document has the ID "nobody"`:      {Nearest: &search.Nearest{Like: "nobody"}},
		"search: K = -5":                       {Nearest: &search.Nearest{Vector: good}, K: -5},
		"the field \"v\" has vectors":          {Query: query.Field{Name: "v", Part: query.Term{Text: "x"}}},
		"collapse best: the index has no pass": {Nearest: &search.Nearest{Vector: good}, Collapse: search.BestPassage},
	} {
		_, err := s.Search(ctx, r)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, search.ErrRequest) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Search(cancelled, search.Request{Nearest: &search.Nearest{Vector: good}}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
}
