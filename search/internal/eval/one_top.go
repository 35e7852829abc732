package eval

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// worthFromTop reports whether this is a query of one word, with a map of levels, within a filter.
func (q *Query) worthFromTop() bool {
	return q.limited && len(q.Lists) == 1 && q.Lists[0].hasLevels() && q.whole()
}

// oneFromTop answers a query of one word within a filter, the word's best documents first. It
// tries these ways in order:
//
//  1. the list's top postings, which the index stores in order, if k of them should pass the filter
//     (oneOfTop);
//  2. if the filter has few documents, those that the map of the best pairs does not rule out
//     (oneOfPairs), or all of them, by the levels of their places (oneOfFew);
//  3. else the documents of the filter at places of the highest level, then of the next
//     (oneOfPlaces).
//
// If it gives up, it leaves the threshold as the floor.
//
// The stored ranks say little of what the best of some documents reach. "The" is in nearly all
// eLife paragraphs. For the 10 best of 0.1%, 1%, 10% and 50% of them it took 250, 1,400, 160 and 30
// microseconds by ranks. Looking up the documents at its best places took 18, 20, 16 and 13 where
// it was asked without a pause, and 24, 31, 24 and 21 between other queries. Now it takes 2.5, 2.1,
// 0.9 and 0.5, and 11, 5, 4 and 3; without a filter 1.9, and 11.
func (q *Query) oneFromTop(l *list) (done bool, err error) {
	before := q.anyOrder
	q.anyOrder = true
	defer func() { q.anyOrder = before }()
	if enoughTop(q.index.InTop(l.Term), q.share(), q.Heap.K) {
		top, err := q.index.Top(l.Term)
		if err != nil {
			return false, err
		}
		if done, err := q.oneOfTop(l, top); done || err != nil {
			return done, err
		}
		if q.leaveFloor(); q.floor >= 0 {
			return false, nil
		}
		q.scoreRare()
	}
	set := q.smallest()
	if few := set.Few(); few != nil && len(few) <= max(fewAnyway, fewAnAnswer*q.Heap.K) {
		if enoughTop(q.index.InPairs(l.Term), q.share(), q.Heap.K) {
			if done, err := q.oneOfPairs(l, few); done || err != nil {
				return done, err
			}
			q.beginAgain()
			q.scoreRare()
		}
		done, err = q.oneOfFew(l, few)
	} else {
		done, err = q.oneOfPlaces(l, set)
	}
	if !done && err == nil {
		q.leaveFloor()
	}
	return done, err
}

// enoughTop reports whether k of the given number of top postings should pass a filter that has a
// share of all documents.
func enoughTop(top int, share float64, k int) bool {
	return share*float64(top) > float64(k)+math.Sqrt(float64(k))
}

// leaveFloor forgets the answers. If there were k, the threshold becomes the floor.
func (q *Query) leaveFloor() {
	if q.Heap.Full() {
		q.floor = q.theta
	}
	q.beginAgain()
}

// oneOfTop processes the top postings of a list, the best first, until no later one can win.
func (q *Query) oneOfTop(l *list, top []index.TopPosting) (done bool, err error) {
	m, set, stored := &q.one, q.smallest().Words(), q.index.StoredModel()
	m.n = 0
	for at, wait := 0, min(q.Heap.K-len(q.Heap.Keys), index.BlockSize); at < len(top); {
		end := min(at+topStep, len(top))
		for _, p := range top[at:end] {
			doc := p.Doc()
			if int(doc>>6) >= len(set) {
				return false, fmt.Errorf("corrupted: a top posting of document %d", doc)
			}
			m.docs[m.n], m.tfs[m.n] = doc, p.TF()
			m.n += int(set[doc>>6] >> (doc & 63) & 1) // unpredictable: no branch
		}
		if at = end; m.n < wait || at == len(top) {
			continue
		}
		l.scored += int64(m.n)
		q.scoreOne(l)
		if err := q.tick(); err != nil {
			return false, err
		}
		if !q.Heap.Full() {
			continue
		}
		wait = 0
		next := top[at]
		if int(next.Doc()) >= len(q.c.Lengths) {
			continue // corrupted: the loop above reports it
		}
		x := float32(stored.K(q.c.Lengths[next.Doc()]) * bm25.Reciprocal(next.TF()))
		if float64(l.ofX(x)) <= q.cut {
			return true, nil
		}
	}
	l.scored += int64(m.n)
	q.scoreOne(l)
	return false, nil
}

// oneOfPairs looks up a word in those of a few documents that its map of pairs does not rule out.
func (q *Query) oneOfPairs(l *list, few []uint32) (done bool, err error) {
	pairs, x, err := q.index.Pairs(l.Term)
	if pairs == nil || err != nil {
		return false, err
	}
	m, n := &q.one, 0
	m.ordered = slices.Grow(m.ordered[:0], len(few))[:len(few)]
	for _, doc := range few {
		m.ordered[n] = doc
		n += int(pairs[doc>>7] >> (doc >> 1 & 63) & 1) // unpredictable: no branch
	}
	for at := 0; at < n; {
		if err := q.tick(); err != nil {
			return false, err
		}
		m.n = copy(m.docs[:index.BlockSize], m.ordered[at:n])
		at += q.lookUp(l)
	}
	return q.Heap.Full() && float64(l.ofX(x)) <= q.cut, nil
}

