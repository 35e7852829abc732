package eval

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/model"
)

// The lists of these tests are short, so the limit is lowered: lists of a few blocks are sifted.
func init() { worthBuckets = 300 }

// The documents of a bucket are not shorter than its lower bound, and no document that can win by
// its exact score is sifted out, on any CPU level.
func TestSiftingKeepsWhatCanWin(t *testing.T) { cputest.Levels(t, testSiftingKeepsWhatCanWin) }

func testSiftingKeepsWhatCanWin(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 700 / trials.Every(5) {
		s, docs, tfs := randomBlock(t, rng)
		c := s.W.C
		if c.Classes == nil || len(docs) == 0 {
			continue
		}
		slices.Sort(c.ClassLength[:]) // as an index has them
		for d, class := range c.Classes {
			c.Lengths[d] = c.ClassLength[class] + rng.Uint32N(3)
		}
		c.Buckets = &model.Buckets{Classes: c.Classes, Lengths: c.ClassLength}
		b := c.Buckets.Ready()
		for d, length := range c.Lengths {
			if low := b.Low[b.Halves[d/2]>>(d%2*4)&15]; low > length {
				t.Fatalf("a document of length %d is in a bucket from %d on", length, low)
			}
		}
		l := &list{bm25: s, Scorer: s}
		l.Term.DF = worthBuckets
		var sifter sifter
		sifter.prepare(l)
		need := float64(s.Score(tfs[0], c.Lengths[docs[0]])) * []float64{0.5, 1 - 1e-9, 1, 1 + 1e-9}[rng.IntN(4)]
		var fastDocs, fastTFs, plainDocs, plainTFs andBuffer[uint32]
		n := copy(fastTFs[:], tfs)
		n = sifter.sift(l, fastDocs[:copy(fastDocs[:], docs)], fastTFs[:n], need, fastDocs[:], fastTFs[:])
		want := sifter.plainSift(docs, tfs, s.Limit(need), plainDocs[:], plainTFs[:])
		if n != want || !slices.Equal(fastDocs[:n], plainDocs[:n]) || !slices.Equal(fastTFs[:n], plainTFs[:n]) {
			t.Fatalf("sifted %v, want %v", fastDocs[:n], plainDocs[:want])
		}
		for i, d := range docs {
			if float64(s.Score(tfs[i], c.Lengths[d])) > need && !slices.Contains(fastDocs[:n], d) {
				t.Fatalf("document %d is lost", d)
			}
		}
	}
}
