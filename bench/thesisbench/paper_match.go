package thesisbench

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// The thesis' algorithms as its pseudocode has them, on uncompressed lists in memory or on those of
// the index. The engines of package search differ in these points:
//
//   - AND of one core: Algorithms 1 and 2 begin with a threshold of the sum of all bounds; ours
//     intersects the lists, whatever the algorithm.
//   - MaxScore: Algorithms 1 and 5 score every candidate in full; ours stops when a candidate
//     cannot win any more. In line 9 (4 in Algorithm 5) a list counts only if its next document is
//     the candidate, but lines 14 to 18 (6 to 8) move the other lists no further than past the last
//     candidate. So a list that is not essential is often not counted, though it has the candidate.
//   - WAND: Algorithms 2 and 4 move all lists before the pivot; ours moves one.
//   - A partition of Algorithms 4 and 5 ends as soon as the pivot, or the first essential list, is
//     past the end of that list's own range; ours ends when all ranges do. Their NextDoc goes on
//     beyond the range.

// paperList is a postings list with a pointer to its next document.
type paperList struct {
	docs, tfs []uint32
	packed    *packedList // instead of docs and tfs, or nil
	n         int         // postings
	term      bm25.Term
	max       float32 // highest score
	from, at  int     // where a partition begins; the next document
	last      uint32  // last document of the partition: d_max
}

func (l *paperList) doc(i int) uint32 {
	if l.packed != nil {
		return l.packed.doc(i)
	}
	return l.docs[i]
}

func (l *paperList) tf(i int) uint32 {
	if l.packed != nil {
		return l.packed.tf(i)
	}
	return l.tfs[i]
}

func (l *paperList) next() uint32 {
	if l.at >= l.n {
		return index.End
	}
	return l.doc(l.at)
}

// seek moves on to the first document that is not before doc: NextDoc of the thesis.
func (l *paperList) seek(doc uint32) { l.at = l.search(l.at, doc) }

// search returns the position of the first document from a position on that is not before doc.
func (l *paperList) search(from int, doc uint32) int {
	if l.packed != nil {
		return l.packed.search(from, doc)
	}
	step, to := 1, from
	for to < len(l.docs) && l.docs[to] < doc {
		from, to, step = to+1, min(to+step, len(l.docs)), 2*step
	}
	n, _ := slices.BinarySearch(l.docs[from:to], doc)
	return from + n
}

// paperMatch answers a query by the thesis' algorithms.
type paperMatch struct {
	lists   []*paperList // in the order of the query
	lengths []uint32
	k       int
	mode    search.Mode
	order   []*paperList
	heap    []search.Hit // the worst is first
	theta   float64      // threshold
	scored  int          // postings
}

// begin empties the heap. With AND the threshold begins just below the sum of all bounds, which
// only documents with all words can reach, and is not lowered.
func (m *paperMatch) begin() {
	m.heap, m.theta = m.heap[:0], 0
	if m.mode == search.And {
		sum := 0.0
		for _, l := range m.lists {
			sum += float64(l.max)
		}
		m.theta = math.Nextafter(sum, 0)
	}
	m.order = append(m.order[:0], m.lists...)
}

// wand is Algorithm 4, and Algorithm 2 if the ranges are the whole lists.
func (m *paperMatch) wand() {
	lists := m.order
	for {
		for i := 1; i < len(lists); i++ { // nearly sorted
			for j := i; j > 0 && lists[j].next() < lists[j-1].next(); j-- {
				lists[j], lists[j-1] = lists[j-1], lists[j]
			}
		}
		pivot, sum := -1, 0.0
		for i, l := range lists {
			if sum += float64(l.max); sum > m.theta {
				pivot = i
				break
			}
		}
		if pivot < 0 || lists[pivot].next() > lists[pivot].last {
			return
		}
		doc := lists[pivot].next()
		if lists[0].next() == doc {
			m.score(doc)
			for _, l := range lists {
				if l.next() == doc {
					l.at++
				}
			}
			continue
		}
		for _, l := range lists[:pivot] {
			if l.next() < doc {
				l.seek(doc)
			}
		}
	}
}

// maxScore is Algorithm 5, and Algorithm 1 if the ranges are the whole lists.
func (m *paperMatch) maxScore() {
	lists := m.order
	slices.SortStableFunc(lists, func(a, b *paperList) int { return cmp.Compare(a.max, b.max) })
	for {
		var first *paperList
		sum := 0.0
		for _, l := range lists {
			if sum += float64(l.max); sum > m.theta && (first == nil || l.next() < first.next()) {
				first = l
			}
		}
		if first == nil || first.next() > first.last {
			return
		}
		doc := first.next()
		m.score(doc)
		for _, l := range lists {
			if l.next() <= doc {
				l.seek(doc + 1)
			}
		}
	}
}

