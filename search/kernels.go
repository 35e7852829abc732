package search

import (
	"math"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// The inner loops of scoring and choosing have two forms: plain Go, which defines them, and assembly for
// processors with AVX-512, 16 postings at a time. Documents come from decoded blocks, which are below
// the number of documents whatever the file holds, so that the assembly looks up no length that is not there.

// kernelModel is what the kernels know of a bm25Scorer. They know where each field is.
type kernelModel struct {
	a, b, weight, plus float32
	reciprocals        *[32]float32
	classes            *uint8   // of each document, or nil
	ofClass            *float32 // a + b*length of each class
	lastFour           uint32   // the document before the last three
}

func newKernelModel(t *bm25.Term, w *bm25Weigher) (m kernelModel) {
	m.a, m.b, m.weight, m.plus = t.A, t.B, t.Weight, t.Plus
	m.reciprocals = &smallReciprocals
	if c := w.c.classes; len(c) >= max(manyDocuments, 4) {
		m.classes, m.ofClass, m.lastFour = &c[0], &w.k[0], uint32(len(c)-4)
	}
	return m
}

var smallReciprocals = func() (r [32]float32) {
	for tf := range r {
		r[tf] = bm25.Reciprocal(uint32(tf))
	}
	return r
}()

// manyDocuments is from when on lengths do not stay in the second-level cache, so that their classes, of a quarter the size and
// with a second table to ask, are faster.
var manyDocuments = 1 << 19 // tests lower it

// kernelSlack is how far beyond the last result kernels may write.
const kernelSlack = 16

// floor32 is the largest float32 that is not above x, so that a float32 is above the one if it is above
// the other.
func floor32(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// xs computes the x of postings.
func (s *bm25Scorer) xs(docs, tfs []uint32, out []float32) {
	if len(docs) == 0 {
		return
	}
	lengths := s.w.c.lengths
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	if hasAVX512 {
		xsAVX512(&docs[0], &tfs[0], &lengths[0], len(docs), &s.kernel, &out[0])
		return
	}
	s.plainXs(docs, tfs, out)
}

func (s *bm25Scorer) plainXs(docs, tfs []uint32, out []float32) {
	for i, d := range docs {
		out[i] = s.x(tfs[i], s.w.c.lengths[d])
	}
}

func (s *bm25Scorer) batch(docs, tfs []uint32, out []float32) {
	if len(docs) == 0 {
		return
	}
	tfs, out = tfs[:len(docs)], out[:len(docs)]
	if hasAVX512 {
		scoresAVX512(&docs[0], &tfs[0], &s.w.c.lengths[0], len(docs), &s.kernel, &out[0])
		return
	}
	s.plainBatch(docs, tfs, out)
}

func (s *bm25Scorer) plainBatch(docs, tfs []uint32, out []float32) {
	lengths, a, b, weight, plus := s.w.c.lengths, s.A, s.B, s.Weight, s.Plus
	for i, d := range docs {
		k := a + float32(b*float32(lengths[d]))
		x := float32(k * bm25.Reciprocal(tfs[i]))
		out[i] = weight/(1+x) + plus
	}
}

// sift leaves the postings whose score is above need in found. Most are not, and that is
// seen without a division. There are at most a block of them.
func (s *bm25Scorer) sift(docs, tfs []uint32, need float64, w *window) {
	if len(docs) == 0 {
		return
	}
	tfs = tfs[:len(docs)]
	limit := s.limit(need)
	if !hasAVX512 {
		s.plainSift(docs, tfs, need, limit, w)
		return
	}
	n := siftAVX512(&docs[0], &tfs[0], &s.w.c.lengths[0], len(docs), &s.kernel, limit, &w.docs[0], &w.xs[0])
	for i, x := range w.xs[:n] {
		if score := s.ofX(x); float64(score) > need {
			w.found = append(w.found, makeCandidate(w.docs[i], score))
		}
	}
}

func (s *bm25Scorer) plainSift(docs, tfs []uint32, need float64, limit float32, w *window) {
	lengths, a, b := s.w.c.lengths, s.A, s.B
	found := w.found
	for i, d := range docs {
		k := a + float32(b*float32(lengths[d]))
		x := float32(k * bm25.Reciprocal(tfs[i]))
		if x > limit {
			continue
		}
		if score := s.ofX(x); float64(score) > need {
			found = append(found, makeCandidate(d, score))
		}
	}
	w.found = found
}

// filter leaves the documents with scores above need in found.
func (w *window) filter(docs []uint32, scores []float32, need float64) {
	w.found = w.found[:0]
	if len(docs) == 0 {
		return
	}
	scores = scores[:len(docs)]
	if hasAVX512 {
		w.room(len(docs))
		n := filterAVX512(&docs[0], &scores[0], len(docs), floor32(need), &w.found[:1][0])
		w.found = w.found[:n]
		return
	}
	w.plainFilter(docs, scores, need)
}

func (w *window) plainFilter(docs []uint32, scores []float32, need float64) {
	for i, s := range scores {
		if float64(s) > need {
			w.found = append(w.found, makeCandidate(docs[i], s))
		}
	}
}

// scan leaves in found the touched documents among the first n whose sum is above need, and makes all
// untouched again.
func (w *window) scan(base uint32, n int, need float64) {
	w.found = w.found[:0]
	if hasAVX512 && n > 0 {
		w.room(n)
		got := scanAVX512(&w.sums[0], n, base, floor32(need), &w.found[:1][0])
		w.found = w.found[:got]
		return
	}
	w.plainScan(base, n, need)
}

func (w *window) plainScan(base uint32, n int, need float64) {
	untouched := math.Float32frombits(signBit)
	for i, sum := range w.sums[:n] {
		if math.Float32bits(sum) == signBit {
			continue
		}
		w.sums[i] = untouched
		if float64(sum) > need {
			w.found = append(w.found, makeCandidate(base+uint32(i), sum))
		}
	}
}

// keep drops the candidates whose sum is not above need. Which these are nobody can guess: with a branch for each, queries of 50 and 100 words take a third and a
// half longer.
func (w *window) keep(need float64) {
	n, at := 0, 0
	if hasAVX512 && len(w.found) >= manyToKeep {
		at = len(w.found) &^ 7
		n = keepAVX512(&w.found[0], at, floor32(need))
	}
	w.plainKeep(n, at, need)
}

// manyToKeep is from how many candidates on the kernel, which looks at 8 at a time, is worth the call.
const manyToKeep = 64

// plainKeep is keep for the candidates from a position on; the first n stay.
func (w *window) plainKeep(n, from int, need float64) {
	kept := w.found[:n]
	for _, c := range w.found[from:] {
		if float64(c.sum()) > need {
			kept = append(kept, c)
		}
	}
	w.found = kept
}

// room makes sure that n candidates fit into found.
func (w *window) room(n int) {
	if cap(w.found) < n+kernelSlack {
		w.found = make([]candidate, 0, max(2*cap(w.found), n+kernelSlack))
	}
}

// locate finds those of the rising docs, up to last, that a block holds: at says which, and places where, with room for one more than are found. It
// says how many it found, and how many it looked for. The block is a decoded one, with
// room for BlockSize documents and End behind its last.
//
// Tried twice and slower in queries: a table of the block's places by document, in which documents are looked up 16 at a time. On its own
// it takes half the time, but what was just stored cannot be gathered at once, and it takes cache from the rest.
func locate(block, docs []uint32, last uint32, at, places []uint32) (found, used int) {
	if len(block) == 0 || len(docs) == 0 {
		return 0, len(docs)
	}
	if hasAVX512 && cap(block) >= index.BlockSize && len(at) > len(docs) && len(places) > len(docs) {
		return locateAVX512(&block[0], &docs[0], len(docs), last, &at[0], &places[0])
	}
	return plainLocate(block, docs, last, at, places)
}

func plainLocate(block, docs []uint32, last uint32, at, places []uint32) (found, used int) {
	p := 0
	for i, d := range docs {
		if d > last {
			return found, i
		}
		for p < len(block) && block[p] < d {
			p++
		}
		if p == len(block) {
			continue
		}
		at[found], places[found] = uint32(i), uint32(p)
		if block[p] == d {
			found++
		}
	}
	return found, len(docs)
}

// merge adds the scores of a list to the candidates.
func (w *window) merge(b *buffer) {
	if b.lo == b.hi || len(w.found) == 0 {
		return
	}
	if hasAVX512 {
		mergeAVX512(&b.docs[b.lo], &b.scores[b.lo], b.hi-b.lo, &w.found[0], len(w.found))
		return
	}
	w.plainMerge(b)
}

func (w *window) plainMerge(b *buffer) {
	docs, at := b.docs[:b.hi], b.lo
	for i, c := range w.found {
		doc := c.doc()
		for at < len(docs) && docs[at] < doc {
			at++
		}
		if at == len(docs) {
			return
		}
		if docs[at] == doc {
			w.found[i] = makeCandidate(doc, c.sum()+b.scores[at])
		}
	}
}

// pick finds the postings whose score is above need. What it finds may take the place of docs.
func (l *list) pick(docs, tfs []uint32, need float64, outDocs []uint32, outScores []float32) int {
	if len(docs) == 0 {
		return 0
	}
	if s := l.bm25; s != nil && hasAVX512 && len(outDocs) >= len(docs)+kernelSlack && len(outScores) >= len(docs)+kernelSlack {
		return pickAVX512(&docs[0], &tfs[:len(docs)][0], &s.w.c.lengths[0], len(docs), &s.kernel, floor32(need), s.limit(need), &outDocs[0], &outScores[0])
	}
	return l.plainPick(docs, tfs, need, outDocs, outScores)
}

func (l *list) plainPick(docs, tfs []uint32, need float64, outDocs []uint32, outScores []float32) (n int) {
	l.batch(docs, tfs, outScores[:len(docs)])
	for i, d := range docs {
		outDocs[n], outScores[n] = d, outScores[i]
		if float64(outScores[n]) > need {
			n++
		}
	}
	return n
}
