package nearest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/cpu"
	"github.com/collocate/collocate/internal/densetest"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/search/internal/ask"
)

// definition is the answer by the definition: every admitted vector is compared.
func definition(f *fields.Field, parts []Part, vector []float32, k int) []ask.Hit {
	hits := []ask.Hit{}
	for _, p := range parts {
		for d := range p.Column.Docs() {
			if !p.Column.Has(d) || p.Within != nil && p.Within[d/64]>>(d%64)&1 == 0 {
				continue
			}
			most := float32(math.Inf(-1))
			for row, end := p.Column.Rows(d, d+1); row < end; row++ {
				x, _ := p.Column.Vector(row, nil)
				x = x[:f.Dim]
				switch f.Metric {
				case fields.Euclidean:
					most = max(most, float32(1/(1+float64(dense.Distance(vector, x)))))
				case fields.Cosine:
					most = max(most, float32(float64(dense.Sum(vector, x))/(float64(fields.Norm(vector))*float64(fields.Norm(x)))))
				default:
					most = max(most, dense.Sum(vector, x))
				}
			}
			hits = append(hits, ask.Hit{Doc: p.Base + uint32(d), Score: most})
		}
	}
	slices.SortStableFunc(hits, func(a, b ask.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(k, len(hits))]
}

// bestOf returns the k best documents of each query.
func bestOf(parts []Part, queries []*Query, k, threads int) ([][]ask.Hit, error) {
	wants := slices.Repeat([]Want{Best(k)}, len(queries))
	lists, err := Search(context.Background(), parts, queries, wants, threads)
	hits := make([][]ask.Hit, len(lists))
	for i, l := range lists {
		hits[i] = l.Hits[:min(k, len(l.Hits))]
	}
	return hits, err
}

// The answers are those of the definition, to the bit, for every metric, precision, level of vector
// instructions, number of threads, filter, batch and number of segments.
func TestBestIsTheDefinition(t *testing.T) {
	was := cpu.Used()
	defer cpu.Use(was)
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := fields.Field{Name: "v", Type: fields.Vector, Dim: 1 + r.IntN(200), Metric: fields.Metric(r.IntN(3)),
			Precision: fields.Precision(r.IntN(3)), Optional: r.IntN(3) == 0, Many: r.IntN(3) == 0}
		var parts []Part
		base := uint32(0)
		for range 1 + r.IntN(3) {
			p := Part{Column: densetest.Column(t, f, densetest.Vectors(r, &f, r.IntN(400))), Base: base}
			base += uint32(p.Column.Docs())
			if rare := []int{0, 2, 100}[r.IntN(3)]; rare > 0 {
				p.Within = make([]uint64, (p.Column.Docs()+63)/64)
				for d := range p.Column.Docs() {
					if r.IntN(rare) == 0 || rare == 2 && d > 64 && d < 200 {
						p.Within[d/64] |= 1 << (d % 64)
					}
				}
			}
			parts = append(parts, p)
		}
		vectors := densetest.Vectors(r, &fields.Field{Dim: f.Dim}, []int{1, 2, 13}[r.IntN(3)])
		if x := parts[0].Column; x.Docs() > 0 && x.Has(0) { // a query that is a document
			v, _ := x.Vector(0, nil)
			vectors[0] = slices.Clone(v[:f.Dim])
		}
		k := []int{1, 3, 10, 1000}[r.IntN(4)]
		var queries []*Query
		var want [][]ask.Hit
		for _, v := range vectors {
			queries = append(queries, NewQuery(&f, v))
			want = append(want, definition(&f, parts, v, k))
		}
		for _, level := range cpu.Levels() {
			cpu.Use(level)
			for _, threads := range []int{1, 3} {
				got, err := bestOf(parts, queries, k, threads)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Fatalf("seed %d, %v, %d threads, field %+v, query %d:\n%v\nwant\n%v", seed, level,
							threads, f, i, got[i], want[i])
					}
				}
			}
			if len(want[0]) > 0 {
				floor := float64(want[0][min(len(want[0])-1, k/2)].Score)
				wants := slices.Repeat([]Want{Best(k)}, len(queries)) // other queries want other documents
				wants[0] = Want{Floor: floor}
				lists, err := Search(context.Background(), parts, queries, wants, 1)
				if err != nil {
					t.Fatal(err)
				}
				got := lists[0].Hits
				all := definition(&f, parts, vectors[0], 1<<30)
				n := slices.IndexFunc(all, func(h ask.Hit) bool { return float64(h.Score) < floor })
				if n < 0 {
					n = len(all)
				}
				if !slices.Equal(got, all[:n]) {
					t.Fatalf("seed %d: %d documents above %v; want %d", seed, len(got), floor, n)
				}
				for most := max(1, n-1); most <= n; most++ {
					wants[0].Most = most
					lists, err := Search(context.Background(), parts, queries, wants, 2)
					many := n > most || f.Many && lists[0].Many // some vectors seemed nearer than they are
					if err != nil || lists[0].Many != many || !lists[0].Many && len(lists[0].Hits) != n {
						t.Fatalf("seed %d: of %d documents at most %d: %d, %v, %v", seed, n, most,
							len(lists[0].Hits), lists[0].Many, err)
					}
					last := len(want) - 1
					if last > 0 && !slices.Equal(lists[last].Hits[:len(want[last])], want[last]) {
						t.Fatalf("seed %d: another query that wants too many changes the hits of query %d", seed, last)
					}
				}
			}
		}
	}
}

