package search

import (
	"sync"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
)

// buckets sorts documents by length into 16 buckets, half a byte each. Frequency and bucket bound a posting's score, and most postings cannot
// win: so few lengths are fetched. With 5M documents lengths, and even their classes, are more than the second-level cache
// holds, and fetching them took 40% of the time of two frequent words, mode And.
type buckets struct {
	once    sync.Once
	classes []uint8      // of each document
	lengths *[256]uint32 // shortest length of each class
	low     [numBuckets]uint32
	halves  []uint8 // document d is in the lower half of byte d/2 if d is even; a few bytes more may be fetched
}

const numBuckets = 16

// bucketEnds are the shares of documents, in thousandths, where buckets end: the shortest documents win, so they are told apart best.
var bucketEnds = [numBuckets - 1]int{2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 500, 650, 800}

// ready makes the buckets when they are asked for first: 1 ns a document.
func (b *buckets) ready() *buckets {
	b.once.Do(b.fill)
	return b
}

func (b *buckets) fill() {
	var count [256]int
	for _, c := range b.classes {
		count[c]++
	}
	var of [256]uint8
	bucket, sum := 0, 0
	for c, n := range count {
		if n == 0 {
			continue
		}
		if sum == 0 {
			b.low[0] = b.lengths[c]
		}
		for bucket < numBuckets-1 && sum > 0 && sum*1000 >= bucketEnds[bucket]*len(b.classes) {
			bucket++
			b.low[bucket] = b.lengths[c]
		}
		of[c] = uint8(bucket)
		sum += n
	}
	b.halves = make([]uint8, len(b.classes)/2+4)
	for d, c := range b.classes {
		b.halves[d/2] |= of[c] << (d % 2 * 4)
	}
}

// sifter sifts the postings of a list by the buckets of its documents.
type sifter struct {
	halves []uint8
	k      [numBuckets]float32 // the least of each bucket
}

// worthBuckets is the length of lists from which on they are sifted.
var worthBuckets uint32 = 64 * index.BlockSize // tests lower it

// prepare makes the sifter of a list, if that pays.
func (s *sifter) prepare(l *list) {
	if s.halves = nil; l.bm25 != nil && l.Term.DF >= worthBuckets {
		s.make(l)
	}
}

// make makes the sifter of a list.
func (s *sifter) make(l *list) {
	b := l.bm25.w.c.buckets.ready()
	s.halves = b.halves
	for i, low := range b.low {
		s.k[i] = l.bm25.K(low)
	}
}

// ready says whether there is a sifter.
func (s *sifter) ready() bool { return s.halves != nil }

// sift keeps the postings whose score can be above need. The outs have room for kernelSlack more.
func (s *sifter) sift(l *list, docs, tfs []uint32, need float64, outDocs, outTFs []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	tfs = tfs[:len(docs)]
	limit := l.bm25.limit(need)
	if hasAVX512 {
		return siftHalvesAVX512(&docs[0], &tfs[0], &s.halves[0], len(docs), &l.bm25.kernel, &s.k[0], limit, &outDocs[0], &outTFs[0])
	}
	return s.plainSift(docs, tfs, limit, outDocs, outTFs)
}

func (s *sifter) plainSift(docs, tfs []uint32, limit float32, outDocs, outTFs []uint32) (n int) {
	for i, d := range docs {
		k := s.k[s.halves[d/2]>>(d%2*4)&(numBuckets-1)]
		outDocs[n], outTFs[n] = d, tfs[i]
		if float32(k*bm25.Reciprocal(tfs[i])) <= limit {
			n++
		}
	}
	return n
}
