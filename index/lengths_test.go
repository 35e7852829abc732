package index

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Lengths that are not stored are those of the classes; whoever wants them from a file that was
// truncated meanwhile is told.
func TestLengthsOfClasses(t *testing.T) {
	for _, kinds := range []uint32{3, 300} {
		p := &plainIndex{words: []string{"w"}, docs: [][]uint32{{0}}, tfs: [][]uint32{{1}}}
		for d := range uint32(10_000) {
			p.lengths, p.ids = append(p.lengths, 1+d%kinds), append(p.ids, "")
		}
		r := p.write(t)
		if stored := r.meta.flags&flagNoLengths == 0; stored != (kinds > 256) {
			t.Errorf("%d lengths: stored %v", kinds, stored)
		}
		if got, err := r.VerifiedLengths(); err != nil || !slices.Equal(got, p.lengths) {
			t.Errorf("%d lengths: others, %v", kinds, err)
		}
		if r.Length(17) != p.lengths[17] {
			t.Errorf("%d lengths: document 17 has %d", kinds, r.Length(17))
		}
		again := open(t, r.Dir())
		if err := os.Truncate(filepath.Join(r.Dir(), docsFile), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := again.VerifiedLengths(); err == nil {
			t.Errorf("%d lengths: no error", kinds)
		}
	}
}

// Documents whose length has no code of its own are judged by their own length. Check computes all
// bounds and ranks again.
func TestRareLengths(t *testing.T) {
	for _, test := range []struct {
		kinds, rare uint32 // common lengths, documents with others
		codes       bool
	}{{256, 0, true}, {255, 1, true}, {255, 9, true}, {255, 10, false}, {300, 0, false}} {
		p := &plainIndex{words: []string{"w"}, docs: [][]uint32{nil}, tfs: [][]uint32{nil}}
		for d := range uint32(10_000) {
			length := 1000 + d%test.kinds
			if d < test.rare {
				length = 70_000 - 7_500*d // more than are counted, and fewer; the last ones are short
			}
			p.lengths, p.ids = append(p.lengths, max(length, 4)), append(p.ids, "")
			p.docs[0], p.tfs[0] = append(p.docs[0], d), append(p.tfs[0], 1+d%3)
		}
		table, err := newLengthTable(p.lengths, 0, 1<<20, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (table.codes != nil) != test.codes || test.codes && len(table.rare) != int(test.rare) {
			t.Errorf("%+v: codes %v, %d rare", test, table.codes != nil, len(table.rare))
		}
		r := p.write(t)
		if got, err := r.VerifiedLengths(); err != nil || !slices.Equal(got, p.lengths) {
			t.Errorf("%+v: others, %v", test, err)
		}
		if err := r.Check(t.Context(), CheckOptions{}); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
