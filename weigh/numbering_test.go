package weigh

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers are the same as in a table of all documents, for stretches of all lengths.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ least, most uint32 }{{0, 1}, {0, 3}, {0, 64}, {0, 65}, {0, 1000},
		{64, 64}, {64, 100}, {64, 2000}, {1000, 3000}, {5000, 9000}} {
		most := c.most
		var n numbering
		var want []uint32
		doc := uint32(0)
		for len(want) < 5000 || c.least >= 1000 && len(want) < 50_000 {
			doc += rng.Uint32N(2) * rng.Uint32N(most) // often right after the previous stretch
			docs := c.least + rng.Uint32N(most-c.least+1)
			n.add(doc, docs)
			for range docs {
				want = append(want, doc)
				doc++
			}
		}
		n.finish()
		if c.least > 0 && n.short {
			t.Errorf("stretches of %d to %d documents count as short", c.least, most)
		}
		for _, step := range []uint32{1, 2, 50, 700} { // frequent words and rare ones
			var got, some []uint32
			for i := rng.Uint32N(step); int(i) < len(want); i += 1 + rng.Uint32N(2*step-1) {
				got, some = append(got, i), append(some, want[i])
			}
			n.of(got)
			if !slices.Equal(got, some) || int(n.docs) != len(want) {
				t.Errorf("stretches of %d to %d, one of %d documents: got %d, want %d", c.least, most, step,
					got, some)
			}
		}
	}
}

// BenchmarkNumbering numbers the documents of words of several frequencies, in several runs, as
// merging does.
func BenchmarkNumbering(b *testing.B) {
	const runs, docs, batch = 8, 6_000_000, 6_900
	var all [runs]numbering
	for i := range all {
		for d := uint32(0); d < docs; d += batch {
			all[i].add(uint32(i)*2*docs+2*d, batch)
		}
		all[i].finish()
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, every := range []uint32{20, 500, 3_000, 20_000} {
		b.Run(fmt.Sprintf("1in%d", every), func(b *testing.B) {
			lists := make([][groupLen]uint32, 20_000)
			for i := range lists {
				d := rng.Uint32N(docs)
				for k := range lists[i] {
					d += 1 + rng.Uint32N(2*every-1)
					lists[i][k] = d % docs
				}
				slices.Sort(lists[i][:])
			}
			var some [groupLen]uint32
			n := 0
			for b.Loop() {
				some = lists[n%len(lists)]
				all[n%runs].of(some[:])
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/groupLen, "ns/posting")
		})
	}
}
