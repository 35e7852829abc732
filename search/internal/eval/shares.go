package eval

import (
	"sync/atomic"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/simd"
)

// shares are the ranges of documents that the workers of a team still have to search, one range per
// worker. A worker takes pieces from the front of its own range, so that its lists only move
// forwards. One that joins, or has nothing left, takes over the upper half of the largest range. So
// few ranges are begun: each begins with blocks that its neighbour has decoded, too. And no worker
// is idle while another still has a long range.
type shares struct {
	each   []share
	joined atomic.Int32 // workers
	taken  atomic.Int64 // documents of all pieces, for an assertion
	least  uint32       // documents of a piece
}

type share struct {
	span atomic.Uint64 // first document (upper half) and end (lower half) of the range
	_    simd.Apart
}

func makeSpan(from, to uint32) uint64              { return uint64(from)<<32 | uint64(to) }
func spanOf(span uint64) (from, to uint32)         { return uint32(span >> 32), uint32(span) }
func (s *share) left() uint32                      { from, to := spanOf(s.span.Load()); return to - from }
func (s *share) swap(old uint64, a, b uint32) bool { return s.span.CompareAndSwap(old, makeSpan(a, b)) }

// reset gives all documents to the first of the given number of workers.
func (s *shares) reset(workers int, docs, least uint32) {
	for len(s.each) < workers {
		s.each = append(s.each, share{})
	}
	s.each = s.each[:workers]
	for i := range s.each {
		s.each[i].span.Store(0)
	}
	s.each[0].span.Store(makeSpan(0, docs))
	s.joined.Store(1)
	s.taken.Store(0)
	s.least = least
}

// join gives one more worker a number and half of another's range; false if there are enough
// workers or nothing is left.
func (s *shares) join() (own int, ok bool) {
	own = int(s.joined.Add(1)) - 1
	return own, own < len(s.each) && s.takeOver(own)
}

// left reports whether there are documents that no worker has taken.
func (s *shares) left() bool {
	for i := range s.each {
		if s.each[i].left() > 0 {
			return true
		}
	}
	return false
}

// take returns the next piece of a worker, or false if nothing is left.
//
// Postcondition: a piece is not empty. Together the pieces are all documents, each once: see
// Team.done.
func (s *shares) take(own int) (from, to uint32, ok bool) {
	for {
		span := s.each[own].span.Load()
		from, to := spanOf(span)
		if from == to {
			if !s.takeOver(own) {
				return 0, 0, false
			}
			continue
		}
		if end := from + s.round((to-from)/pieceOf, to-from); s.each[own].swap(span, end, to) {
			if assert.On && (end <= from || end > to) {
				assert.Fail("a piece is empty, or larger than the share")
			}
			if assert.On {
				s.taken.Add(int64(end - from))
			}
			return from, end, true
		}
	}
}

// takeOver takes the upper half of the largest share. It returns false if there is none.
func (s *shares) takeOver(own int) bool {
	for {
		from, most := -1, uint32(0)
		for i := range s.each {
			if n := s.each[i].left(); n > most {
				from, most = i, n
			}
		}
		if from < 0 {
			return false
		}
		span := s.each[from].span.Load()
		first, end := spanOf(span)
		if first == end {
			continue
		}
		mid := end - s.round((end-first)/2, end-first)
		if s.each[from].swap(span, first, mid) {
			s.each[own].span.Store(makeSpan(mid, end))
			return true
		}
	}
}

// round rounds n documents down to a multiple of the smallest piece, at least one and at most all.
func (s *shares) round(n, most uint32) uint32 {
	return min(max(n/s.least, 1)*s.least, most)
}
