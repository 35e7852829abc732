package index

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// Lengths are not stored if each class is a single length. Reading them from a file that was
// truncated meanwhile is an error.
func TestLengthsOfClasses(t *testing.T) {
	for _, kinds := range []uint32{3, 300} {
		p := &plainIndex{words: []string{"w"}, docs: [][]uint32{{0}}, tfs: [][]uint32{{1}}}
		for d := range uint32(10_000) {
			p.lengths, p.ids = append(p.lengths, 1+d%kinds), append(p.ids, "")
		}
		r := p.write(t)
		if stored := r.meta.flags&flagNoLengths == 0; stored != (kinds > 256) {
			t.Errorf("%d different lengths: stored %v, want %v", kinds, stored, !stored)
		}
		if got, err := r.VerifiedLengths(); err != nil || !slices.Equal(got, p.lengths) {
			t.Errorf("%d different lengths: %d, %v; want %d", kinds, got, err, p.lengths)
		}
		if r.Length(17) != p.lengths[17] {
			t.Errorf("%d different lengths: document 17 has %d, want %d", kinds, r.Length(17), p.lengths[17])
		}
		again := open(t, r.Dir())
		if err := os.Truncate(filepath.Join(r.Dir(), docsFile), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := again.VerifiedLengths(); err == nil {
			t.Errorf("%d different lengths: no error from a truncated file", kinds)
		}
	}
}

// Up to 256 lengths have codes of one byte. With more, the rare ones have none and are looked up;
// with many rare ones there are no codes. Check recomputes all bounds and ranks.
func TestRareLengths(t *testing.T) {
	for _, test := range []struct {
		kinds, rare uint32 // common lengths, documents with others
		codes       bool
	}{{256, 0, true}, {255, 1, true}, {255, 9, true}, {255, 10, false}, {300, 0, false}} {
		p := &plainIndex{words: []string{"w"}, docs: [][]uint32{nil}, tfs: [][]uint32{nil}}
		for d := range uint32(10_000) {
			length := 1000 + d%test.kinds
			if d < test.rare {
				length = 70_000 - 7_500*d // from longer than any that is counted down to short ones
			}
			p.lengths, p.ids = append(p.lengths, max(length, 4)), append(p.ids, "")
			p.docs[0], p.tfs[0] = append(p.docs[0], d), append(p.tfs[0], 1+d%3)
		}
		table, err := newLengthTable(p.lengths, 0, 0, 1<<20, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if (table.codes != nil) != test.codes || test.codes && len(table.rare) != int(test.rare) {
			t.Errorf("%d lengths and %d rare ones: codes %v, %d rare; want codes %v", test.kinds, test.rare,
				table.codes != nil, len(table.rare), test.codes)
		}
		r := p.write(t)
		if got, err := r.VerifiedLengths(); err != nil || !slices.Equal(got, p.lengths) {
			t.Errorf("%+v: lengths %d, %v; want %d", test, got, err, p.lengths)
		}
		if err := r.Check(t.Context(), CheckOptions{}); err != nil {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// The path for blocks with few frequencies above 1 gives the same x, lowest x and bound as the
// general one.
func TestJudgeEqualsJudgeCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, kinds := range []uint32{1, 40, 256, 400} {
		common := kinds
		if kinds > 256 {
			common = 255
		}
		lengths := make([]uint32, 20_000)
		for d := range lengths {
			if lengths[d] = 5 + rng.Uint32N(common); rng.IntN(3_000) == 0 {
				lengths[d] = 5 + rng.Uint32N(kinds) // a rare one, if there are more than 256 kinds
			}
		}
		table, err := newLengthTable(lengths, 0, 0, 1<<20, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		if table.codes == nil {
			t.Fatalf("%d lengths have no codes, want some", kinds)
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
				t.Fatalf("%d of %d frequencies above 1: lowest x %v, want %v\n got %v\nwant %v", len(many), n,
					low, wantLow, got, want)
			}
			if b, c := f.take(), g.take(); b != c {
				t.Fatalf("%d of %d frequencies above 1: bound %x, want %x", len(many), n, b, c)
			}
		}
	}
}
