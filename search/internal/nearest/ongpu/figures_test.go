package ongpu

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
)

// topics makes vectors in clusters: one of 4,096 centres, and as much noise again. Each number
// depends on its document and place alone.
type topics struct {
	dim     int
	centres []float32
}

const topicCount = 4096

// mixed scrambles a number, as splitmix64 does.
func mixed(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// noise writes numbers that are sums of two even ones, with variance 1.
func noise(seed uint64, v []float32) {
	var bits uint64
	for i := range v {
		if i%4 == 0 {
			bits = mixed(seed + uint64(i)<<40)
		}
		v[i] = float32(int(bits&255)+int(bits>>8&255)-255) * (1 / 104.5)
		bits >>= 16
	}
}

func newTopics(dim int) *topics {
	t := &topics{dim, make([]float32, topicCount*dim)}
	for i := range topicCount {
		noise(mixed(uint64(i)), t.centres[i*dim:][:dim])
	}
	return t
}

func (t *topics) vector(doc int, v []float32) {
	seed := mixed(uint64(doc) + 1<<33)
	noise(seed, v)
	for i, c := range t.centres[int(seed>>40%topicCount)*t.dim:][:t.dim] {
		v[i] += c
	}
}

// bruteForce returns the k best documents, comparing all as package dense defines it.
func bruteForce(c *dense.Column, q *nearest.Query, k int) []ask.Hit {
	threads := runtime.GOMAXPROCS(0)
	hits := make([][]ask.Hit, threads)
	order := func(a, b ask.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc)) }
	par.For(threads, c.Docs(), 4096, func(worker, from, to int) {
		for d := from; d < to; d++ {
			s, _, _ := nearest.Similarity(q, c, d)
			hits[worker] = append(hits[worker], ask.Hit{Doc: uint32(d), Score: s})
		}
		slices.SortFunc(hits[worker], order)
		hits[worker] = hits[worker][:min(k, len(hits[worker]))]
	})
	all := slices.Concat(hits...)
	slices.SortFunc(all, order)
	return all[:min(k, len(all))]
}

// TestFigures measures searches on a device and compares them with the cores and with brute force.
// COLLOCATE_FIGURES is "documents dimensions precision queries", such as
// "8800000 768 float16 1000".
func TestFigures(t *testing.T) {
	var docs, dim, batch int
	var precision string
	if _, err := fmt.Sscan(os.Getenv("COLLOCATE_FIGURES"), &docs, &dim, &precision, &batch); err != nil {
		t.Skip("COLLOCATE_FIGURES names no sizes")
	}
	f := fields.Field{Name: "v", Type: fields.Vector, Dim: dim}
	switch precision {
	case "float16":
		f.Precision = fields.Float16
	case "int8":
		t.Fatal("the numbers are no whole ones")
	}
	h := opened(t, 0)
	of := newTopics(dim)
	since := time.Now()
	lap := func(format string, args ...any) {
		t.Logf("%8.3f s  %s", time.Since(since).Seconds(), fmt.Sprintf(format, args...))
		since = time.Now()
	}
	parts := []nearest.Part{{Column: dense.Generate(&f, docs, of.vector)}}
	lap("%d documents of %d dimensions made", docs, dim)
	var queries []*nearest.Query
	for i := range batch {
		v := make([]float32, dim)
		of.vector(docs+i, v)
		queries = append(queries, nearest.NewQuery(&f, v))
	}
	best := func(n, k int) []nearest.Want { return slices.Repeat([]nearest.Want{nearest.Best(k)}, n) }
	if _, _, err := h.Search(t.Context(), parts, queries[:1], best(1, 10)); err != nil {
		t.Fatal(err)
	}
	lap("brought to the device, and searched once")
	onDevice := func(n, k int) []nearest.List {
		lists, reports, err := h.Search(t.Context(), parts, queries[:n], best(n, k))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if r.Why != "" {
				t.Fatal(r.Why)
			}
		}
		return lists
	}
	median := func(times int, do func(i int)) time.Duration {
		took := make([]time.Duration, times)
		for i := range took {
			start := time.Now()
			do(i)
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		return took[times/2]
	}
	stages := func(n, k int) {
		h.g.trace = func(stage string, took time.Duration) { t.Logf("%14v  %d queries, k %d: %s", took, n, k, stage) }
		onDevice(n, k)
		h.g.trace = nil
	}
	for _, k := range []int{10, 100} {
		_, reports, err := h.Search(t.Context(), parts, queries[:1], best(1, k))
		if err != nil {
			t.Fatal(err)
		}
		alone := median(31, func(i int) {
			if _, _, err := h.Search(t.Context(), parts, queries[i%batch:][:1], best(1, k)); err != nil {
				t.Fatal(err)
			}
		})
		_, many, err := h.Search(t.Context(), parts, queries, best(batch, k))
		if err != nil {
			t.Fatal(err)
		}
		lap("k %d alone: %v, candidates and sums %+v; in a batch %+v", k, alone, reports[0], many[0])
		for _, n := range []int{2, 16, 128, batch} {
			n := min(n, batch)
			lap("k %d, %d queries: %v", k, n, median(5, func(int) { onDevice(n, k) }))
		}
		stages(1, k)
		stages(batch, k)
		start := time.Now()
		want, err := nearest.Search(t.Context(), parts, queries, best(batch, k), 0)
		if err != nil {
			t.Fatal(err)
		}
		lap("k %d, %d queries on %d cores: %v", k, batch, runtime.GOMAXPROCS(0), time.Since(start))
		got, differ := onDevice(batch, k), 0
		for i := range want {
			if !slices.Equal(got[i].Hits[:k], want[i].Hits[:k]) {
				differ++
			}
		}
		lap("k %d: %d of %d lists differ from those of the cores", k, differ, batch)
		for i := range 2 {
			if !slices.Equal(bruteForce(parts[0].Column, queries[i], k), got[i].Hits[:k]) {
				t.Errorf("k %d, query %d differs from brute force", k, i)
			}
		}
		lap("k %d: 2 lists compared with brute force", k)
		if differ > 0 {
			t.Error("lists differ")
		}
	}
	coresAlone := median(5, func(i int) {
		if _, err := nearest.Search(t.Context(), parts, queries[i:i+1], best(1, 10), 0); err != nil {
			t.Fatal(err)
		}
	})
	lap("k 10 alone on %d cores: %v", runtime.GOMAXPROCS(0), coresAlone)
	// Filters of a tenth and a hundredth.
	for _, rare := range []uint64{10, 100} {
		within := make([]uint64, (docs+63)/64)
		for d := range docs {
			if mixed(uint64(d))%rare == 0 {
				within[d/64] |= 1 << (d % 64)
			}
		}
		parts[0].Within = within
		device := median(11, func(i int) { onDevice(1, 10) })
		cores := median(5, func(i int) {
			if _, err := nearest.Search(t.Context(), parts, queries[:1], best(1, 10), 0); err != nil {
				t.Fatal(err)
			}
		})
		many := median(3, func(int) { onDevice(batch, 10) })
		lap("within 1/%d: alone %v, on cores %v; %d queries %v", rare, device, cores, batch, many)
	}
}
