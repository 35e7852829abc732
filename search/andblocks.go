package search

import (
	"math"

	"github.com/collocate/collocate/index"
)

// Two lists of which the longer has at most so many times the postings of the shorter are intersected block
// by block. Two frequent words, 45,830 postings at k = 10, then take 128 microseconds; looking every document
// of the one up in the other 196. The limits are guesses: others were not tried.
const (
	denseRatio = 16
	denseLead  = 256 // postings of the shorter
)

// meeting is where two blocks of postings meet: the documents of the one are marked in a window, those of the other
// look for marks.
type meeting struct {
	mark  [maxWindow]uint8 // position in the leading block plus 1; 0 between uses
	start uint32           // first document of the second list
	block int              // of the second list, the one that is loaded
	docs  []uint32         // of that block
	found [index.BlockSize]uint64
}

// andBlocks is blockMaxAnd for a shortest list that is not much shorter than the second: it
// takes the leading list block by block.
func (q *query) andBlocks(lists []*list) error {
	lead := lists[0]
	q.meeting.block, q.meeting.start = -1, lists[1].Doc()
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
		bound := lead.boundOf(b)
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
			q.meet(lists, docs[lo:lo+n], lo, bound, others)
			lo += n
		}
	}
	return nil
}

// meet pushes those of docs that all lists have, but for blocks of the second list that cannot make any win.
// The docs are those from lo on in the leading list's block; bound is that block's, and others that of the other lists.
func (q *query) meet(lists []*list, docs []uint32, lo int, bound, others float64) {
	m, second := &q.meeting, lists[1]
	others -= second.windowBound
	base, last := docs[0], docs[len(docs)-1]
	for i, d := range docs {
		m.mark[(d-base)&(maxWindow-1)] = uint8(i + 1)
	}
	from := max(base, m.start)
	for b := second.FindBlock(max(m.block, 0), from); b < len(second.Last) && (b == 0 || second.Last[b-1] < last); b++ {
		here := second.boundOf(b) + others
		if bound+here <= q.cut {
			continue
		}
		if b != m.block {
			m.docs, m.block = second.Load(b), b
		}
		if n := m.match(base, from, last); n > 0 {
			q.pushMet(lists, docs, m.found[:n], lo, here)
		}
	}
	for _, d := range docs {
		m.mark[(d-base)&(maxWindow-1)] = 0
	}
}

// match leaves the documents of the second list's block with a mark in found, each with its mark, and
// returns how many there are. A mark may be that of another document.
func (m *meeting) match(base, from, last uint32) (n int) {
	docs := m.docs
	if len(docs) == 0 {
		return 0 // damaged: l.Err says so
	}
	if docs[len(docs)-1] > last {
		docs = docs[:firstAtLeast(docs, last+1)]
	}
	docs = docs[firstAtLeast(docs, from):]
	for _, d := range docs {
		mark := uint64(m.mark[(d-base)&(maxWindow-1)])
		m.found[n] = uint64(d)<<32 | mark
		n += int((mark + 255) >> 8) // 1 if there is a mark
	}
	return n
}

// pushMet pushes the documents that were found, as far as all lists have them and their score in the leading list with
// the bound of the others can win.
func (q *query) pushMet(lists []*list, docs []uint32, found []uint64, lo int, others float64) {
	lead := lists[0]
	tfs := lead.TFs()
	for _, f := range found {
		doc, at := uint32(f>>32), int(uint8(f))-1
		if docs[at] != doc {
			continue
		}
		score := float64(lead.score(tfs[lo+at], q.c.lengths[doc]))
		if score+others <= q.cut || len(lists) > 2 && score+lookAll(lists[1:], doc) <= q.cut {
			continue
		}
		lead.Seek(doc)
		if agree(lists[1:], doc) == doc {
			q.push(doc, q.scoreAt(doc))
		}
	}
}

// lookAll is a bound for what the lists give to a document.
func lookAll(lists []*list, doc uint32) (bound float64) {
	for _, l := range lists {
		b, _ := l.look(doc)
		bound += b
	}
	return bound
}
