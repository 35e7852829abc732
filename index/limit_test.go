package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// After Limit(n) a cursor gives only the first n postings, with Next, with Seek and block by block.
func TestLimitEndsAList(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 20 / trials.Every(4) {
		p := randomIndex(rng, 3000, 12)
		r := p.write(t)
		var c Cursor
		for id, docs := range p.docs {
			term, err := r.Term(id)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				n := rng.IntN(len(docs) + 3)
				if err := r.Open(term, &c); err != nil {
					t.Fatal(err)
				}
				c.Limit(n)
				n = min(n, len(docs))
				var got, tfs []uint32
				for c.Doc() != End {
					got, tfs = append(got, c.Doc()), append(tfs, c.TF())
					c.Next()
				}
				if !slices.Equal(got, docs[:n]) || !slices.Equal(tfs, p.tfs[id][:n]) || c.Err() != nil {
					t.Fatalf("a list of %d limited to %d has documents %v (%v), want %v", len(docs), n, got,
						c.Err(), docs[:n])
				}
				if err := r.Open(term, &c); err != nil {
					t.Fatal(err)
				}
				c.Limit(n)
				for target := uint32(0); c.Doc() != End; target += uint32(rng.IntN(200)) {
					want := uint32(End)
					if at, _ := slices.BinarySearch(docs[:n], max(target, c.Doc())); at < n {
						want = docs[at]
					}
					if got := c.Seek(target); got != want {
						t.Fatalf("Seek(%d) = %d, want %d", target, got, want)
					}
				}
				var d, f [BlockSize]uint32
				for b := range c.Blocks() {
					if c.DecodeDocs(b, &d) != min(BlockSize, n-b*BlockSize) ||
						c.DecodeTFs(b, &f) != min(BlockSize, n-b*BlockSize) {
						t.Fatalf("block %d of a list limited to %d has %d documents and %d frequencies, want %d",
							b, n, c.DecodeDocs(b, &d), c.DecodeTFs(b, &f), min(BlockSize, n-b*BlockSize))
					}
				}
			}
		}
	}
}
