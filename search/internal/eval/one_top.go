package eval

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// worthFromTop says that only some documents may be answers to a query of one word that has a map
// of levels.
func (q *Query) worthFromTop() bool {
	return q.limited && len(q.Lists) == 1 && q.Lists[0].hasLevels() && q.whole()
}

// oneFromTop looks for a word in the documents that may be answers, those first that are at places
// of the highest level, then those of the next, until no lower level can win. It gives up if it
// must look for too many, and leaves the score to beat as the floor.
//
// The stored ranks say little of what the best of some documents reach. With them "the", in nearly
// all eLife paragraphs, took 250, 1,400, 160 and 30 microseconds for the 10 best of 0.1%, 1%, 10%
// and 50% of the documents; so it takes 100, 70, 40 and 25, and where few documents are left, half
// of the first since places without any are passed over.
func (q *Query) oneFromTop(l *list) (done bool, err error) {
	m := &q.one
	m.n = 0
	m.levels.prepareOne(l, -1, q.c.Docs)
	set, most := q.smallest().Words(), int(l.Term.DF)/mostFromTop
	m.seen = append(m.seen[:0], make([]uint64, 2*m.levels.stretches)...)
	if len(set) <= 16*len(m.seen) && q.smallest().Count() < int(q.c.Docs)/fewAtPlaces {
		simd.Occupied(set, m.seen)
		for i, occupied := range m.seen { // the others need not be looked at
			m.seen[i] = ^occupied
		}
	}
	before := q.anyOrder
	q.anyOrder = true
	defer func() { q.anyOrder = before }()
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
		most -= q.lookUp(l)
		if most < 0 {
			if q.Heap.Full() {
				q.floor = q.theta
			}
			q.beginAgain()
			return false, nil
		}
	}
	return true, nil
}

// fewAtPlaces is when documents may be at so few places that others are not looked at: if fewer than
// one in this many may be answers.
const fewAtPlaces = 32

// lookUp looks for the documents that wait in a list, and says how many they were. Their blocks are
// asked for before the first is looked at.
func (q *Query) lookUp(l *list) int {
	m, n, found, block := &q.one, q.one.n, 0, 0
	for i, doc := range m.docs[:n] {
		if block = l.FindBlock(block, doc); block == len(l.Last) {
			n = i
			break
		}
		l.Prefetch(block)
		m.places[i] = uint32(block)
	}
	for i, doc := range m.docs[:n] {
		if tf := l.tfIn(int(m.places[i]), doc); tf > 0 {
			m.docs[found], m.tfs[found] = doc, tf
			found++
		}
	}
	l.scored += int64(found)
	n, m.n = m.n, found
	q.scoreOne(l)
	return n
}

// tfIn is how often the word of a list is in a document whose block is given; 0 if it is not there.
func (l *list) tfIn(block int, doc uint32) uint32 {
	l.use(block)
	words, base := l.Words(block)
	if words == nil {
		if l.Load(block) == nil || l.Seek(doc) != doc {
			return 0
		}
		return l.TF()
	}
	if doc < base {
		return 0
	}
	var tf [1]uint32
	place, bit := 0, doc-base
	for ; bit >= 64; words, bit = words[8:], bit-64 {
		place += bits.OnesCount64(binary.LittleEndian.Uint64(words))
	}
	word := binary.LittleEndian.Uint64(words)
	if word>>bit&1 == 0 {
		return 0
	}
	place += bits.OnesCount64(word & (1<<bit - 1))
	l.TFsAt(block, []uint32{uint32(place)}, tf[:])
	return tf[0]
}

// smallest is the smaller of the sets of documents that may be answers, of which there is one.
func (l *limits) smallest() (set *docset.Set) {
	for _, s := range l.sets {
		if s != nil && (set == nil || s.Count() < set.Count()) {
			set = s
		}
	}
	return set
}
