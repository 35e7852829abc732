package tree

import (
	"cmp"
	"math"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
)

// fewInBlock is when the documents of a set are looked for in a block, instead of asking the set
// for each of the block: if fewer are expected there. Looking for one takes about as long as asking
// for eight.
const fewInBlock = 16

// eachIn calls fn for the postings of a list that are in a set, rising, with their place in the
// block, which begin says is another one. Blocks without any are not decoded.
func (x *exec) eachIn(c *index.Cursor, docs *docset.Set, begin func(),
	fn func(i int, doc uint32)) error {
	share := float64(docs.Count()) / float64(max(1, x.docs))
	from := uint32(0)
	for b := range c.Blocks() {
		if err := x.tick(); err != nil {
			return err
		}
		last := c.Last[b]
		first := docs.Next(from)
		if int(first) >= x.docs {
			break
		}
		if first > last {
			from = first
			continue
		}
		list := c.Load(b)
		begin()
		if float64(last-from)*share >= fewInBlock {
			for i, doc := range list {
				if docs.Has(doc) {
					fn(i, doc)
				}
			}
		} else {
			at := 0
			for doc := first; doc <= last && int(doc) < x.docs; doc = docs.Next(doc + 1) {
				i, found := slices.BinarySearch(list[at:], doc)
				if at += i; found {
					fn(at, doc)
				}
			}
		}
		from = last + 1
	}
	return c.Err()
}

// sparseList is a word of a query that is searched within a few documents.
type sparseList struct {
	index.Cursor
	scorer model.Scorer
	most   float64 // it gives no document more
	place  int     // in the query
}

// scored are documents that may be among the best, rising, and what they have so far.
type scored struct {
	docs   []uint32
	scores []float32 // of the words so far
	has    []bool    // any of these words

	best   topk.Heap // scores that different candidates reach at least
	margin float64
	floor  float64 // no document below it is one of the best
}

// rankSparse finds the best of a few documents for a query that any of its words satisfies; within
// has what its filters leave. The rarest words come first. As soon as the others together cannot
// lift a document that has none of them so far among the k best, only those count that have one,
// and of these only those that can still get there. What is left is scored in the order of the
// query.
func (x *exec) rankSparse(root *node, within *docset.Set, h *ranking) error {
	if within == nil { // a filter of other segments
		within = docset.Full(x.docs)
	}
	lists, rest, err := x.sparseLists(root)
	if err != nil || len(lists) == 0 {
		return err
	}
	c := &scored{docs: make([]uint32, 0, within.Count()), margin: h.margin, floor: h.cut}
	c.best.Reset(h.heap.K)
	for doc := range within.All() {
		c.docs = append(c.docs, doc)
	}
	c.scores, c.has = make([]float32, len(c.docs)), make([]bool, len(c.docs))
	all := true // documents that have none of the words so far may be among the best
	for i, l := range lists {
		rest -= l.most
		if err := x.addSparse(l, c, rest); err != nil {
			return err
		}
		cut := c.cut()
		if all = all && rest >= cut; !all || i == len(lists)-1 {
			c.keep(cut - rest)
		}
	}
	return x.scoreAll(lists, c, h)
}

// scoreAll scores the candidates in the order of the query.
func (x *exec) scoreAll(lists []*sparseList, c *scored, h *ranking) error {
	c.scores, c.has = make([]float32, len(c.docs)), make([]bool, len(c.docs))
	c.best.Reset(h.heap.K)
	slices.SortFunc(lists, func(a, b *sparseList) int { return cmp.Compare(a.place, b.place) })
	for _, l := range lists {
		if err := x.addSparse(l, c, math.Inf(1)); err != nil {
			return err
		}
	}
	for i, doc := range c.docs {
		h.push(x.base+doc, c.scores[i])
	}
	return nil
}

// cut is a score that k candidates reach with the words so far, or less by what rounding changes.
func (c *scored) cut() float64 {
	c.best.Reset(c.best.K)
	for i, has := range c.has {
		if has {
			c.best.Add(c.docs[i], c.scores[i])
		}
	}
	return c.beat()
}

// beat is a score that no document below it can be one of the best with.
func (c *scored) beat() float64 {
	if !c.best.Full() {
		return c.floor
	}
	return max(c.floor, float64(c.best.Worst())*(1-c.margin))
}

// keep drops the candidates that have none of the words so far, or a score below least.
func (c *scored) keep(least float64) {
	n := 0
	for i, has := range c.has {
		if has && float64(c.scores[i]) >= least {
			c.docs[n], c.scores[n], c.has[n] = c.docs[i], c.scores[i], true
			n++
		}
	}
	c.docs, c.scores, c.has = c.docs[:n], c.scores[:n], c.has[:n]
}

// addSparse adds what a word gives to the candidates, if all words after it give rest at most.
// Blocks are not decoded in which there is no candidate, or none that has a word so far and none
// that could be one of the best by this word and those after it.
func (x *exec) addSparse(l *sparseList, c *scored, rest float64) error {
	lengths := x.src.Collection.Lengths
	var places, tfs, who [index.BlockSize]uint32
	next := 0 // candidate
	for b := range l.Blocks() {
		last := l.Last[b]
		if next == len(c.docs) {
			break
		}
		if c.docs[next] > last {
			continue
		}
		if err := x.tick(); err != nil {
			return err
		}
		at, touched := next, false
		for ; next < len(c.docs) && c.docs[next] <= last; next++ {
			touched = touched || c.has[next]
		}
		if !touched && float64(l.scorer.Bound(l.Bounds[b]))+rest < c.beat() {
			continue
		}
		list, from, n := l.Load(b), 0, 0
		for ; at < next && from < len(list) && n < len(places); at++ {
			doc := c.docs[at]
			for step := 1; from+step < len(list) && list[from+step] <= doc; step *= 2 {
				from += step
			}
			for from < len(list) && list[from] < doc {
				from++
			}
			if from < len(list) && list[from] == doc {
				places[n], who[n] = uint32(from), uint32(at)
				n++
			}
		}
		if n == 0 {
			continue
		}
		l.TFsAt(b, places[:n], tfs[:n])
		for i, at := range who[:n] {
			doc := c.docs[at]
			c.scores[at] += l.scorer.Score(tfs[i], lengths[doc])
			if !c.has[at] {
				c.has[at] = true
				c.best.Add(doc, c.scores[at])
			}
		}
	}
	return l.Err()
}

// sparseLists are the lists of a query's words, the rarest first, and the most that all of them
// give a document.
func (x *exec) sparseLists(root *node) (lists []*sparseList, most float64, err error) {
	root.each(func(n *node) {
		if err != nil || len(n.scorers) == 0 || n.terms[0].Info.DF == 0 {
			return
		}
		l := &sparseList{scorer: n.scorers[0], place: len(lists)}
		lists = append(lists, l)
		if err = x.src.Index.OpenBlocks(n.terms[0].Info, &l.Cursor); err == nil {
			l.most = float64(l.scorer.Bound(l.Bound))
			most += l.most
		}
	})
	slices.SortStableFunc(lists, func(a, b *sparseList) int {
		return cmp.Compare(a.Term.DF, b.Term.DF)
	})
	return lists, most, err
}
