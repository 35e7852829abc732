package eval

import (
	"github.com/collocate/collocate/index"
)

// placesOfBlock holds the indexes of all postings of a block.
var placesOfBlock = func() (p [index.BlockSize]uint32) {
	for i := range p {
		p[i] = uint32(i)
	}
	return p
}()

// worthAndGuess reports whether to guess a floor from the levels: all lists have them, and there
// should be at least 2k answers.
func (q *Query) worthAndGuess() bool {
	m := &q.and
	if !m.mapped || !m.levels.lead || !q.whole() || q.floor >= 0 {
		return false
	}
	return q.worthManyAnds(m.lists)
}

// worthManyAnds reports whether at least 2k answers can be expected in all segments, if words are
// independent.
func (q *Query) worthManyAnds(lists []*list) bool {
	common := float64(q.c.Docs) * q.segments()
	for _, l := range lists {
		common *= float64(l.Term.DF) / float64(q.c.Docs)
	}
	return common*q.share() >= float64(2*q.Heap.K)
}

// guessAnd guesses a floor from the levels; each try a lower one.
func (q *Query) guessAnd(lists []*list, try int) (floor float32, ok bool) {
	times := float64(uint64(1)<<try) / q.share() / q.segments()
	return q.and.levels.guessFloor(q.Heap.K, len(lists), times)
}

// andAboveGuess searches for answers above a floor that is guessed from the levels. After a wrong
// guess it tries a lower one.
func (q *Query) andAboveGuess() (proved bool, err error) {
	m := &q.and
	blocks := func() error { return q.andBlocks(m.lists, m.start) }
	return guessing{
		guess:  func(try int) (float32, bool) { return q.guessAnd(m.lists, try) },
		search: func(floor float32) error { return q.above(floor, blocks) },
		enough: q.Heap.Full,
		again:  func() { q.startAgain(m.lists) },
	}.prove()
}

// startAgain removes all answers and returns to the first document, with the known floor.
func (q *Query) startAgain(lists []*list) {
	q.rewind()
	q.Heap.Reset(q.Heap.K)
	q.and.reset(lists)
	q.unlearn()
	q.and.levels.rewind()
	for _, l := range lists {
		l.block = -1
	}
}

// fallsShort reports whether the guess is likely to be wrong, because too few answers were found
// before block b. It tests this every giveUpBlocks blocks.
func (q *Query) fallsShort(lead *list, b int) bool {
	return b%giveUpBlocks == giveUpBlocks-1 && !q.Heap.Full() &&
		q.tooFew(float64(b)/float64(len(lead.Last)))
}

// addAtPlaces is addBlock if all lists have levels: only documents at places that can win by the
// sum of the levels become candidates. If these are many, they are intersected with the second list
// before they are scored.
func (q *Query) addAtPlaces(lists []*list, b, lo, hi int, others float64) {
	m, lead := &q.and, lists[0]
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
		q.scoreWaiting(lists)
	}
	for _, l := range lists[1:] {
		l.waitBound = max(l.waitBound, l.windowBound)
	}
	if how == both {
		q.addIntersection(lists, b, docs, places, others)
		return
	}
	copy(m.docs[m.n:], docs)
	lead.TFsAt(b, places, m.tfs[0][m.n:m.n+n])
	lead.count(b, n, docs[0])
	m.n, m.kind = m.n+n, scored
}
