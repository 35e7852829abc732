package eval

import (
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// blockMaxAnd finds the best documents that have all words. It traverses the shortest list, block
// by block, and skips a block if the bounds of all lists there do not exceed the threshold.
//
// A block is processed in one of two ways. Either its documents are scored, and those that can win
// by their score and the bounds of the other lists become candidates. Or, if these would be many or
// there is no threshold yet, its documents are intersected with the second list, and the common
// documents become candidates. When there are enough candidates, they are looked up in the
// remaining lists, from short to long. A block of such a list is decoded only if a candidate in it
// can still win. If blocks are bitmaps, all lists are intersected at once (dense.go).
func blockMaxAnd(q *Query) error {
	q.start()
	m := &q.and
	m.lists, m.start = q.shortestFirst(), q.from
	m.reset(m.lists)
	for _, l := range m.lists {
		m.start = max(m.start, l.Doc()) // in a partition, lists begin at different documents
	}
	m.mapped = m.levels.prepare(m.lists, q.c.Docs)
	return q.follow(andPlan)
}

// andBlocks traverses the blocks of the leading list from document start on. For each block it
//
//  1. skips the block if no place in it can win by the sum of the levels, or if the bounds of the
//     block and of the other lists do not sum to more than cut;
//  2. intersects the bitmaps of all lists, if the block is a bitmap, and goes on to the next block
//     (intersectBitmaps);
//  3. as long as there is no threshold, intersects a few documents at a time with the second list
//     and scores the common ones at once, so that there soon is a threshold;
//  4. adds the remaining documents that can win to the candidates (addBlock), and scores all
//     candidates when there are enough (scoreWaiting).
//
// Above a guessed floor, it stops early if it has found far fewer answers than expected.
func (q *Query) andBlocks(lists []*list, start uint32) error {
	m, lead := &q.and, lists[0]
	for b := lead.FindBlock(0, start); b < len(lead.Last); b++ {
		if err := q.tick(); err != nil {
			return err
		}
		from := start
		if b > 0 {
			from = max(from, lead.Last[b-1]+1)
		}
		if from >= q.to {
			break
		}
		if q.mayGiveUp() && q.fallsShort(lead, b) {
			return nil
		}
		if m.mapped && m.levels.lead && q.cut >= 0 &&
			m.levels.skips(from, min(lead.Last[b], q.to-1), q.cut) {
			continue
		}
		others, ok := q.boundOthers(lists, from, lead.Last[b])
		if !ok {
			break
		}
		if q.cut >= 0 && lead.boundOf(b)+others <= q.cut {
			continue
		}
		// Together with the prefetch of the second list, this saves 5% of the time if other work
		// has filled the caches.
		lead.Prefetch(b + 1)
		if q.intersectBitmaps(lists, b, from) {
			continue
		}
		docs := lead.Load(b)
		if docs == nil {
			break // damaged: l.Err says so
		}
		lo, hi := 0, len(docs)
		if docs[0] < start {
			lo = firstAtLeast(docs, start)
		}
		if lead.Last[b] >= q.to {
			hi = firstAtLeast(docs, q.to)
		}
		for lo < hi && q.cut < 0 { // a few at a time, until there is a threshold
			n := min(hi-lo, m.chunk)
			m.chunk = min(2*m.chunk, index.BlockSize)
			q.addIntersection(lists, b, lead.Loaded()[lo:lo+n], placesOfBlock[lo:lo+n], 0)
			q.scoreWaiting(lists)
			lo += n
			if q.cut >= 0 {
				if others, ok = q.boundOthers(lists, from, lead.Last[b]); !ok {
					return nil
				}
			}
		}
		if lo >= hi {
			continue
		}
		q.addBlock(lists, b, lo, hi, others)
		if m.n >= m.enough {
			q.scoreWaiting(lists)
		}
	}
	q.scoreWaiting(lists)
	return nil
}

// andState is the state of mode And. It holds the waiting candidates: n of them, in docs, tfs, sums
// and scores. They come from the leading list, or from the first two lists, and wait until
// scoreWaiting looks them up in the remaining lists.
type andState struct {
	lists       []*list // the shortest first
	start       uint32  // the first document that all lists may have
	n           int     // number of waiting candidates
	enough      int     // number of candidates at which scoreWaiting is called
	chunk       int     // number of documents looked up at a time while there is no threshold
	kind        kind    // of the waiting candidates
	bitmaps     bitmapAnd
	ranks       [index.MaxWords]uint8 // buffer of locateBits
	skipScoring backoff               // chooses blocks that are intersected before they are scored
	sifter      sifter                // of the leading list
	mapped      bool                  // all lists but the leading one have levels, which are used
	levels      levels
	best        bestFirst
	kept        [2]andBuffer[uint32] // documents at places that can win, and indexes in the block
	docs        andBuffer[uint32]
	tfs         [2]andBuffer[uint32] // of the first two lists
	sums        andBuffer[float32]   // sum of the scores known so far
	scores      []andBuffer[float32] // by list
	at          andBuffer[uint32]    // indexes of the documents that were found in a block
	places      andBuffer[uint32]    // their indexes in the block
	visits      []visit
}

// kind tells how the waiting candidates were found, and so what is known about them.
type kind uint8

const (
	scored kind = iota // in the leading list; they can win by their score or a bound on it
	both               // in the first two lists; frequencies are known, scores are not
	bare               // in the intersection of bitmaps; not even frequencies are known
)

// andBuffer is an array for the candidates, with space for kernels that write beyond the last one.
type andBuffer[T any] [maxWaiting + simd.KernelSlack]T

// visit is a block that has to be decoded for the candidates [i, end).
type visit struct{ block, i, end int }

func (m *andState) reset(lists []*list) {
	for len(m.scores) < len(lists) {
		m.scores = append(m.scores, andBuffer[float32]{})
	}
	for _, l := range lists {
		l.andBlock, l.windowBound, l.waitBound, l.wordsAt = -1, 0, 0, 0
	}
	m.n, m.kind = 0, both
	m.sifter.prepare(lists[0])
}

// shortestFirst returns the lists by increasing length. The slice is valid until the next call.
func (q *Query) shortestFirst() []*list {
	lists := append(q.byLength[:0], q.Lists...)
	for i := 1; i < len(lists); i++ {
		l, j := lists[i], i
		for ; j > 0 && lists[j-1].Term.DF > l.Term.DF; j-- {
			lists[j] = lists[j-1]
		}
		lists[j] = l
	}
	q.byLength = lists
	return lists
}

// boundOthers sets windowBound of each list but the first to its bound for documents in [from,
// last], and returns the sum. ok is false if a list ends before from: then there are no more
// answers. Without a threshold nothing can be skipped, and the sum is 0.
func (q *Query) boundOthers(lists []*list, from, last uint32) (sum float64, ok bool) {
	if q.cut < 0 {
		return 0, true
	}
	for _, l := range lists[1:] {
		if _, end := l.look(from); end == index.End {
			return 0, false
		}
		l.windowBound = l.boundUntil(last+1, q.cut)
		sum += l.windowBound
	}
	return sum, true
}

// addBlock adds candidates from the postings [lo, hi) of the leading list's block b. They are
// either those that can win by their score and the bounds of the other lists (addCandidates), or
// those that the second list contains as well (addIntersection). If scoring leaves too many
// candidates, the next blocks are intersected, twice as many each time that this happens.
func (q *Query) addBlock(lists []*list, b, lo, hi int, others float64) {
	m := &q.and
	if m.mapped && m.levels.lead {
		q.addAtPlaces(lists, b, lo, hi, others)
		return
	}
	how := scored
	if m.skipScoring.next() {
		how = both
	}
	if m.kind != how && m.n > 0 {
		q.scoreWaiting(lists)
	}
	for _, l := range lists[1:] {
		l.waitBound = max(l.waitBound, l.windowBound)
	}
	if how == both {
		q.addIntersection(lists, b, lists[0].Loaded()[lo:hi], placesOfBlock[lo:hi], others)
		return
	}
	left := q.addCandidates(lists, b, lo, hi, others)
	switch {
	case left*manyLeft <= hi-lo && (!m.mapped || left*int(lists[0].Term.DF) <= manyEach*int(lists[1].Term.DF)):
		m.skipScoring.again = 1
	case uint64(lists[1].Term.DF) < alikeRatio*uint64(lists[0].Term.DF):
		m.skipScoring.more()
	}
}

// addIntersection adds the documents that the second list contains as well. docs are documents of
// the leading list's block b, and places their indexes there. Blocks of the second list in which no
// document can win are skipped.
func (q *Query) addIntersection(lists []*list, b int, docs, places []uint32, others float64) {
	m, lead, l := &q.and, lists[0], lists[1]
	need := -1.0
	if q.cut >= 0 {
		need = q.cut - (others - l.windowBound) - lead.boundOf(b)
	}
	n := m.n
	for i, at := 0, l.andBlock; i < len(docs); {
		at = l.FindBlock(at, docs[i])
		if at >= len(l.Last) {
			break
		}
		if q.cut >= 0 && l.boundOf(at) <= need {
			i += max(firstAtLeast(docs[i:], l.Last[at]+1), 1)
			continue
		}
		l.Prefetch(at + 1)
		found, used := l.find(at, docs[i:], m, n, m.tfs[1][:])
		for f := n; f < n+found; f++ {
			p := i + int(m.at[f])
			m.docs[f], m.places[f] = docs[p], places[p]
		}
		n += found
		i += max(used, 1) // used is at least 1, unless the index file changes meanwhile
	}
	if n > m.n {
		lead.TFsAt(b, m.places[m.n:n], m.tfs[0][m.n:n])
		lead.count(b, n-m.n, m.docs[m.n])
	}
	m.n, m.kind = n, both
}

// addCandidates adds the documents of the postings [lo, hi) that can win by their score and the
// bounds of the other lists, and returns their number. The score is computed or, where that is
// cheaper, bounded by levels or by coarse lengths.
func (q *Query) addCandidates(lists []*list, b, lo, hi int, others float64) int {
	m, lead := &q.and, lists[0]
	docs, tfs, n := lead.Loaded()[lo:hi], lead.TFs()[lo:hi], 0
	if m.mapped {
		n = m.levels.choose(docs, tfs, q.cut, m.docs[m.n:], m.tfs[0][m.n:], m.sums[m.n:])
	} else if m.sifter.ready() {
		n = m.sifter.sift(lead, docs, tfs, q.cut-others, m.docs[m.n:], m.tfs[0][m.n:])
	} else {
		n = lead.pick(docs, tfs, q.cut-others, m.docs[m.n:], m.scores[0][m.n:])
	}
	if n > 0 {
		lead.count(b, n, m.docs[m.n])
	}
	m.n, m.kind = m.n+n, scored
	return n
}

// scoreWaiting scores the waiting candidates, looks them up in the remaining lists, and pushes
// those that all lists contain. At each step others is the sum of the bounds of the lists still to
// come, and candidates that cannot win with it are dropped:
//
//  1. The lists in which the candidates were found are scored, and j becomes the first list that
//     was not scored: list 0 if the candidates come from bitmaps, 2 if they come from an
//     intersection, otherwise 1. Candidates that were kept by a bound on their score are dropped
//     if their score is too low.
//  2. The remaining lists, one after the other, drop the candidates that they do not contain, and
//     add their scores to the others (intersectNext).
//  3. What is left is pushed, and the buffers are emptied. While levels or coarse lengths are used,
//     twice as many candidates, up to a limit, are collected the next time.
func (q *Query) scoreWaiting(lists []*list) {
	m, n := &q.and, q.and.n
	if n == 0 {
		return
	}
	others := 0.0
	for _, l := range lists[1:] {
		others += l.waitBound
	}
	j := 1
	if m.kind == bare {
		j = 0
		clear(m.sums[:n])
		others += lists[0].waitBound
	} else if m.kind == both {
		j = 2
		others -= lists[1].waitBound
		for i, l := range lists[:2] {
			l.batch(m.docs[:n], m.tfs[i][:n], m.scores[i][:n])
		}
		for i, s := range m.scores[1][:n] {
			m.sums[i] = m.scores[0][i] + s
		}
		if len(lists) > 2 {
			n = m.above(j, n, q.cut-others)
		}
	} else {
		if m.mapped && m.levels.lead {
			n = m.levels.choose(m.docs[:n], m.tfs[0][:n], q.cut, m.docs[:], m.tfs[0][:], m.sums[:])
		}
		if m.mapped || m.sifter.ready() {
			n = lists[0].pick(m.docs[:n], m.tfs[0][:n], q.cut-others, m.docs[:], m.scores[0][:])
		}
		copy(m.sums[:n], m.scores[0][:n])
	}
	for ; j < len(lists) && n > 0; j++ {
		others -= lists[j].waitBound
		n = q.intersectNext(lists, j, n, others)
	}
	q.pushWaiting(lists, n)
	for _, l := range lists[1:] {
		l.waitBound = 0
	}
	if m.n = 0; m.sifter.ready() || m.mapped {
		m.enough = min(2*m.enough, enoughTogether)
	}
}

// pushWaiting pushes the n candidates, whose scores of all lists are known.
func (q *Query) pushWaiting(lists []*list, n int) {
	m := &q.and
	for i, sum := range m.sums[:n] {
		if float64(sum) <= q.cut {
			continue
		}
		if len(lists) > 2 { // with more than two scores, the order of addition matters
			for j, l := range lists {
				q.scores[l.pos] = m.scores[j][i]
			}
			sum = q.noted()
		}
		q.push(m.docs[i], sum)
	}
}

// above keeps those of the n candidates whose sum is above need, and returns their number. The
// scores of j lists are known.
func (m *andState) above(j, n int, need float64) int {
	kept := 0
	for i, s := range m.sums[:n] {
		m.at[kept] = uint32(i)
		if float64(s) > need {
			kept++
		}
	}
	m.keep(j, n, kept)
	return kept
}

// keep keeps the candidates whose indexes are in m.at[:kept], with their scores of j lists.
func (m *andState) keep(j, n, kept int) {
	if kept == n {
		return
	}
	at := m.at[:kept]
	compact((*[maxWaiting]uint32)(m.docs[:]), at)
	compact((*[maxWaiting]float32)(m.sums[:]), at)
	for e := range m.scores[:j] {
		compact((*[maxWaiting]float32)(m.scores[e][:]), at)
	}
	if m.kind == bare {
		m.bitmaps.only(m.docs[:kept])
	}
}

// compact moves the elements at the given increasing indexes to the front.
func compact[T any](v *[maxWaiting]T, at []uint32) {
	for i, a := range at[:min(len(at), maxWaiting)] {
		v[i] = v[a&(maxWaiting-1)]
	}
}

// intersectNext keeps those of the n candidates that list j contains, adds their scores, and drops
// those that cannot win with others, the bounds of the lists after it. It returns the number left.
func (q *Query) intersectNext(lists []*list, j, n int, others float64) int {
	m, l := &q.and, lists[j]
	kept := 0
	if m.kind == bare && l.dense {
		kept = n
		m.bitmaps.tfs(l, n, m.tfs[0][:])
	} else {
		for _, v := range q.visits(l, n, others) {
			found, _ := l.find(v.block, m.docs[v.i:v.end], m, kept, m.tfs[0][:])
			for f := kept; f < kept+found; f++ {
				m.at[f] += uint32(v.i)
			}
			kept += found
		}
		if kept == 0 {
			return 0
		}
		m.keep(j, n, kept)
	}
	scores := m.scores[j][:kept]
	l.batch(m.docs[:kept], m.tfs[0][:kept], scores)
	for i, s := range scores {
		m.sums[i] += s
	}
	if j+1 < len(lists) {
		return m.above(j+1, kept, q.cut-others)
	}
	return kept
}

// visits lists the blocks of a list that may contain some of the n candidates, and prefetches them.
// It omits a block if none of its candidates can win with the block's bound.
func (q *Query) visits(l *list, n int, others float64) []visit {
	m := &q.and
	m.visits = m.visits[:0]
	for i, b := 0, l.andBlock; i < n; {
		b = l.FindBlock(b, m.docs[i])
		if b >= len(l.Last) {
			break
		}
		need := -1.0
		if q.cut >= 0 {
			need = q.cut - l.boundOf(b) - others
		}
		end, last, wanted := i, l.Last[b], false
		for ; end < n && m.docs[end] <= last; end++ {
			wanted = wanted || float64(m.sums[end]) > need
		}
		if wanted {
			if b != l.andBlock {
				l.Prefetch(b)
			}
			m.visits = append(m.visits, visit{b, i, end})
		}
		i = max(end, i+1)
	}
	return m.visits
}

// find looks up increasing documents in block b. used is the number of docs that are not after the
// block, and found the number of those that it contains. From index n on, m.at gets their indexes
// in docs, m.places their indexes in the block, and tfs their frequencies.
func (l *list) find(b int, docs []uint32, m *andState, n int, tfs []uint32) (found, used int) {
	if words, base := l.Words(b); words != nil {
		found, used = locateBits(words, base, docs, l.Last[b], &m.ranks, m.at[n:], m.places[n:])
	} else {
		if b != l.andBlock && l.Load(b) == nil {
			return 0, len(docs) // damaged: l.Err says so
		}
		found, used = simd.Locate(l.Loaded(), docs, l.Last[b], m.at[n:], m.places[n:])
	}
	l.andBlock = b
	if found > 0 {
		l.TFsAt(b, m.places[n:n+found], tfs[n:n+found])
		l.count(b, found, docs[m.at[n]])
	}
	return found, used
}

// count records that n postings of a block were scored, the first of which was that of doc.
func (l *list) count(b, n int, doc uint32) {
	l.scored += int64(n)
	if int64(doc) > l.usedUntil {
		l.use(b)
	}
}
