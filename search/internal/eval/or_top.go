package eval

import (
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// This file is for queries within a filter in which all words but one are rare, such as "medal of
// honor". Without a filter, documents with rare words give a high threshold, and the frequent word
// is looked up in few documents. Within a filter too few documents may have a rare word, and most
// answers have the frequent word alone. So the documents with a rare word, which are few, are all
// scored; then the frequent word is searched for as if it were the only word (Query.oneFromTop).

// RareBeside reports whether to answer a query in this way. t is the frequent word; the other
// parameters are the number of postings of all other words (rare), the share of the documents that
// pass the filter, and the number of answers (k).
func RareBeside(ix *index.Reader, t index.Term, rare int64, share float64, k int) bool {
	if !ix.HasLevels(t) || rare > mostRare || share*float64(rare) > fewRare {
		return false
	}
	if enoughTop(ix.InTop(t), share, k) {
		return true
	}
	// Documents of the filter are looked up, the best first, until there are k answers.
	docs, df := float64(ix.Docs()), float64(t.DF)
	looks := min(share*docs, looksAnAnswer*float64(k)*docs/df)
	return share*fewAtPlaces < 1 && lookPostings*looks <= df
}

// worthOrTop reports whether to answer the query in this way.
func (q *Query) worthOrTop() bool {
	if !q.limited || q.shared || q.across != nil || !q.whole() {
		return false
	}
	l := q.longest()
	return l.hasLevels() &&
		RareBeside(q.index, l.Term, q.Stats.Postings-int64(l.Term.DF), q.share(), q.Heap.K)
}

// longest returns the longest list.
func (q *Query) longest() *list {
	return slices.MaxFunc(q.Lists, func(a, b *list) int { return int(a.Term.DF) - int(b.Term.DF) })
}

// orFromTop scores the documents that have a rare word, and then searches for the frequent one. If
// it gives up, it leaves the threshold as the floor.
func (q *Query) orFromTop() (done bool, err error) {
	before := q.anyOrder
	q.anyOrder = true
	defer func() { q.anyOrder, q.one.known = before, q.one.known[:0] }()
	l := q.longest()
	if !q.findRare(l, q.smallest()) {
		return true, nil // damaged: Err of a list says so
	}
	q.scoreRare()
	return q.oneFromTop(l)
}

// worthRareFirst reports whether no floor is known, and enough documents that may be answers are
// expected to have a rare word, beside several frequent ones, but few enough to score them all.
func (q *Query) worthRareFirst() bool {
	if !q.limited || q.floor >= 0 || q.shared || q.across != nil || !q.whole() {
		return false
	}
	rare, frequent := uint64(0), 0
	for _, l := range q.Lists {
		if l.hasLevels() {
			frequent++
		} else {
			rare += uint64(l.Term.DF)
		}
	}
	expected, k := q.share()*float64(rare), float64(q.Heap.K)
	return frequent > 1 && rare <= mostRare && expected >= k/2 && expected <= min(rareAnAnswer*k, fewRare)
}

// rareFirst scores the documents with a rare word, and leaves the threshold as the floor. No list
// alone may have k such documents, so that findFloor knows none: "battle of the bulge" takes a
// tenth of the time within 10% of the eLife paragraphs.
func (q *Query) rareFirst() (done bool, err error) {
	before := q.anyOrder
	q.anyOrder = true
	defer func() { q.anyOrder, q.one.known = before, q.one.known[:0] }()
	if !q.findRare(nil, q.smallest()) {
		return true, nil // damaged: Err of a list says so
	}
	q.scoreRare()
	q.leaveFloor()
	return false, nil
}

// findRare stores the documents of a set that have any word but that of the given list, or if that
// is nil any word without a map of levels, in one.known, in increasing order. It returns false if a
// block is damaged.
func (q *Query) findRare(but *list, in *docset.Set) bool {
	m, set := &q.one, in.Words()
	m.known = m.known[:0]
	var docs [index.BlockSize]uint32
	var places [index.BlockSize + simd.KernelSlack]uint32
	for _, l := range q.Lists {
		if l == but || but == nil && l.hasLevels() {
			continue
		}
		for block := range l.Last {
			n := l.DecodeDocs(block, &docs)
			if n == 0 {
				return false
			}
			l.use(block)
			n = simd.KeepBits(docs[:n], simd.Places[:], set, 0, docs[:], places[:])
			m.known = append(m.known, docs[:n]...)
		}
	}
	if len(q.Lists) > 2 {
		slices.Sort(m.known)
		m.known = slices.Compact(m.known)
	}
	return true
}

// scoreRare scores the documents of one.known, each in query order, and pushes them.
func (q *Query) scoreRare() {
	m := &q.one
	m.scores = slices.Grow(m.scores[:0], len(m.known))[:len(m.known)]
	clear(m.scores)
	for _, l := range q.Lists {
		block := 0
		for i, doc := range m.known {
			if block = l.FindBlock(block, doc); block == len(l.Last) {
				break
			}
			if int64(doc) > l.usedUntil {
				l.use(block)
			}
			if tf := l.TFIn(block, doc); tf > 0 {
				m.scores[i] += l.Score(tf, q.c.Lengths[doc])
				l.scored++
			}
		}
	}
	for i, doc := range m.known {
		q.push(doc, m.scores[i])
	}
}
