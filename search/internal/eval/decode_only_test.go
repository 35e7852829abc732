package eval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// decodeOnly returns exactly the postings of a block that are in the set and not before a document,
// for sets of none to three of the block's documents, in bitmap blocks and in others.
func TestDecodeOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 28))
	const docs = 3000
	var lines []string
	for range docs {
		line := "x"
		if rng.IntN(3) > 0 {
			line += " dense" + []string{"", " dense"}[rng.IntN(2)]
		}
		if rng.IntN(15) == 0 {
			line += " thin" + []string{"", " thin thin"}[rng.IntN(2)]
		}
		lines = append(lines, line)
	}
	s := buildLines(t, "whitespace", lines...)
	bits, single := map[bool]int{}, 0
	for _, word := range []string{"dense", "thin"} {
		q, err := s.e.Prepare(t.Context(), &ask.Request{Words: []ask.Word{{Text: word}}})
		if err != nil {
			t.Fatal(err)
		}
		l := q.Lists[0]
		for block := range l.Blocks() {
			words, _ := l.Words(block)
			bits[words != nil]++
			has := slices.Clone(l.Load(block))
			tfs := slices.Clone(l.TFs())
			for size := range 4 {
				l.only = docset.New(docs)
				for range size {
					l.only.Add(has[rng.IntN(len(has))])
				}
				for _, from := range []uint32{0, has[0], has[1], has[len(has)/2], has[len(has)-1] + 1} {
					var wantDocs, wantTFs []uint32
					for i, doc := range has {
						if doc >= from && l.only.Has(doc) {
							wantDocs, wantTFs = append(wantDocs, doc), append(wantTFs, tfs[i])
						}
					}
					if l.only.Count() == 1 && len(wantDocs) == 0 {
						single++
					}
					var gotDocs, gotTFs [index.BlockSize]uint32
					n, ok := l.decodeOnly(block, from, l.only.Words(), &gotDocs, &gotTFs)
					if !ok || !slices.Equal(gotDocs[:n], wantDocs) || !slices.Equal(gotTFs[:n], wantTFs) {
						t.Fatalf("%s, block %d from document %d: %v %v, want %v %v", word, block, from,
							gotDocs[:n], gotTFs[:n], wantDocs, wantTFs)
					}
				}
			}
		}
		s.e.Release(q)
	}
	if bits[true] == 0 || bits[false] == 0 || single == 0 {
		t.Errorf("%d bitmap blocks, %d others, %d times a single posting before from: want some of each",
			bits[true], bits[false], single)
	}
}
