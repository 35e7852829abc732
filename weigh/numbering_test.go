package weigh

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers are those of a table of all documents, whatever the lengths of stretches.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ least, most uint32 }{{0, 1}, {0, 3}, {0, 64}, {0, 65}, {0, 1000},
		{numberingStep, numberingStep}, {numberingStep, 100}, {numberingStep, 2000}} {
		most := c.most
		var n numbering
		var want []uint32
		doc := uint32(0)
		for len(want) < 5000 {
			doc += rng.Uint32N(2) * rng.Uint32N(most) // sometimes right behind the last
			docs := c.least + rng.Uint32N(most-c.least+1)
			n.add(doc, docs)
			for range docs {
				want = append(want, doc)
				doc++
			}
		}
		if c.least > 0 && n.short {
			t.Errorf("stretches of %d to %d documents are told to be short", c.least, most)
		}
		for _, step := range []uint32{1, 2, 50, 700} { // frequent words and rare ones
			var got, some []uint32
			for i := rng.Uint32N(step); int(i) < len(want); i += 1 + rng.Uint32N(2*step-1) {
				got, some = append(got, i), append(some, want[i])
			}
			n.of(got)
			if !slices.Equal(got, some) || int(n.docs) != len(want) {
				t.Errorf("stretches of %d to %d, every %d. document: other numbers", c.least, most, step)
			}
		}
	}
}
