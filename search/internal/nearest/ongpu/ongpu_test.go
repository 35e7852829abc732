package ongpu

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/densetest"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
)

// opened returns vectors on the tests' device, with a bound for its memory.
func opened(t testing.TB, memory int64) *handle {
	t.Helper()
	dev, _ := gputest.Device(t)
	s, err := gpu.NewSession(dev, 1)
	if err != nil {
		t.Fatal(err)
	}
	h := Use(s, memory).(*handle)
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// drawn is a field with segments, filters and queries.
type drawn struct {
	field   fields.Field
	parts   []nearest.Part
	queries []*nearest.Query
}

// draw draws vectors of all metrics and precisions, with documents that have none, and segments of
// up to so many documents.
func draw(t testing.TB, r *rand.Rand, docs, queries int) drawn {
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: 1 + r.IntN(150), Metric: fields.Metric(r.IntN(3)),
		Precision: fields.Precision(r.IntN(3)), Optional: r.IntN(3) == 0,
		Many: r.IntN(4) == 0}
	d := drawn{field: f}
	base := uint32(0)
	for range 1 + r.IntN(3) {
		p := nearest.Part{Column: densetest.Column(t, f, densetest.Vectors(r, &f, r.IntN(docs+1)/max(1, 5*b2i(f.Many)))), Base: base}
		base += uint32(p.Column.Docs())
		if rare := []int{0, 2, 30}[r.IntN(3)]; rare > 0 {
			p.Within = make([]uint64, (p.Column.Docs()+63)/64)
			for doc := range p.Column.Docs() {
				if r.IntN(rare) == 0 {
					p.Within[doc/64] |= 1 << (doc % 64)
				}
			}
		}
		d.parts = append(d.parts, p)
	}
	vectors := densetest.Vectors(r, &fields.Field{Dim: f.Dim}, queries)
	if c := d.parts[0].Column; c.Docs() > 0 && c.Has(0) { // a query that is a document
		v, err := c.Vector(0, nil)
		if err != nil {
			t.Fatal(err)
		}
		vectors[0] = slices.Clone(v[:f.Dim])
	}
	for _, v := range vectors {
		d.queries = append(d.queries, nearest.NewQuery(&f, v))
	}
	return d
}

// definition compares a query with every admitted vector. It lists the documents that are among
// the k best, or as similar as the last of them, within a gap of it, and reach the floor.
func definition(t testing.TB, d *drawn, q *nearest.Query, w nearest.Want) (hits []ask.Hit) {
	t.Helper()
	for _, p := range d.parts {
		for doc := range p.Column.Docs() {
			if !p.Column.Has(doc) || p.Within != nil && p.Within[doc/64]>>(doc%64)&1 == 0 {
				continue
			}
			s, _, err := nearest.Similarity(q, p.Column, doc)
			if err != nil {
				t.Fatal(err)
			}
			hits = append(hits, ask.Hit{Doc: p.Base + uint32(doc), Score: s})
		}
	}
	slices.SortFunc(hits, func(a, b ask.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	bar := math.Inf(-1)
	if w.K > 0 && w.K <= len(hits) {
		bar = float64(hits[w.K-1].Score) - w.Gap
	}
	bar = max(bar, w.Floor)
	return slices.DeleteFunc(hits, func(h ask.Hit) bool { return float64(h.Score) < bar })
}

// The answers are those of the definition and of the cores, to the bit, alone and in batches, with
// filters, missing vectors, several segments, equal vectors, and k beyond the number of documents.
func TestAnswersAreTheDefinition(t *testing.T) {
	rounds := uint64(40)
	if testing.Short() {
		rounds = 12
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 5))
		n := []int{1, 2, 9}[seed%3]
		d := draw(t, r, 500, n)
		h := opened(t, 0)
		var wants []nearest.Want
		for range n {
			wants = append(wants, nearest.Best([]int{1, 3, 10, 1000}[r.IntN(4)]))
		}
		lists, reports, err := h.Search(t.Context(), d.parts, d.queries, wants)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		cores, err := nearest.Search(t.Context(), d.parts, d.queries, wants, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range d.queries {
			if reports[i].Why != "" {
				t.Fatalf("seed %d: the cores should answer: %s", seed, reports[i].Why)
			}
			same(t, seed, i, lists[i].Hits, definition(t, &d, q, wants[i]))
			k := min(wants[i].K, len(lists[i].Hits))
			same(t, seed, i, lists[i].Hits[:k], cores[i].Hits[:k])
		}
	}
}

func same(t *testing.T, seed uint64, query int, got, want []ask.Hit) {
	t.Helper()
	if !slices.Equal(got, want) {
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("seed %d, query %d: %d hits, want %d; hit %d: %v, want %v", seed, query, len(got), len(want),
					i, got[i:min(i+1, len(got))], want[i])
			}
		}
		t.Fatalf("seed %d, query %d: %d hits, want %d", seed, query, len(got), len(want))
	}
}

