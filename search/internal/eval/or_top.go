package eval

import (
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/simd"
)

// This file is for queries within a filter in which all words but one are rare, such as "medal of
// honor". Without a filter, documents with rare words give a high threshold, and the frequent word
// is looked up in few documents. Within a filter too few documents may have a rare word, and most
// answers have the frequent word alone. So the documents with a rare word, which are few, are all
// scored; then the frequent word is searched for as if it were the only word (Query.oneFromTop, or
// Query.oneByBlocks if it has no map of levels).

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

// rareBeside reports whether to answer the query in this way, unless a high floor is known, and how
// many postings the rare words have.
func (q *Query) rareBeside() (rare int64, ok bool) {
	if !q.limited || q.shared || q.across != nil || !q.whole() {
		return 0, false
	}
	l := q.longest()
	rare = q.Stats.Postings - int64(l.Term.DF)
	if !l.hasLevels() {
		return rare, l.only != nil && q.share()*float64(rare) <= rareLooks+float64(l.Term.DF)/rareLook
	}
	return rare, RareBeside(q.index, l.Term, rare, q.share(), q.Heap.K)
}

// worthOrTop reports whether to answer the query in this way. With a high floor less may be left to
// read than all rare words.
func (q *Query) worthOrTop() bool {
	rare, ok := q.rareBeside()
	return ok && (q.floor < 0 || q.plainCost(q.shortestFirst())+windowsCost >= float64(rare))
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
	defer func() { q.anyOrder, q.one.rare = before, q.one.rare[:0] }()
	l := q.longest()
	if !q.findRare(l, q.smallest()) {
		return true, nil // damaged: Err of a list says so
	}
	if l.hasLevels() {
		q.scoreRare()
		return q.oneFromTop(l)
	}
	search := func() error {
		q.scoreRare()
		return q.oneByBlocks(l)
	}
	if done, err = q.oneAboveGuess(search); !done && err == nil {
		done, err = true, search()
	}
	return done, err
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
	defer func() { q.anyOrder, q.one.rare = before, q.one.rare[:0] }()
	if !q.findRare(nil, q.smallest()) {
		return true, nil // damaged: Err of a list says so
	}
	q.scoreRare()
	q.leaveFloor()
	return false, nil
}

// findRare stores the documents of a set that have any word but that of the given list, or if that
// is nil any word without a map of levels, in one.rare, in increasing order, with the sums of their
// scores for these words. It returns false if a block is damaged.
func (q *Query) findRare(but *list, in *docset.Set) bool {
	m, set := &q.one, in.Words()
	m.rare, m.found, m.rest = m.rare[:0], m.found[:0], 0
	var docs, tfs [index.BlockSize]uint32
	var scores [index.BlockSize]float32
	for _, l := range q.Lists {
		l.from, l.to = -1, -1
		if l == but || but == nil && l.hasLevels() {
			m.rest += l.max
			continue
		}
		l.from = len(m.found)
		for block := range l.Last {
			n, ok := l.decodeOnly(block, 0, set, &docs, &tfs)
			if !ok {
				return false
			}
			l.use(block)
			l.scored += int64(n)
			l.batch(docs[:n], tfs[:n], scores[:n])
			for i, doc := range docs[:n] {
				m.found = append(m.found, simd.MakeCandidate(doc, scores[i]))
			}
		}
		l.to = len(m.found)
		m.mergeRare(m.found[l.from:])
	}
	return true
}

// mergeRare merges postings into one.rare.
func (m *oneState) mergeRare(b []simd.Candidate) {
	a, to := m.rare, m.merged[:0]
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		switch {
		case x.Doc() < y.Doc():
			to, a = append(to, x), a[1:]
		case x.Doc() > y.Doc():
			to, b = append(to, y), b[1:]
		default:
			to = append(to, simd.MakeCandidate(x.Doc(), x.Sum()+y.Sum()))
			a, b = a[1:], b[1:]
		}
	}
	m.rare, m.merged = append(append(to, a...), b...), m.rare
}

// isRare reports whether a document is in one.rare.
func (m *oneState) isRare(doc uint32) bool {
	i, _ := slices.BinarySearch(m.rare, simd.MakeCandidate(doc, 0))
	return i < len(m.rare) && m.rare[i].Doc() == doc
}

// scoreRare scores the documents of one.rare that can win, and pushes them: first those that are
// the k best without the frequent words, which raise the threshold, then rareStep times as many,
// and so on.
func (q *Query) scoreRare() {
	m := &q.one
	if len(m.rare) == 0 {
		return
	}
	m.sorted = m.sorted[:0]
	for _, c := range m.rare {
		m.sorted = append(m.sorted, -c.Sum())
	}
	for n, before := q.Heap.K, float32(math.Inf(1)); before > 0; n *= rareStep {
		least := float32(0) // of the n best
		if n < len(m.rare) {
			least = -kthLowest(m.sorted, n)
		}
		m.chosen = m.chosen[:0]
		for _, c := range m.rare {
			if s := c.Sum(); s < before && s >= least && float64(s)+m.rest > q.cut {
				m.chosen = append(m.chosen, c.Doc())
			}
		}
		q.scoreChosen()
		if before = least; float64(before)+m.rest <= q.cut {
			return
		}
	}
}

// scoreChosen scores the documents of one.chosen, each in query order, and pushes them. Scores for
// rare words are known, and other words are looked up.
func (q *Query) scoreChosen() {
	m := &q.one
	m.scores = slices.Grow(m.scores[:0], len(m.chosen))[:len(m.chosen)]
	clear(m.scores)
	for _, l := range q.Lists {
		if l.from < 0 {
			q.addFrequent(l)
			continue
		}
		known := m.found[l.from:l.to]
		for i, doc := range m.chosen {
			at, _ := slices.BinarySearch(known, simd.MakeCandidate(doc, 0))
			if known = known[at:]; len(known) > 0 && known[0].Doc() == doc {
				m.scores[i] += known[0].Sum()
			}
		}
	}
	for i, doc := range m.chosen {
		q.push(doc, m.scores[i])
	}
}

// addFrequent looks the documents of one.chosen up in a list, and adds its scores.
func (q *Query) addFrequent(l *list) {
	m, block := &q.one, 0
	for i, doc := range m.chosen {
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
