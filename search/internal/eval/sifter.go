package eval

import (
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/search/internal/simd"
)

// sifter bounds the scores of a list's postings without fetching lengths. Documents are divided
// into buckets by length, and a document's bucket takes half a byte. The shortest length of the
// bucket gives an upper bound of the score.
type sifter struct {
	halves []uint8                  // buckets of the documents, two to a byte
	k      [simd.NumBuckets]float32 // k of BM25 for the shortest length of each bucket
}

// prepare prepares the sifter for a list, if that pays.
func (s *sifter) prepare(l *list) {
	if s.halves = nil; l.bm25 != nil && l.Term.DF >= worthBuckets {
		s.make(l)
	}
}

// make prepares the sifter for a list.
func (s *sifter) make(l *list) {
	b := l.bm25.W.C.Buckets.Ready()
	s.halves = b.Halves
	for i, low := range b.Low {
		s.k[i] = l.bm25.K(low)
	}
}

// ready reports whether the sifter is prepared.
func (s *sifter) ready() bool { return s.halves != nil }

// sift keeps the postings whose score can be above need. The outs may be the front of docs and tfs;
// they must have room for simd.KernelSlack more.
func (s *sifter) sift(l *list, docs, tfs []uint32, need float64, outDocs, outTFs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	tfs = tfs[:len(docs)]
	limit := l.bm25.Limit(need)
	if simd.HasWideKernels {
		return simd.SiftHalves(&docs[0], &tfs[0], &s.halves[0], len(docs), &l.bm25.Kernel, &s.k[0],
			limit, &outDocs[0], &outTFs[0])
	}
	return s.plainSift(docs, tfs, limit, outDocs, outTFs)
}

func (s *sifter) plainSift(docs, tfs []uint32, limit float32, outDocs, outTFs []uint32) (n int) {
	for i, d := range docs {
		k := s.k[s.halves[d/2]>>(d%2*4)&(simd.NumBuckets-1)]
		outDocs[n], outTFs[n] = d, tfs[i]
		if float32(k*bm25.Reciprocal(tfs[i])) <= limit {
			n++
		}
	}
	return n
}