// With little room there are samples, second passes and passes that are made again; what has no
// room even so is for the cores. The answers that there are stay the same.
func TestRoom(t *testing.T) {
	rounds := uint64(24)
	if testing.Short() {
		rounds = 8
	}
	samples, between, left, done := 0, 0, 0, 0
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 6))
		n := []int{1, 3}[seed%2]
		d := draw(t, r, 3000, n)
		h := opened(t, 0)
		h.g.rooms = rooms{least: 512, perHit: 4, most: 1024, alone: 512}
		wants := slices.Repeat([]nearest.Want{nearest.Best([]int{1, 4, 100}[r.IntN(3)])}, n)
		p := pass0(h, &d, wants)
		samples, between = samples+b2i(len(p.steps) > 1), between+b2i(len(p.steps) > 2)
		lists, reports, err := h.Search(t.Context(), d.parts, d.queries, wants)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for i, q := range d.queries {
			if reports[i].Why != "" {
				left++
				continue
			}
			done++
			same(t, seed, i, lists[i].Hits, definition(t, &d, q, wants[i]))
		}
	}
	t.Logf("%d plans with samples, %d of them with two; %d queries answered, %d left", samples, between, done, left)
	if samples == 0 || between == 0 || done < left {
		t.Error("this tests too little")
	}
	// All documents are equally similar, and all are answers.
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: 3}
	equal := slices.Repeat([][]float32{{1, 2, 3}}, 2000)
	parts := []nearest.Part{{Column: densetest.Column(t, f, equal)}}
	queries := []*nearest.Query{nearest.NewQuery(&f, equal[0])}
	h := opened(t, 0)
	h.g.rooms = rooms{least: 512, perHit: 4, most: 1024, alone: 512}
	want := nearest.Best(3)
	_, reports, err := h.Search(t.Context(), parts, queries, []nearest.Want{want})
	if err != nil || reports[0].Why != "too many documents are about as similar" {
		t.Errorf("equal vectors: %+v, %v", reports, err)
	}
	want.Most = 10
	lists, reports, err := h.Search(t.Context(), parts, queries, []nearest.Want{want})
	if err != nil || reports[0].Why != "" || !lists[0].Many {
		t.Errorf("equal vectors, at most 10: %+v, %v", reports, err)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Floors, gaps and bounds for the number of hits are kept, as combined scores need them.
func TestWants(t *testing.T) {
	many := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		d := draw(t, r, 400, 2)
		h := opened(t, 0)
		all := definition(t, &d, d.queries[0], nearest.Want{Floor: nearest.Everything})
		if len(all) == 0 {
			continue
		}
		of := func(share int) float64 { return float64(all[len(all)*share/100].Score) }
		wants := []nearest.Want{
			{K: 5, Floor: of(10), Most: 20},
			{K: 3, Floor: nearest.Everything, Gap: of(0) - of(20)},
		}
		if seed%2 == 0 {
			wants[0].K = 0 // the floor alone decides
		}
		d.queries[1] = d.queries[0]
		lists, reports, err := h.Search(t.Context(), d.parts, d.queries, wants)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range wants {
			want := definition(t, &d, d.queries[i], w)
			switch {
			case reports[i].Why != "":
				t.Fatalf("seed %d: %s", seed, reports[i].Why)
			case lists[i].Many:
				if many++; len(want) <= w.Most {
					t.Fatalf("seed %d: %d hits are said to be more than %d", seed, len(want), w.Most)
				}
			case i == 0:
				same(t, seed, i, lists[i].Hits, want)
			default: // the gap is rounded: a little more may be listed
				same(t, seed, i, lists[i].Hits[:len(want)], want)
			}
		}
	}
	if many == 0 {
		t.Error("no list was too long")
	}
}

