package eval

import (
	"math"

	"github.com/collocate/collocate/index"
)

// placesOfBlock are the places of a block's documents in it.
var placesOfBlock = func() (p [index.BlockSize]uint32) {
	for i := range p {
		p[i] = uint32(i)
	}
	return p
}()

// manyKept is the share of a block's documents, one in so many, from which on those at places that can win are intersected before they are scored: then
// nearly all blocks of the other list are decoded anyway, and few of these documents are in it.
const manyKept = 8

// meetAboveFloor looks for answers above a score that is guessed from the levels, and says whether there were enough to prove the guess
// right. Where it was wrong a lower one is tried, and then none.
func (q *Query) meetAboveFloor(lists []*list, start uint32) (done bool, err error) {
	m, k := &q.meeting, q.Heap.K
	if !m.mapped || !m.levels.lead || q.team != nil || q.floor >= 0 || q.from > 0 || uint64(q.to) < q.c.Docs {
		return false, nil
	}
	common := float64(q.c.Docs) // that have all words, if words are independent
	for _, l := range lists {
		common *= float64(l.Term.DF) / float64(q.c.Docs)
	}
	if common < float64(2*k) {
		return false, nil
	}
	for times := 1.0; ; times *= 2 {
		floor, ok := m.levels.guessFloor(k, len(lists), times)
		if !ok {
			return false, nil
		}
		q.floor, m.guessed = floor, true
		q.rewind()
		err = q.meetAll(lists, start)
		q.floor, m.guessed = -1, false
		if err != nil || q.Heap.Full() {
			return true, err
		}
		q.startAgain(lists)
	}
}

// startAgain forgets all answers.
func (q *Query) startAgain(lists []*list) {
	q.rewind()
	q.Heap.Reset(q.Heap.K)
	q.meeting.reset(lists)
	q.meeting.levels.rewind()
	for _, l := range lists {
		l.block = -1
	}
}

// fallsShort says that so few answers were found up to block b that there will hardly be enough: better to give up early.
func (q *Query) fallsShort(lead *list, b int) bool {
	if b%16 != 15 || q.Heap.Full() {
		return false
	}
	found, want := float64(len(q.Heap.Keys)), float64(q.Heap.K)*float64(b)/float64(len(lead.Last))
	return found+3*math.Sqrt(found)+3 < want
}

// meetPlaces adds documents of the leading list's block b that are at places that can win.
func (q *Query) meetPlaces(lists []*list, b, lo, hi int, others float64) {
	m, lead := &q.meeting, lists[0]
	docs, places := m.kept[0][:], m.kept[1][:]
	block := lead.Loaded()[lo:hi]
	m.levels.reach(block[0], block[len(block)-1], q.cut)
	n := m.levels.keep(block, placesOfBlock[lo:hi], docs, places)
	if n == 0 {
		return
	}
	docs, places = docs[:n], places[:n]
	how := scored
	if n*manyKept > hi-lo {
		how = both
	}
	if m.kind != how && m.n > 0 {
		q.settle(lists)
	}
	for _, l := range lists[1:] {
		l.waitBound = max(l.waitBound, l.windowBound)
	}
	if how == both {
		q.meetDocs(lists, b, docs, places, others)
		return
	}
	copy(m.docs[m.n:], docs)
	lead.TFsAt(b, places, m.tfs[0][m.n:m.n+n])
	lead.count(b, n, docs[0])
	m.n, m.kind = m.n+n, scored
}
