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