// A device with too little memory for the vectors leaves their sums to the cores, and one that has
// none for the codes says so.
func TestMemory(t *testing.T) {
	if os.Getenv("COLLOCATE_TEST_GPU") != "" {
		t.Skip("drivers take memory of their own")
	}
	r := rand.New(rand.NewPCG(1, 8))
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: 64}
	d := drawn{field: f, parts: []nearest.Part{
		{Column: densetest.Column(t, f, densetest.Vectors(r, &f, 3000))},
		{Column: densetest.Column(t, f, densetest.Vectors(r, &f, 2000)), Base: 3000},
	}}
	for _, v := range densetest.Vectors(r, &fields.Field{Dim: f.Dim}, 3) {
		d.queries = append(d.queries, nearest.NewQuery(&f, v))
	}
	wants := slices.Repeat([]nearest.Want{nearest.Best(7)}, 3)
	h := opened(t, 0)
	free, total, err := h.g.session.Dev.MemInfo()
	if err != nil {
		t.Fatal(err)
	}
	pass, rows := int64(0), int64(0)
	for _, p := range d.parts {
		a, b := bytesOf(p.Column)
		pass, rows = pass+a, rows+b
	}
	scratch := func() int64 {
		p := pass0(h, &d, wants)
		return p.bytes(1)
	}()
	for _, c := range []struct {
		memory int64
		sums   bool
		why    string
	}{
		{pass + rows + scratch, true, ""},
		{pass + scratch + rows/2, false, ""},
		{pass + scratch - 1, false, "the vectors need"},
	} {
		h := opened(t, total-free+c.memory)
		lists, reports, err := h.Search(t.Context(), d.parts, d.queries, wants)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range d.queries {
			if !strings.HasPrefix(reports[i].Why, c.why) || (c.why == "") != (reports[i].Why == "") {
				t.Fatalf("%d bytes: %q, want %q", c.memory, reports[i].Why, c.why)
			}
			if c.why == "" {
				same(t, 0, i, lists[i].Hits, definition(t, &d, q, wants[i]))
			}
		}
		for _, on := range h.g.columns {
			if on.summed != c.sums {
				t.Errorf("%d bytes: rows on the device: %v", c.memory, on.summed)
			}
		}
	}
	wants[0].K = mostK + 1 // more than there are
	lists, reports, err := h.Search(t.Context(), d.parts, d.queries, wants)
	if err != nil || reports[0].Why != "" || len(lists[0].Hits) != 5000 {
		t.Errorf("k %d: %d hits, %+v, %v", mostK+1, len(lists[0].Hits), reports, err)
	}
	many := []nearest.Part{{Column: dense.Generate(&f, mostK+100, func(d int, v []float32) { v[d%64] = 1 })}}
	_, reports, err = h.Search(t.Context(), many, d.queries, wants)
	if err != nil || !strings.Contains(reports[0].Why, "at most 65,536") || reports[1].Why != "" {
		t.Errorf("k %d: %+v, %v", mostK+1, reports, err)
	}
}

// pass0 returns the plan of a search.
func pass0(h *handle, d *drawn, wants []nearest.Want) *pass {
	p := &pass{g: h.g, parts: d.parts, wants: wants}
	p.count()
	which := make([]int, len(wants))
	for i := range which {
		which[i] = i
	}
	p.plan(which)
	return p
}

// A column stays on the device as long as a reference uses it, and is brought there once.
func TestReferences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: 20}
	first := nearest.Part{Column: densetest.Column(t, f, densetest.Vectors(r, &f, 100))}
	second := nearest.Part{Column: densetest.Column(t, f, densetest.Vectors(r, &f, 50)), Base: 100}
	query := nearest.NewQuery(&f, densetest.Gauss(r, f.Dim, 1))
	search := func(h nearest.OnDevice, parts ...nearest.Part) {
		t.Helper()
		if _, _, err := h.Search(t.Context(), parts, []*nearest.Query{query}, []nearest.Want{nearest.Best(3)}); err != nil {
			t.Fatal(err)
		}
	}
	a := opened(t, 0)
	search(a, first, second)
	was := a.g.columns[second.Column]
	b := a.Another([]*dense.Column{second.Column}).(*handle)
	if err := b.Close(); err != nil || len(a.g.columns) != 2 {
		t.Fatalf("%d columns, %v; want 2", len(a.g.columns), err)
	}
	b = a.Another([]*dense.Column{second.Column}).(*handle)
	search(b, second)
	if a.g.columns[second.Column] != was {
		t.Error("a column was brought to the device twice")
	}
	if err := a.Close(); err != nil || len(b.g.columns) != 1 {
		t.Fatalf("%d columns, %v; want 1", len(b.g.columns), err)
	}
	a.g.handles++ // for the close at the test's end
	search(b, first, second)
	if err := b.Close(); err != nil || len(b.g.columns) != 0 {
		t.Fatalf("%d columns, %v; want none", len(b.g.columns), err)
	}
}

// A cancelled search ends with the context's error, and the next one is answered.
func TestCancelled(t *testing.T) {
	d := draw(t, rand.New(rand.NewPCG(3, 3)), 300, 2)
	h := opened(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wants := slices.Repeat([]nearest.Want{nearest.Best(3)}, 2)
	if _, _, err := h.Search(ctx, d.parts, d.queries, wants); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context was cancelled", err)
	}
	lists, _, err := h.Search(t.Context(), d.parts, d.queries, wants)
	if err != nil {
		t.Fatal(err)
	}
	same(t, 3, 0, lists[0].Hits, definition(t, &d, d.queries[0], wants[0]))
}
