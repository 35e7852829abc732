package weigh

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Numbers are those of a table of all documents, whatever the lengths of stretches.
func TestNumbering(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, most := range []uint32{1, 3, 64, 65, 1000} {
		var n numbering
		var want []uint32
		doc := uint32(0)
		for len(want) < 5000 {
			doc += rng.Uint32N(2) * rng.Uint32N(most) // sometimes right behind the last
			docs := rng.Uint32N(most + 1)
			n.add(doc, docs)
			for range docs {
				want = append(want, doc)
				doc++
			}
		}
		got := make([]uint32, len(want))
		for i := range got {
			got[i] = uint32(i)
		}
		n.of(got)
		if !slices.Equal(got, want) || int(n.docs) != len(want) {
			t.Errorf("stretches of up to %d: other numbers", most)
		}
	}
}
