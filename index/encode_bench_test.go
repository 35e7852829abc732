package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkEncode encodes lists of words that occur in one of `every` documents, and in the share
// `often` of those more than once. In short documents only frequent words occur more than once, in
// long documents others do too.
func BenchmarkEncode(b *testing.B) {
	const docs, postings = 20_000_000, 500_000
	rng := rand.New(rand.NewPCG(43, 44))
	lengths := make([]uint32, docs)
	for d := range lengths {
		lengths[d] = uint32(15 + rng.IntN(12) + rng.IntN(12))
	}
	table, err := newLengthTable(lengths, 0, 0, 1<<40, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ every, often float64 }{{4, 0.12}, {20, 0.025}, {200, 0.0025}, {3_000, 0},
		{20_000, 0}, {200, 0.1}, {200, 0.3}, {200, 0.6}} {
		every := c.every
		lists, n := [][]uint32{nil}, 0
		tfs := make([]uint32, postings)
		for d := 0.0; n < postings; n++ {
			if d += 1 + rng.ExpFloat64()*(every-1); d >= docs {
				lists, d = append(lists, nil), rng.ExpFloat64()*every
			}
			last := &lists[len(lists)-1]
			*last = append(*last, uint32(d))
			tfs[n] = 1
			if rng.Float64() < c.often {
				tfs[n] = 2 + uint32(rng.ExpFloat64())
			}
		}
		b.Run(fmt.Sprintf("1in%v/%v", every, c.often), func(b *testing.B) {
			e := newEncoder(table, &Documents{}, func(*chunk) error { return nil })
			for b.Loop() {
				e.word = e.word[:0]
				for i, list := range lists {
					e.known = uint32(len(list))
					word := fmt.Appendf(nil, "%09d", i)
					for len(list) > 0 {
						some := list[:min(len(list), 8192)]
						if err := e.add(word, some, tfs[:len(some)], nil); err != nil {
							b.Fatal(err)
						}
						list = list[len(some):]
					}
				}
				if err := e.end(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/postings, "ns/posting")
		})
	}
}
