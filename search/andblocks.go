package search

import (
	"math"

	"github.com/collocate/collocate/index"
)

// Two lists of which the longer has at most so many times the postings of the shorter are intersected block
// by block: going through a block of the longer costs about 1.5 ns a posting, looking a
// document up in it about 25 ns.
const (
	denseRatio = 16
	denseLead  = 256 // postings of the shorter
)

// meeting is where two blocks of postings meet: the documents of the one are marked in a window, those of the other
// look for marks.
type meeting struct {
	mark  [maxWindow]uint8 // position in the leading block plus 1; 0 between uses
	docs  [index.BlockSize]uint32
	n     int
	block int // of the second list, that docs holds
	found []uint64
}

// andBlocks is blockMaxAnd for a shortest list that is not much shorter than the second: it
// takes the leading list block by block.
func (q *query) andBlocks(lists []*list) error {
	lead := lists[0]
	q.meeting.block = -1
	start := lead.Doc()
	for b := lead.FindBlock(0, start); b < len(lead.Last); b++ {
		if err := q.tick(); err != nil {
			return err
		}
		from := start
		if b > 0 {
			from = max(from, lead.Last[b-1]+1)
		}
		if from >= q.to {
			return nil
		}
		bound := float64(lead.bound(lead.Bounds[b]))
		others := 0.0
		for _, l := range lists[1:] {
			if _, last := l.look(from); last == index.End {
				return nil
			}
			l.windowBound = l.boundUntil(lead.Last[b]+1, q.cut)
			others += l.windowBound
		}
		if bound+others <= q.cut {
			continue
		}
		docs := lead.Load(b)
		if docs == nil {
			return nil // damaged: l.Err says so
		}
		lo, hi := firstAtLeast(docs, start), firstAtLeast(docs, q.to)
		for lo < hi {
			n := hi - lo
			if end := uint64(docs[lo]) + maxWindow; end <= math.MaxUint32 {
				n = firstAtLeast(docs[lo:hi], uint32(end))
			}
			q.meet(docs[lo:lo+n], lists[1], bound+others-lists[1].windowBound)
			q.pushMet(lists, lo, others)
			lo += n
		}
	}
	return nil
}

// meet leaves in found the documents of the second list that are among docs, but for blocks that with what
// the other lists give cannot win.
func (q *query) meet(docs []uint32, second *list, others float64) {
	m := &q.meeting
	m.found = m.found[:0]
	base, last := docs[0], docs[len(docs)-1]
	for i, d := range docs {
		m.mark[(d-base)&(maxWindow-1)] = uint8(i + 1)
	}
	for b := second.FindBlock(max(m.block, 0), base); b < len(second.Last) && (b == 0 || second.Last[b-1] < last); b++ {
		if float64(second.bound(second.Bounds[b]))+others <= q.cut {
			continue
		}
		if b != m.block {
			m.n, m.block = second.DecodeDocs(b, &m.docs), b
		}
		for _, d := range m.docs[:m.n] {
			at := int(m.mark[(d-base)&(maxWindow-1)]) - 1
			if at >= 0 && at < len(docs) && docs[at] == d {
				m.found = append(m.found, uint64(d)<<32|uint64(at))
			}
		}
	}
	for _, d := range docs {
		m.mark[(d-base)&(maxWindow-1)] = 0
	}
}

// pushMet scores the documents that were found, as far as their score in the leading list lets them win, and
// pushes those that all lists have. Their positions are from lo on in the leading list's block.
func (q *query) pushMet(lists []*list, lo int, others float64) {
	lead := lists[0]
	if len(q.meeting.found) == 0 {
		return
	}
	tfs := lead.TFs()
	for _, f := range q.meeting.found {
		doc, at := uint32(f>>32), lo+int(uint32(f))
		if float64(lead.score(tfs[at], q.c.lengths[doc]))+others <= q.cut {
			continue
		}
		lead.Seek(doc)
		if agree(lists[1:], doc) == doc {
			q.push(doc, q.scoreAt(doc))
		}
	}
}
