package weigh

import (
	"fmt"
	"slices"
	"testing"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/text"
)

// A text in pinned memory that is processed in pieces has the same weights, wherever pieces and
// copies end, and also if it starts again because there are more words than expected.
func TestGPUPieces(t *testing.T) {
	defer func(piece, copy int) { leastPiece, gpuCopy = piece, copy }(leastPiece, gpuCopy)
	for _, c := range []struct {
		name               string
		docs               []text.Document
		batch, piece, copy int
		pieces             int // minimum number of pieces
	}{
		{"many", documentsOf(11, 200, slices.Repeat([]int{20, 0, 7, 90, 1}, 12)...), 2, 300, 700, 5},
		{"copies of one word", documentsOf(12, 60, slices.Repeat([]int{5, 1}, 20)...), 3, 100, 16, 3},
		{"long documents", documentsOf(13, 100, 3, 1200, 2, 1, 100, 4), 1, 64, 4096, 2},
		{"growing", documentsOf(14, 4000, slices.Repeat([]int{300, 11}, 8)...), 2, 1000, 30_000, 4},
		{"empty in front", append(texts("", " ", ""), documentsOf(15, 30, 9, 0, 30, 5, 6)...), 1, 50, 100, 2},
		{"one piece", documentsOf(16, 30, 9, 0, 30), 1, 1 << 20, 1 << 20, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && (len(c.docs) > 20 || c.name == "growing" || c.name == "long documents") {
				t.Skip("many documents in the interpreter")
			}
			leastPiece, gpuCopy = c.piece, c.copy
			want := weightsOf(t, weighAll(t, c.docs, Options{Method: Sequential}, 1), 1)
			var known []string
			for i, r := range want {
				if i%5 == 0 {
					known = append(known, r.word)
				}
			}
			dev, _ := gputest.Device(t)
			corpus, err := pinCorpus(t.Context(), dev, shuffled(c.docs, 2, c.batch, 1), analyzer(t, "whitespace"), 2)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := corpus.Free(); err != nil {
					t.Error(err)
				}
			}()
			if n := len(corpus.in.plan()); n < c.pieces || n > len(shares) {
				t.Errorf("%d pieces, want %d to %d", n, c.pieces, len(shares))
			}
			for _, o := range []Options{{}, {Method: Dictionary},
				{Method: Dictionary, Dict: dictionary(t, dict.XBW, known...)},
				{Method: Dictionary, Dict: dictionary(t, dict.XBWPaper, known...), OnePiece: true,
					MergeSort: true}, {OnePiece: true}, {Method: Primitives}} {
				w, err := NewWeigher(corpus, o)
				if err != nil {
					t.Fatal(err)
				}
				for round := range 2 { // the second round reuses the memory of the first
					if err := w.Weigh(t.Context()); err != nil {
						t.Fatal(err)
					}
					same(t, weightsOf(t, w.Weights(), 1+2*round), want)
				}
				if len(w.pairs.gaps) != len(want) {
					t.Errorf("%d pairs, want %d", len(w.pairs.gaps), len(want))
				}
				if err := w.Free(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Pieces are consecutive and cover all parts, and the last one is small.
func TestGPUPlan(t *testing.T) {
	for _, parts := range []int{1, 2, 7, 100, 500, 4000} {
		c := &gpuChunk{}
		for i := range parts {
			s := gpuSize{bytes: 1 << 20, words: 1000 + i, docs: 3, longest: i % 97}
			c.parts = append(c.parts, s)
			c.gpuSize = gpuSize{c.bytes + s.bytes, c.words + s.words, c.docs + s.docs, max(c.longest, s.longest)}
		}
		var sum gpuSize
		list := c.plan()
		for _, p := range list {
			if s := p.size(); p.from.bytes != sum.bytes || p.from.words != sum.words ||
				p.from.docs != sum.docs || s.bytes <= 0 {
				t.Fatalf("%d parts: piece %+v should begin at %+v", parts, p, sum)
			} else {
				sum = gpuSize{sum.bytes + s.bytes, sum.words + s.words, sum.docs + s.docs, max(sum.longest, s.longest)}
			}
		}
		if sum != c.gpuSize || len(list) > len(shares) {
			t.Errorf("%d parts: %d pieces add up to %+v, want at most %d pieces and %+v", parts,
				len(list), sum, len(shares), c.gpuSize)
		}
		if last := list[len(list)-1].size(); parts >= 100 && last.bytes > c.bytes/7 {
			t.Errorf("%d parts: the last piece has %d of %d bytes, want at most a seventh: %s", parts,
				last.bytes, c.bytes, fmt.Sprint(list))
		}
	}
}
