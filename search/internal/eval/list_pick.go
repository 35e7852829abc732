package eval

import "github.com/collocate/collocate/search/internal/simd"

// pick finds the postings whose score is above need. What it finds may take the place of docs.
func (l *list) pick(docs, tfs []uint32, need float64, outDocs []uint32, outScores []float32) int {
	if len(docs) == 0 {
		return 0
	}
	if s := l.bm25; s != nil && simd.HasKernels && len(outDocs) >= len(docs)+simd.KernelSlack &&
		len(outScores) >= len(docs)+simd.KernelSlack {
		return simd.Pick(&docs[0], &tfs[:len(docs)][0], &s.W.C.Lengths[0], len(docs), &s.Kernel,
			simd.Floor32(need), s.Limit(need), &outDocs[0], &outScores[0])
	}
	return l.plainPick(docs, tfs, need, outDocs, outScores)
}

func (l *list) plainPick(docs, tfs []uint32, need float64, outDocs []uint32,
	outScores []float32) (n int) {
	l.batch(docs, tfs, outScores[:len(docs)])
	for i, d := range docs {
		outDocs[n], outScores[n] = d, outScores[i]
		if float64(outScores[n]) > need {
			n++
		}
	}
	return n
}
