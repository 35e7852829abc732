package eval

import (
	"math"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/topk"
)

// sample guesses a floor by scoring a sample of the documents: short windows at equal distances. If
// one document in 32 is scored, the k/32-nd best of these has about the score of the k-th best of
// all; the guess is a little lower. Unlike guessFloor, which takes words to be independent, it
// works for any words, and its time grows with their number as that of the query does.
//
// Neighbours in the index are often about the same subject, the more so if it was reordered, so one
// window may have most of the best documents. Therefore each window contributes no more than its
// share of the best, which makes the guess lower.
type sample struct {
	best  topk.Heap // of the sample
	each  topk.Heap // of one window
	every uint32    // one in this many documents is scored
	next  []int     // the block of each list that is added next

	docs, tfs [index.BlockSize]uint32
	scores    [index.BlockSize]float32
}

// worthSample reports whether a sample should pay.
func (q *Query) worthSample() bool {
	return q.Mode == ask.Or && q.whole() && q.across == nil &&
		len(q.Lists) >= sampleWords && q.Heap.K >= sampleAnswers &&
		uint64(q.Heap.K)*sampleDocs > q.c.Docs &&
		q.Stats.Postings >= int64(samplePostings)*int64(q.Heap.K) &&
		q.Stats.Postings >= int64(sampleShare)*q.sampleCost()
}

// sampleCost is about the number of postings that a sample decodes: one block of each list in each
// window, since lists that matter have less than a block there.
func (q *Query) sampleCost() int64 {
	windows := int64(q.to)/int64(q.sampleEvery()*sampleWindow) + 1
	return windows * int64(len(q.Lists)) * index.BlockSize
}

// sampleEvery returns n if a sample scores one in n documents.
func (q *Query) sampleEvery() uint32 {
	every := uint32(sampleMost)
	for every > sampleLeast && q.Heap.K < sampleFound*int(every) {
		every /= 2
	}
	return every
}

// worthWhole reports whether adding up whole lists should be faster than windows, in which some
// blocks are skipped.
func (q *Query) worthWhole() bool {
	return q.Mode == ask.Or && len(q.Lists) >= wholeWords && q.Heap.K >= sampleAnswers &&
		uint64(q.Heap.K)*wholeDocs > q.c.Docs && uint64(q.Stats.Postings) >= q.c.Docs
}

// orAboveSample adds up whole lists (taat) and keeps what is above a floor that a sample suggests.
func (q *Query) orAboveSample() (proved bool, err error) {
	if err := q.takeSample(); err != nil {
		return false, err
	}
	return guessing{
		guess:  q.guessSample,
		search: func(floor float32) error { return q.above(floor, func() error { return taat(q) }) },
		enough: q.Heap.Full,
		again:  q.beginAgain,
	}.prove()
}

// takeSample scores the documents of the sample. The lists stay where they are.
func (q *Query) takeSample() error {
	s, w := &q.or.sample, &q.window
	s.every = q.sampleEvery()
	s.next = append(s.next[:0], make([]int, len(q.Lists))...)
	s.best.Reset(s.rank(q.Heap.K, guessAgain))
	each := s.best.K/(int(q.to/(s.every*sampleWindow))+1) + 1
	need := q.theta
	step := uint64(s.every * sampleWindow)
	for base := step / 2; base < uint64(q.to); base += step {
		from, to := uint32(base), uint32(min(base+sampleWindow, uint64(q.to)))
		for _, l := range q.Lists {
			s.add(w, l, from, to)
		}
		w.scan(from, int(to-from), float64(need))
		s.each.Reset(each)
		for _, c := range w.found {
			if !q.limited || q.admits(c.Doc()) {
				s.each.Add(c.Doc(), c.Sum())
			}
		}
		for _, key := range s.each.Keys {
			s.best.AddKey(key)
		}
		if s.best.Full() {
			need = s.best.Worst()
		}
		if err := q.pause(); err != nil {
			return err
		}
	}
	return nil
}

// add adds the postings of a list in a window.
func (s *sample) add(w *window, l *list, from, to uint32) {
	b := l.FindBlock(s.next[l.pos], from)
	for ; b < len(l.Last) && (b == 0 || l.Last[b-1] < to-1); b++ {
		n := l.DecodeDocs(b, &s.docs)
		if n == 0 || l.DecodeTFs(b, &s.tfs) != n {
			return // damaged: l.Err says so
		}
		lo := firstAtLeast(s.docs[:n], from)
		hi := lo + firstAtLeast(s.docs[lo:n], to)
		l.batch(s.docs[lo:hi], s.tfs[lo:hi], s.scores[lo:hi])
		for i, d := range s.docs[lo:hi] {
			w.sums[(d-from)&(maxWindow-1)] += s.scores[lo+i]
		}
	}
	// Prefetch the block of the next window while the other lists are added.
	if s.next[l.pos] = l.FindBlock(b-1, from+s.every*sampleWindow); s.next[l.pos] < len(l.Last) {
		l.Prefetch(s.next[l.pos])
	}
}

// rank returns the rank in the sample whose score k documents of the index should reach.
func (s *sample) rank(k int, margin float64) int {
	expected := float64(k) / float64(s.every)
	return int(math.Ceil(expected + margin*math.Sqrt(expected)))
}

// guessSample returns the floor to try, as guessOr does.
func (q *Query) guessSample(try int) (floor float32, ok bool) {
	margins := [...]float64{guessMargin, guessAgain}
	if try >= len(margins) {
		return 0, false
	}
	floor = q.or.sample.score(q.or.sample.rank(q.Heap.K, margins[try]))
	return floor, floor > q.floor
}

// score returns the next float below the score of the document at a rank of the sample, so that
// documents with equal scores stay; -1 if the sample has fewer documents.
func (s *sample) score(rank int) float32 {
	if len(s.best.Keys) < rank {
		return -1
	}
	keys := s.best.Sorted()
	return below(math.Float32frombits(uint32(keys[len(keys)-rank] >> 32)))
}