// oneOfFew looks up a word in a few documents: first in those at places of the highest level, then
// of the next, until no lower level can win.
func (q *Query) oneOfFew(l *list, few []uint32) (done bool, err error) {
	m := &q.one
	m.level = slices.Grow(m.level[:0], len(few))[:len(few)]
	m.ordered = slices.Grow(m.ordered[:0], len(few))[:len(few)]
	for at := 0; at < len(l.Levels); at += 128 { // saves half of the time of a map not in the cache
		simd.Prefetch(unsafe.Pointer(&l.Levels[at]))
	}
	var ends [simd.NumLevels + 1]int // of the documents of each level in ordered, the highest first
	for i, doc := range few {
		m.level[i] = simd.NumLevels - 1 - l.LevelOf(doc)
		ends[m.level[i]+1]++
	}
	for i := range simd.NumLevels {
		ends[i+1] += ends[i]
	}
	for i, doc := range few {
		at := &ends[m.level[i]]
		m.ordered[*at] = doc
		*at++
	}
	docs, most := m.ordered[:ends[simd.NumLevels-2]], int(l.Term.DF)/mostFromTop
	for level, at := 0, 0; at < len(docs); {
		for at >= ends[level] {
			level++
		}
		if float64(l.ofX(l.LevelX[simd.NumLevels-1-level])) <= q.cut {
			return true, nil
		}
		if err := q.tick(); err != nil {
			return false, err
		}
		m.n = copy(m.docs[:fewTogether], docs[at:])
		at += m.n
		if most -= q.lookUp(l); most < 0 {
			return false, nil
		}
	}
	return true, nil
}

// oneOfPlaces looks up a word in the documents of a set at places of the highest level, then of the
// next, until no lower level can win.
func (q *Query) oneOfPlaces(l *list, in *docset.Set) (done bool, err error) {
	m, set, most := &q.one, in.Words(), int(l.Term.DF)/mostFromTop
	m.n = 0
	m.levels.prepareOne(l, -1, q.c.Docs)
	m.seen = append(m.seen[:0], make([]uint64, 2*m.levels.stretches)...)
	if len(set) <= 16*len(m.seen) && in.Count() < int(q.c.Docs)/fewAtPlaces {
		simd.Occupied(set, m.seen)
		for i, occupied := range m.seen { // the others need not be looked at
			m.seen[i] = ^occupied
		}
	}
	for level := simd.NumLevels - 1; level > 0; level-- {
		if float64(l.ofX(l.LevelX[level])) <= q.cut {
			continue // also if no place has this level, which says nothing of lower ones
		}
		if err := q.tick(); err != nil {
			return false, err
		}
		m.levels.findPlaces(0, m.levels.stretches, int8(level), m.levels.bits)
		for i, places := range m.levels.bits[:len(m.seen)] {
			fresh := places &^ m.seen[i]
			m.seen[i] |= places
			for ; fresh != 0; fresh &= fresh - 1 {
				p := 64*i + bits.TrailingZeros64(fresh)
				if p>>2 >= len(set) {
					break
				}
				wanted := uint16(set[p>>2] >> (p & 3 << placeShift))
				for ; wanted != 0; wanted &= wanted - 1 {
					m.docs[m.n] = uint32(p<<placeShift + bits.TrailingZeros16(wanted))
					m.n++
				}
				if m.n >= index.BlockSize {
					most -= q.lookUp(l)
				}
			}
		}
		if most -= q.lookUp(l); most < 0 {
			return false, nil
		}
	}
	return true, nil
}

// lookUp looks the waiting documents up in a list, scores and pushes those that it has, and returns
// how many waited. All their blocks are prefetched first.
func (q *Query) lookUp(l *list) int {
	m, n, found := &q.one, q.one.n, 0
	for i, doc := range m.docs[:n] {
		block := l.blockOf(doc, q.c.Docs)
		l.Prefetch(block)
		m.places[i] = uint32(block)
	}
	for i, doc := range m.docs[:n] {
		block := int(m.places[i])
		if block == len(l.Last) {
			continue
		}
		l.use(block)
		if tf := l.TFIn(block, doc); tf > 0 {
			m.docs[found], m.tfs[found] = doc, tf
			found++
		}
	}
	l.scored += int64(found)
	m.n = found
	q.scoreOne(l)
	return n
}

// blockOf returns the block that would contain a document, in an index of the given number of
// documents. The search begins where the block would be if postings were evenly distributed.
func (l *list) blockOf(doc uint32, docs uint64) int {
	block := min(int(uint64(doc)*uint64(len(l.Last))/docs), len(l.Last)-1)
	for step := 1; block > 0 && l.Last[block-1] >= doc; step *= 2 {
		block = max(block-step, 0)
	}
	return l.FindBlock(block, doc)
}

// smallest returns the smaller of the sets; at least one of them is not nil.
func (l *limits) smallest() (set *docset.Set) {
	for _, s := range l.sets {
		if s != nil && (set == nil || s.Count() < set.Count()) {
			set = s
		}
	}
	return set
}
