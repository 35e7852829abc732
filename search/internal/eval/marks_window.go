package eval

import (
	"slices"

	"github.com/collocate/collocate/index"
)

// markWindow finds the answers in the window that begins with base, and returns its end. If the
// query has cost more than expected, marks are not used for the next windows.
func (q *Query) markWindow(base uint32) (end uint32) {
	m := &q.or.marks
	end = uint32(min(uint64(base)+maxWindow, uint64(q.to)))
	total := 0.0
	for _, l := range q.Lists {
		l.look(base)
		l.windowBound = l.boundUntil(end, q.cut)
		total += l.windowBound
	}
	m.found = m.found[:0]
	m.sums[0] = 0
	for _, l := range m.asked {
		m.sums[0] += l.windowBound
	}
	decoded, marks, last := 0, 0, len(m.lists)-1
	for i, l := range m.lists {
		if total <= q.cut {
			m.found = m.found[:0]
			break
		}
		q.fillMarked(l, base, end, q.cut-(total-l.windowBound))
		s := &l.marked
		docs := s.docs[s.lo:s.hi]
		if len(docs) == 0 {
			total -= l.windowBound
			l.windowBound = 0
		}
		crosses := m.crossing(i, l.windowBound, q.cut)
		m.takeAlone(s, base, end)
		switch {
		case i == last && crosses:
			m.test(docs, base)
		case crosses:
			m.markAndTest(docs, base, 1<<i)
		case i < last:
			for _, d := range docs {
				m.masks[(d-base)&(maxWindow-1)] |= 1 << i
			}
		}
		if decoded += len(docs); i < last {
			marks = decoded
		}
	}
	q.scoreMarked(base)
	m.wipe(base, end, marks)
	m.spent += markCost*float64(decoded) + foundCost*float64(len(m.found))
	if m.spent > m.plain*float64(end-q.from)/float64(q.c.Docs)+spentSlack {
		m.on = false // more was found than expected
	}
	return end
}

// crossing adds list i to the table of sums, and sets cross for the masks of earlier lists whose
// documents can win if list i has them, too. It leaves out masks that could win before: their
// documents were found then. Masks of a single list stay: of its documents only the best were.
func (m *marking) crossing(i int, bound, cut float64) (any bool) {
	for mask := range 1 << i {
		before := m.sums[mask]
		sum := before + bound
		m.sums[mask|1<<i], m.cross[mask] = sum, 0
		if mask != 0 && sum > cut && (before <= cut || mask&(mask-1) == 0) {
			m.cross[mask], any = 1, true
		}
	}
	return any
}

// markAndTest marks documents, and finds those that can win.
func (m *marking) markAndTest(docs []uint32, base uint32, bit uint8) {
	out, n := m.room(len(docs)), 0
	for _, d := range docs {
		at := (d - base) & (maxWindow - 1)
		mask := m.masks[at]
		m.masks[at] = mask | bit
		out[n] = d
		n += int(m.cross[mask])
	}
	m.found = m.found[:len(m.found)+n]
}

// test is markAndTest for the last list, whose marks are not needed.
func (m *marking) test(docs []uint32, base uint32) {
	out, n := m.room(len(docs)), 0
	for _, d := range docs {
		out[n] = d
		n += int(m.cross[m.masks[(d-base)&(maxWindow-1)]])
	}
	m.found = m.found[:len(m.found)+n]
}

// room is room for n more documents.
func (m *marking) room(n int) []uint32 {
	m.found = slices.Grow(m.found, n)
	return m.found[len(m.found) : len(m.found)+n]
}

// wipe makes all masks 0 again.
func (m *marking) wipe(base, end uint32, marks int) {
	if marks*wipeAll > int(end-base) {
		clear(m.masks[:end-base])
		return
	}
	for _, l := range m.lists[:len(m.lists)-1] {
		if marks == 0 {
			return
		}
		s := &l.marked
		for _, d := range s.docs[s.lo:s.hi] {
			m.masks[(d-base)&(maxWindow-1)] = 0
		}
		marks -= s.hi - s.lo
	}
}

// fillMarked decodes the blocks of a list that reach into a window, except for those whose bound is
// not above need. The last block of the window before is kept if it reaches into this one.
func (q *Query) fillMarked(l *list, base, end uint32, need float64) {
	s := &l.marked
	if n := len(s.blocks) - 1; n >= 0 && l.Last[s.blocks[n]] >= base {
		copy(s.docs, s.docs[n*index.BlockSize:])
		s.blocks[0] = s.blocks[n]
		s.blocks, s.docs, s.lo = s.blocks[:1], s.docs[:index.BlockSize], max(s.hi-n*index.BlockSize, 0)
	} else {
		s.blocks, s.docs, s.lo = s.blocks[:0], s.docs[:0], 0
	}
	s.at = 0
	s.next = l.FindBlock(s.next, base)
	for s.next < len(l.Last) && (s.next == 0 || l.Last[s.next-1] < end-1) {
		if l.boundOf(s.next) <= need {
			if l.Last[s.next] >= end-1 {
				break // later windows may find it worth something
			}
			s.next++
			continue
		}
		n := len(s.docs)
		s.docs = slices.Grow(s.docs, index.BlockSize)[:n+index.BlockSize]
		if l.DecodeDocs(s.next, (*[index.BlockSize]uint32)(s.docs[n:])) == 0 {
			s.docs, s.next = s.docs[:n], len(l.Last) // damaged: l.Err says so
			break
		}
		l.use(s.next)
		s.blocks = append(s.blocks, s.next)
		if s.single {
			q.findAlone(l, s.next, s.docs[n:])
		}
		s.next++
	}
	if s.hi = len(s.docs); s.hi == 0 {
		return
	}
	if first := (*[index.BlockSize]uint32)(s.docs); first[s.lo&(index.BlockSize-1)] < base {
		s.lo = index.Find(first, base)
	}
	if last := (*[index.BlockSize]uint32)(s.docs[s.hi-index.BlockSize:]); last[index.BlockSize-1] >= end {
		s.hi += index.Find(last, end) - index.BlockSize
	}
	s.lo = min(s.lo, s.hi)
}

// findAlone finds the documents of a block that can win without the other marked lists. They are
// found a block at a time, not a window: a rare word has a few postings in each of many windows.
func (q *Query) findAlone(l *list, block int, docs []uint32) {
	after := q.or.marks.after
	if l.boundOf(block)+after <= q.cut {
		return
	}
	s, m := &l.marked, &q.or.marks.scratch
	n := l.DecodeTFs(block, &l.postings.tfs)
	if docs, tfs := docs[:n], l.postings.tfs[:n]; s.mapped {
		n = s.levels.choose(docs, tfs, q.cut, m.docs[:], m.tfs[:], m.sums[:])
	} else {
		n = l.pick(docs, tfs, q.cut-after, m.docs[:], m.sums[:])
		l.scored += int64(len(docs) - n) // the others when they are scored
	}
	s.alone = append(s.alone, m.docs[:n]...)
}

// takeAlone moves the documents of the window from s.alone to found.
func (m *marking) takeAlone(s *marked, base, end uint32) {
	n := 0
	for ; n < len(s.alone) && s.alone[n] < end; n++ {
		if s.alone[n] >= base {
			m.found = append(m.found, s.alone[n])
		}
	}
	if n > 0 {
		s.alone = s.alone[:copy(s.alone, s.alone[n:])]
	}
}