// score scores the lists whose next document is doc, in the order of the query, and keeps the
// document if it is among the k best. With AND it must have all words.
func (m *paperMatch) score(doc uint32) {
	score, words := float32(0), 0
	for _, l := range m.lists {
		if l.next() == doc {
			score += l.term.Score(l.tf(l.at), m.lengths[doc])
			words++
		}
	}
	m.scored += words
	if m.mode == search.And && words < len(m.lists) {
		return
	}
	hit := search.Hit{Doc: doc, Score: score}
	switch {
	case len(m.heap) < m.k:
		m.heap = append(m.heap, hit)
		for i := len(m.heap) - 1; i > 0 && worse(m.heap[i], m.heap[(i-1)/2]); i = (i - 1) / 2 {
			m.heap[i], m.heap[(i-1)/2] = m.heap[(i-1)/2], m.heap[i]
		}
	case worse(m.heap[0], hit):
		m.heap[0] = hit
		for i := 0; ; {
			least := i
			for _, c := range []int{2*i + 1, 2*i + 2} {
				if c < len(m.heap) && worse(m.heap[c], m.heap[least]) {
					least = c
				}
			}
			if least == i {
				break
			}
			m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
			i = least
		}
	}
	if len(m.heap) == m.k {
		m.theta = max(m.theta, float64(m.heap[0].Score))
	}
}

// worse orders answers: by score, then by document.
func worse(a, b search.Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.Doc > b.Doc
}

func best(a, b search.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
}

func (m *paperMatch) run(a search.Algorithm) {
	if a == search.MaxScore {
		m.maxScore()
	} else {
		m.wand()
	}
}

// sequential is Algorithm 1 or 2.
func (m *paperMatch) sequential(a search.Algorithm) []search.Hit {
	m.begin()
	for _, l := range m.lists {
		l.at, l.last = 0, index.End-1
	}
	m.run(a)
	slices.SortFunc(m.heap, best)
	return slices.Clone(m.heap)
}

// parallel is Algorithm 3 with Algorithm 4 or 5 for the partitions: blocks of row partitions, each
// with a heap and a threshold of its own (policy local), whose answers are merged. A document that
// several partitions return counts once, with its highest score.
func (m *paperMatch) parallel(a search.Algorithm, cut search.Partition, size, row int) []search.Hit {
	longest := 0
	for _, l := range m.lists {
		longest = max(longest, l.n)
		l.from = 0
	}
	parts := (longest + size - 1) / size
	found := map[uint32]float32{}
	for part := range parts {
		if part%row == 0 {
			m.begin()
		}
		m.enter(cut, size, part, parts)
		m.run(a)
		if (part+1)%row == 0 || part+1 == parts {
			for _, h := range m.heap {
				found[h.Doc] = max(found[h.Doc], h.Score)
			}
		}
	}
	var all []search.Hit
	for doc, score := range found {
		all = append(all, search.Hit{Doc: doc, Score: score})
	}
	slices.SortFunc(all, best)
	return all[:min(m.k, len(all))]
}

// enter sets the lists' ranges in a partition. A list without postings there takes no part.
func (m *paperMatch) enter(cut search.Partition, size, part, parts int) {
	m.order = m.order[:0]
	if cut == search.Documents || cut == search.Heterogeneous { // all lists end at the same document
		end := uint32(0)
		for _, l := range m.lists {
			end = max(end, l.doc(min((part+1)*size, l.n)-1))
		}
		if cut == search.Documents {
			end = uint32(uint64(len(m.lengths))*uint64(part+1)/uint64(parts)) - 1
		}
		for _, l := range m.lists {
			l.at, l.last = l.from, end
			l.from = l.search(l.from, end+1)
			m.order = append(m.order, l)
		}
		return
	}
	start := uint32(0)
	for _, l := range m.lists {
		if part*size < l.n {
			start = max(start, l.doc(part*size))
		}
	}
	for _, l := range m.lists {
		if l.at = part * size; l.at >= l.n {
			continue
		}
		if cut == search.Adjusted {
			l.seek(start - min(start, Slack))
		}
		if l.at < l.n {
			l.last = l.doc(min(l.at+size, l.n) - 1)
			m.order = append(m.order, l)
		}
	}
}
