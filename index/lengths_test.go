package index

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
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

// Few frequencies above 1 are judged as any are: the same x, the same lowest one, the same bound.
func TestJudgingFewOrMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, kinds := range []uint32{1, 40, 256, 400} {
		common := kinds
		if kinds > 256 {
			common = 255
		}
		lengths := make([]uint32, 20_000)
		for d := range lengths {
			if lengths[d] = 5 + rng.Uint32N(common); rng.IntN(3_000) == 0 {
				lengths[d] = 5 + rng.Uint32N(kinds) // a rare one, if there are many kinds
			}
		}
		table, err := newLengthTable(lengths, 0, 1<<20, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if table.codes == nil {
			t.Fatalf("%d lengths have no codes", kinds)
		}
		for range 3_000 / trials.Every(10) {
			n := 1 + rng.IntN(BlockSize)
			docs, tfs, many := make([]uint32, n), make([]uint32, n), []uint8(nil)
			often := rng.Float64() * rng.Float64()
			first := rng.IntN(len(lengths) - 10*n)
			for i := range docs {
				docs[i] = uint32(first + 10*i + rng.IntN(10))
				if rng.Float64() < often {
					tfs[i], many = 1+rng.Uint32N(1<<rng.IntN(10)), append(many, uint8(i))
				}
			}
			got, want := make([]uint32, n), make([]uint32, n)
			f, g := newFrontier(table), newFrontier(table)
			low, wantLow := table.judge(docs, tfs, many, got, f), table.judgeCodes(docs, tfs, want, g)
			if low != wantLow || !slices.Equal(got, want) {
				t.Fatalf("%d of %d frequencies above 1: x\n%v\nand not\n%v", len(many), n, got, want)
			}
			if b, c := f.take(), g.take(); b != c {
				t.Fatalf("%d of %d frequencies above 1: bound %x, want %x", len(many), n, b, c)
			}
		}
	}
}