// Kernels give the bits of their plain twins.
func TestKernelsAreTheirTwins(t *testing.T) {
	was := cpu.Used()
	defer cpu.Use(was)
	r := rand.New(rand.NewPCG(5, 5))
	for round := range 300 {
		n := 64 * (1 + r.IntN(8))
		rows, q := make([]int8, 200*n), make([]int8, n)
		for i := range rows {
			rows[i] = int8(r.IntN(256) - 128)
		}
		sum := int32(0)
		for i := range q {
			if q[i] = int8(r.IntN(255) - 127); round%3 == 0 {
				q[i] = 127 // as large as it gets
			}
			sum += int32(q[i])
		}
		if round%3 == 0 {
			for i := range rows {
				rows[i] = []int8{-128, 127}[round/3%2]
			}
		}
		var docs []uint32
		for d := range uint32(200) {
			if r.IntN(4) == 0 && len(docs) < block {
				docs = append(docs, d)
			}
		}
		a, b := densetest.Gauss(r, n, 1), densetest.Gauss(r, n, 100)
		scales, rests, norms := densetest.Gauss(r, block, 1), densetest.Gauss(r, block, 1), densetest.Gauss(r, block, 1)
		tst := test{1.5, 2.5, -3.5, float32(r.IntN(2)), float32(r.NormFloat64() * 1e3)}
		var wantDots [block]int32
		plainDots(q, rows, docs, &wantDots)
		for _, level := range cpu.Levels() {
			cpu.Use(level)
			var got [block]int32
			dots(q, sum, rows, docs, &got)
			if !slices.Equal(got[:len(docs)], wantDots[:len(docs)]) {
				t.Fatalf("%v: dot products %v, want %v", level, got, wantDots)
			}
			if got, want := products(a, b), dense.Sum(a, b); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("%v: sum %v, want %v", level, got, want)
			}
			if got, want := distance(a, b), dense.Distance(a, b); math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("%v: distance %v, want %v", level, got, want)
			}
			if got, want := reach(&wantDots, scales, rests, norms, block, &tst),
				plainReach(&wantDots, scales, rests, norms, block, &tst); got != want {
				t.Fatalf("%v: reached %x, want %x", level, got, want)
			}
			if !hasTiles {
				continue
			}
			six, sums := make([]int8, group*n), make([]int32, group)
			for i := range six {
				six[i] = int8(r.IntN(255) - 127)
				sums[i/n] += int32(six[i])
			}
			x := make(tile, block*n/4)
			var out [group][block]int32
			words, _ := sections.View[uint32](intBytes(rows))
			x.fill(words[n/4:], n, block)
			tileKernel(&x[0], &six[0], n, &sums[0], &out[0][0])
			for g := range group {
				var want [block]int32
				all := make([]uint32, block)
				for i := range all {
					all[i] = uint32(i + 1)
				}
				plainDots(six[g*n:(g+1)*n], rows, all, &want)
				if out[g] != want {
					t.Fatalf("query %d of a tile: %v, want %v", g, out[g], want)
				}
			}
		}
	}
}

