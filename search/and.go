package search

import (
	"cmp"
	"slices"

	"github.com/collocate/collocate/index"
)

// blockMaxAnd finds documents that have all words. The shortest list leads: its blocks are scored, unless the bounds
// of all lists together cannot beat the threshold there, and the documents that with their score and the bounds of the
// others can win are looked up in the other lists, from short to long. A block of another list is decoded only if a document
// that it may hold can still win.
func blockMaxAnd(q *query) error {
	q.start()
	lists := append(q.byBound[:0], q.lists...)
	q.byBound = lists
	slices.SortStableFunc(lists, func(a, b *list) int { return cmp.Compare(a.Term.DF, b.Term.DF) })
	m := &q.meeting
	for len(m.scores) < len(lists) {
		m.scores = append(m.scores, blockOf[float32]{})
	}
	start := q.from
	for _, l := range lists {
		start = max(start, l.Doc()) // lists of a partition begin somewhere
		l.met = -1
	}
	lead, chunk := lists[0], firstChunk
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
		others, ok := q.boundOthers(lists, from, lead.Last[b])
		if !ok {
			return nil
		}
		if lead.boundOf(b)+others <= q.cut {
			continue
		}
		docs := lead.Load(b)
		if docs == nil {
			return nil // damaged: l.Err says so
		}
		lo, hi := firstAtLeast(docs, start), firstAtLeast(docs, q.to)
		for lo < hi {
			n := min(chunk, hi-lo)
			q.meet(lists, b, lo, lo+n, others)
			lo += n
			chunk = min(2*chunk, index.BlockSize)
		}
	}
	return nil
}

// firstChunk is how many documents are looked up at first, so that there is soon a threshold for the rest.
const firstChunk = 16

// meeting is the documents of a block of the leading list that all lists so far have.
type meeting struct {
	docs   blockOf[uint32]
	sums   [index.BlockSize]float64 // of their scores
	scores []blockOf[float32]       // of each list
	at     blockOf[uint32]          // which documents were found in a block, and
	places blockOf[uint32]          // where
	tfs    [index.BlockSize]uint32
}

// boundOthers leaves the bound of each list but the first, for documents from one to another, in windowBound, and returns their
// sum; false if a list ends before.
func (q *query) boundOthers(lists []*list, from, last uint32) (sum float64, ok bool) {
	for _, l := range lists[1:] {
		if _, end := l.look(from); end == index.End {
			return 0, false
		}
		l.windowBound = l.boundUntil(last+1, q.cut)
		sum += l.windowBound
	}
	return sum, true
}

// meet pushes those documents of the leading list's block b, from place lo to before hi, that all lists have.
func (q *query) meet(lists []*list, b, lo, hi int, others float64) {
	m, lead := &q.meeting, lists[0]
	docs, tfs := lead.Loaded()[lo:hi], lead.TFs()[lo:hi]
	n := lead.pick(docs, tfs, q.cut-others, &m.docs, &m.scores[0])
	lead.scored += int64(len(docs))
	if int64(docs[0]) > lead.usedUntil {
		lead.use(b)
	}
	for i, s := range m.scores[0][:n] {
		m.sums[i] = float64(s)
	}
	for j := 1; j < len(lists) && n > 0; j++ {
		others -= lists[j].windowBound
		n = q.meetNext(lists, j, n, others)
	}
	for i := range n {
		for j, l := range lists {
			q.scores[l.pos] = m.scores[j][i]
		}
		q.push(m.docs[i], q.noted())
	}
}

// meetNext keeps those of the n documents that list j has too, and that can still win if the
// lists after it give them others.
func (q *query) meetNext(lists []*list, j, n int, others float64) int {
	m, l := &q.meeting, lists[j]
	kept, b := 0, l.block
	for i := 0; i < n; {
		b = l.FindBlock(b, m.docs[i])
		if b >= len(l.Last) {
			break
		}
		// The documents that the block would hold, as far as its bound lets them win.
		end, last, need := i+1, l.Last[b], q.cut-l.boundOf(b)-others
		wanted := m.sums[i] > need
		for ; end < n && m.docs[end] <= last; end++ {
			wanted = wanted || m.sums[end] > need
		}
		if wanted {
			kept = q.meetBlock(lists, j, b, i, end, kept, others)
		}
		i = end
	}
	return kept
}

// meetBlock looks documents i to before end up in block b of list j, and keeps those that are there and can
// still win.
func (q *query) meetBlock(lists []*list, j, b, i, end, kept int, others float64) int {
	m, l := &q.meeting, lists[j]
	if b != l.met {
		if l.Load(b) == nil {
			return kept // damaged: l.Err says so
		}
		l.met = b
	}
	found := locate(l.Loaded(), m.docs[i:end], &m.at, &m.places)
	if found == 0 {
		return kept
	}
	tfs := l.TFs()
	scores := &m.scores[j]
	for f := range found {
		from := i + int(m.at[f])
		m.docs[kept+f], m.sums[kept+f] = m.docs[from], m.sums[from]
		m.tfs[f] = tfs[m.places[f]&(index.BlockSize-1)]
		for e := range j {
			m.scores[e][kept+f] = m.scores[e][from]
		}
	}
	l.batch(m.docs[kept:kept+found], m.tfs[:found], scores[kept:kept+found])
	l.scored += int64(found)
	if int64(m.docs[kept]) > l.usedUntil {
		l.use(b)
	}
	out := kept
	for f := kept; f < kept+found; f++ {
		m.sums[f] += float64(scores[f])
		if m.sums[f]+others <= q.cut {
			continue
		}
		if out < f {
			m.docs[out], m.sums[out] = m.docs[f], m.sums[f]
			for e := range j + 1 {
				m.scores[e][out] = m.scores[e][f]
			}
		}
		out++
	}
	return out
}
