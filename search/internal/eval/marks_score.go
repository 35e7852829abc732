package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// scoreMarked scores the documents that were found, in rising order, as long as they can win.
func (q *Query) scoreMarked(base uint32) {
	m := &q.or.marks
	if q.limited {
		m.found = slices.DeleteFunc(m.found, func(d uint32) bool { return !q.admits(d) })
	}
	slices.Sort(m.found)
	m.found = slices.Compact(m.found)
	for _, d := range m.found {
		q.c.AskLength(d)
	}
	last := uint8(1) << (len(m.lists) - 1) // the last list only tests masks and does not mark
	for _, d := range m.found {
		q.scoreMarkedDoc(d, m.masks[(d-base)&(maxWindow-1)]|last)
	}
}

// scoreMarkedDoc scores a document that has the marked lists of a mask, and may have asked ones. It
// starts with the sum of all bounds and replaces them by scores, list by list, until the document
// cannot win any more or all are replaced.
func (q *Query) scoreMarkedDoc(doc uint32, mask uint8) {
	m := &q.or.marks
	rest := m.sums[mask]
	for _, l := range m.asked {
		rest += l.boundAt(doc) - l.windowBound
	}
	if rest <= q.cut {
		return
	}
	m.spent += lookCost * float64(len(m.lists)+2*len(m.asked))
	clear(q.scores)
	length := q.c.LengthOf(doc)
	for i, l := range m.lists {
		if mask>>i&1 == 0 {
			continue
		}
		rest -= l.windowBound
		if tf := l.markedTF(doc); tf > 0 {
			l.scored++
			q.scores[l.pos] = l.Score(tf, length)
			rest += float64(q.scores[l.pos])
		}
		if rest <= q.cut {
			return
		}
	}
	for _, l := range m.asked {
		rest -= l.boundAt(doc)
		if bound, _ := l.look(doc); rest+bound <= q.cut {
			return
		}
		if l.Seek(doc) == doc {
			q.scores[l.pos] = l.scoreHere(doc, length)
			rest += float64(q.scores[l.pos])
		}
		if rest <= q.cut {
			return
		}
	}
	q.push(doc, q.noted())
}

// boundAt bounds the score of a document by its level, if the list has levels, or by the window.
func (l *list) boundAt(doc uint32) float64 {
	if !l.hasLevels() {
		return l.windowBound
	}
	p := int(doc >> placeShift)
	two := l.Levels[p/stretchPlaces*index.StretchBytes+p%index.StretchBytes]
	return float64(l.marked.scores[two>>(4*(p/index.StretchBytes%2))%simd.NumLevels])
}

// markedTF is the frequency in a document of the window; 0 if the list does not have it. Documents
// come in rising order.
func (l *list) markedTF(doc uint32) uint32 {
	s := &l.marked
	for s.at < len(s.blocks) && l.Last[s.blocks[s.at]] < doc {
		s.at++
	}
	if s.at == len(s.blocks) {
		return 0
	}
	docs := (*[index.BlockSize]uint32)(s.docs[s.at*index.BlockSize:])
	place := index.Find(docs, doc)
	if docs[place&(index.BlockSize-1)] != doc {
		return 0
	}
	at, tf := [1]uint32{uint32(place)}, [1]uint32{}
	l.TFsAt(s.blocks[s.at], at[:], tf[:])
	return tf[0]
}