func intBytes(v []int8) []byte {
	b := make([]byte, len(v))
	for i, x := range v {
		b[i] = byte(x)
	}
	return b
}

// The bounds hold, and the test lets every document pass that reaches a similarity, also the
// largest that it has. Vectors are chosen so that the difference of codes and vector points in the
// direction of the query, where a bound without it fails.
func TestBoundsHold(t *testing.T) {
	failures := map[string]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 9))
		f := fields.Field{Type: fields.Vector, Dim: 1 + r.IntN(96), Metric: fields.Metric(r.IntN(3))}
		x := densetest.Vectors(r, &f, 1)[0]
		v := densetest.Gauss(r, f.Dim, 1)
		switch r.IntN(4) {
		case 0: // the query is the rest of the vector
			codes := make([]int8, f.Dim)
			c := dense.Quantize(codes, x)
			for i := range v {
				v[i] = (x[i] - c.Scale*float32(codes[i])) * 1e3
			}
		case 1:
			copy(v, x)
		case 2:
			for i := range v {
				v[i] = -x[i]
			}
		}
		if f.CheckQuery(v) != nil || f.CheckVector(x) != nil {
			continue
		}
		q := NewQuery(&f, v)
		codes := make([]int8, dense.Stride(f.Dim))
		c := dense.Quantize(codes[:f.Dim], x)
		var out [block]int32
		plainDots(q.codes, codes, []uint32{0}, &out)
		padded := make([]float32, dense.Padded(f.Dim))
		copy(padded, x)
		s := q.exact(padded, c.Norm)
		low, high := q.between(out[0], c.Scale, c.Rest, c.Norm)
		if !(low <= float64(s) && float64(s) <= high) {
			t.Fatalf("seed %d, %v: similarity %v is not between %v and %v", seed, f.Metric, s, low, high)
		}
		tst := q.test(float64(s))
		if plainReach(&out, []float32{c.Scale}, []float32{c.Rest}, []float32{c.Norm}, 1, &tst) == 0 {
			t.Fatalf("seed %d, %v: a document of similarity %v does not reach it: %+v", seed, f.Metric, s, tst)
		}
		// Each term of the bound is needed: without it, some document is lost.
		for name, without := range map[string]func(q *Query){
			"rest of the query": func(q *Query) { q.rest = 0 },
			"rest of documents": func(q *Query) { q.coded = 0 },
		} {
			less := *q
			without(&less)
			tst := less.test(float64(s))
			if plainReach(&out, []float32{c.Scale}, []float32{c.Rest}, []float32{c.Norm}, 1, &tst) == 0 {
				failures[name]++
			}
		}
	}
	for _, name := range []string{"rest of the query", "rest of documents"} {
		if failures[name] == 0 {
			t.Errorf("the bound without the %s loses no document: the test is too weak", name)
		}
	}
}

func BenchmarkBest(b *testing.B) {
	const n = 100_000
	r := rand.New(rand.NewPCG(1, 1))
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: 384}
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = densetest.Gauss(r, f.Dim, 1)
	}
	parts := []Part{{Column: densetest.Column(b, f, vectors)}}
	for _, batch := range []int{1, 6, 100, 1000} {
		var queries []*Query
		for range batch {
			queries = append(queries, NewQuery(&f, densetest.Gauss(r, f.Dim, 1)))
		}
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			for b.Loop() {
				if _, err := bestOf(parts, queries, 10, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch)/n*1000, "ps/doc/query")
		})
	}
}
