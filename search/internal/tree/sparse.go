package tree

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
	"github.com/collocate/collocate/search/internal/topk"
)

// eachIn calls fn for the documents of a list that are in a set, in increasing order, with their
// index in the block. It calls begin at the beginning of each block. Blocks without such documents
// are not decoded.
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

// sparseList is the list of a word of a query that is searched within few documents.
type sparseList struct {
	blockList
	scorer model.Scorer
	most   float64 // bound on the word's scores
	place  int     // index of the word in the query

	// If the index stores bounds for this model (see know), else nil and false.
	bm25    *model.BM25Scorer // the scorer
	lowX    []float32         // lowest x of each block
	leveled bool              // the list has a map of levels
	pairs   []uint64          // its map of the best pairs of documents, or nil
	// levels bounds the word's score at each level, in documents that the map of pairs rules out
	// from the best, and in others.
	levels [2][index.NumLevels]float64
}

// scored holds the candidates, documents that may enter the result, in increasing order.
type scored struct {
	docs   []uint32
	scores []float32 // sum over the words so far
	has    []bool    // whether the candidate has any of these words

	best   topk.Heap // scores so far of k different candidates, whose final scores are not lower
	margin float64   // relative margin for rounding

	bounded float64 // sum of the bounds of all lists
	floor   float64 // a score below which no document enters the result

	most   float32              // the highest of scores
	bounds []float64            // bound on each candidate's final score, by levels
	counts [boundBuckets]uint32 // number of bounds in ranges of equal width
	now    []uint32             // candidates that addNow looks up
	who    []uint32             // candidates to be looked up next, up to a block of them
	batch  candidates           // buffer for looking them up
}

// scoredPool reuses memory.
var scoredPool = sync.Pool{New: func() any { return new(scored) }}

// rankSparse finds the k best documents of a small set that contain any of the query's words.
// within has the documents that filters leave.
//
// The rarest words come first. Once the remaining words together cannot lift a document with none
// of the earlier words into the result, documents without an earlier word are dropped. So are those
// whose score cannot reach the threshold any more. What is left is scored in the order of the
// query.
func (x *exec) rankSparse(root *node, within *docset.Set, h *ranking) error {
	if within == nil { // only other segments have excluded documents
		within = docset.Full(x.docs)
	}
	lists, rest, err := x.sparseLists(root)
	if err != nil || len(lists) == 0 {
		return err
	}
	c := scoredPool.Get().(*scored)
	defer scoredPool.Put(c)
	c.margin, c.bounded = h.margin, rest
	c.floor = c.lowered(h.cut)
	c.list(within)
	c.begin(h)
	all := true           // documents with none of the words so far can still enter the result
	leveled := len(lists) // lists[leveled:] have maps of levels
	for leveled > 0 && lists[leveled-1].leveled {
		leveled--
	}
	for i, l := range lists[:leveled] {
		rest -= l.most
		if err := x.addSparse(l, within, c, rest); err != nil {
			return err
		}
		cut := c.cut()
		if all = all && rest >= cut; !all || i == len(lists)-1 {
			c.keep(cut - rest)
		}
	}
	if leveled < len(lists) {
		if err := x.addLeveled(lists[leveled:], c); err != nil {
			return err
		}
		c.keep(c.beat())
	}
	return x.scoreAll(lists, within, c, h)
}

// list makes all documents of a set candidates. Most words of a sparse set have no or one document,
// in no order that a processor could predict: these are written without a branch.
func (c *scored) list(set *docset.Set) {
	if few := set.Few(); few != nil {
		c.docs = append(c.docs[:0], few...)
		return
	}
	n, docs := 0, slices.Grow(c.docs[:0], set.Count()+2)
	docs = docs[:cap(docs)]
	for i, word := range set.Words() {
		docs[n] = uint32(64*i + bits.TrailingZeros64(word))
		n += int((word | -word) >> 63)
		word &= word - 1
		for ; word != 0; word &= word - 1 {
			docs[n] = uint32(64*i + bits.TrailingZeros64(word))
			n++
		}
	}
	c.docs = docs[:n]
}

// scoreAll scores the candidates in the order of the query.
func (x *exec) scoreAll(lists []*sparseList, within *docset.Set, c *scored, h *ranking) error {
	c.begin(h)
	slices.SortFunc(lists, func(a, b *sparseList) int { return cmp.Compare(a.place, b.place) })
	for _, l := range lists {
		if err := x.addSparse(l, within, c, math.Inf(1)); err != nil {
			return err
		}
	}
	for i, doc := range c.docs {
		h.push(x.base+doc, c.scores[i])
	}
	return nil
}

// begin sets the scores of all candidates to 0.
func (c *scored) begin(h *ranking) {
	n := len(c.docs)
	c.scores, c.has = slices.Grow(c.scores[:0], n)[:n], slices.Grow(c.has[:0], n)[:n]
	clear(c.scores)
	clear(c.has)
	c.most = 0
	c.best.Reset(h.heap.K)
}

// cut computes the k highest scores again and returns the threshold.
func (c *scored) cut() float64 {
	c.best.Reset(c.best.K)
	for i, has := range c.has {
		if has {
			c.best.Add(c.docs[i], c.scores[i])
		}
	}
	return c.beat()
}

// beat returns the threshold: no document with a lower score enters the result. It is lowered by a
// margin that exceeds all rounding.
func (c *scored) beat() float64 {
	if !c.best.Full() {
		return c.floor
	}
	return max(c.floor, c.lowered(float64(c.best.Worst())*(1-c.margin)))
}

// lowered returns a threshold that bounds can be compared with after they were subtracted from
// their sum; see Query.cutOf in package eval.
func (c *scored) lowered(threshold float64) float64 {
	if c.bounded > threshold*0x1p16 {
		threshold -= c.bounded * 0x1p-46
	}
	return threshold
}

// keep drops candidates with none of the words so far, and those with a score below least.
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

// addSparse adds the scores of a word to the candidates. rest is a bound on the sum over all later
// words. Candidates that cannot enter the result, by their score, the bound of the list's block and
// rest, are not looked up. If the list is not much longer than the candidates are many, its
// documents are tested for being in the set instead.
func (x *exec) addSparse(l *sparseList, within *docset.Set, c *scored, rest float64) error {
	l.block = 0
	through := int(l.Term.DF) < listShare*len(c.docs)
	next := 0 // index of the next candidate
	for b := 0; next < len(c.docs); b++ {
		if b = l.FindBlock(b, c.docs[next]); b == l.Blocks() {
			break
		}
		if err := x.tick(); err != nil {
			return err
		}
		most, beat := rest, c.beat()
		if beat > 0 {
			most += l.boundOf(b)
		}
		if through && float64(c.most)+most >= beat {
			next = x.addBlock(l, b, within, c, next)
			continue
		}
		for last := l.Last[b]; next < len(c.docs) && c.docs[next] <= last; next++ {
			if !through && (float64(c.scores[next])+most >= beat || beat <= 0) {
				x.want(next, l, c)
			}
		}
	}
	x.lookUp(l, c)
	return l.Err()
}

// addBlock looks up the candidates from index next on that a block contains. It returns the index
// of the first candidate after the block.
func (x *exec) addBlock(l *sparseList, block int, within *docset.Set, c *scored, next int) int {
	var hits, places [index.BlockSize + simd.KernelSlack]uint32
	n := simd.KeepBits(l.Load(block), simd.Places[:], within.Words(), 0, hits[:], places[:])
	for _, doc := range hits[:n] {
		if next += firstFrom(c.docs[next:], doc); next < len(c.docs) && c.docs[next] == doc {
			x.want(next, l, c)
		}
	}
	return next + firstFrom(c.docs[next:], l.Last[block]+1)
}

// firstFrom returns the index of the first document that is not less than from, in an increasing
// list. It is fast if that index is small.
func firstFrom(docs []uint32, from uint32) int {
	at, step := 0, 1
	for at+step <= len(docs) && docs[at+step-1] < from {
		at += step
		step *= 2
	}
	n, _ := slices.BinarySearch(docs[at:min(at+step, len(docs))], from)
	return at + n
}

// addLeveled adds the scores of frequent words, whose maps of levels bound the score at each place.
// Candidates with the highest sums of bounds come first: they raise the threshold, so that most of
// the others need not be looked up. "the preakness" among 1% of the documents takes a tenth of the
// time.
func (x *exec) addLeveled(lists []*sparseList, c *scored) error {
	most := 0.0 // by these words alone: the few documents that have others are in the last range
	for _, l := range lists {
		most += l.levels[1][index.NumLevels-1]
	}
	scale := boundBuckets / most
	clear(c.counts[:])
	c.bounds = slices.Grow(c.bounds[:0], len(c.docs))[:len(c.docs)]
	for i, doc := range c.docs {
		sum := float64(c.scores[i])
		for _, l := range lists {
			sum += l.boundAt(doc)
		}
		c.bounds[i] = sum
		c.counts[max(0, min(int(sum*scale), boundBuckets-1))]++
	}
	from, n := len(c.counts)-1, 0
	for ; from > 0; from-- {
		if n += int(c.counts[from]); n >= topLevels*c.best.K {
			break
		}
	}
	c.now = c.now[:0]
	for i, sum := range c.bounds {
		if sum*scale >= float64(from) {
			c.now = append(c.now, uint32(i))
		}
	}
	if err := x.addNow(lists, c); err != nil {
		return err
	}
	for _, i := range c.now { // so that no score is added twice
		c.bounds[i] = math.Inf(-1)
	}
	need := c.beat()
	c.now = c.now[:0]
	for i, sum := range c.bounds {
		if sum >= need {
			c.now = append(c.now, uint32(i))
		}
	}
	return x.addNow(lists, c)
}

// addNow looks up the candidates of c.now in the lists, one after the other. A score takes the
// place of its bound at once, so that a candidate that cannot enter the result any more is not
// looked up in later lists.
func (x *exec) addNow(lists []*sparseList, c *scored) error {
	for _, l := range lists {
		if err := x.tick(); err != nil {
			return err
		}
		c.raise()
		need, n := c.beat(), 0
		l.block = 0
		for _, i := range c.now {
			if c.bounds[i] < need {
				continue
			}
			c.now[n] = i
			n++
			c.bounds[i] -= l.boundAt(c.docs[i]) + float64(c.scores[i])
			if l.LevelOf(c.docs[i]) > 0 { // even if the bound is 0: a score of 0 is an answer
				x.want(int(i), l, c)
			}
		}
		c.now = c.now[:n]
		x.lookUp(l, c)
		if err := l.Err(); err != nil {
			return err
		}
		for _, i := range c.now {
			c.bounds[i] += float64(c.scores[i])
		}
	}
	c.raise()
	return nil
}

// raise raises the floor to the threshold so far, and that to what the candidates of c.now give.
func (c *scored) raise() {
	c.floor = c.beat()
	c.best.Reset(c.best.K)
	for _, i := range c.now {
		if c.has[i] {
			c.best.Add(c.docs[i], c.scores[i])
		}
	}
}

// want queues a candidate for lookUp, which is called when a block of them is queued.
func (x *exec) want(i int, l *sparseList, c *scored) {
	if c.who = append(c.who, uint32(i)); len(c.who) == index.BlockSize {
		x.lookUp(l, c)
	}
}

// lookUp looks up the queued candidates, and adds the scores of those that the list contains.
func (x *exec) lookUp(l *sparseList, c *scored) {
	lengths, b := x.src.Collection.Lengths, &c.batch
	b.docs = b.buf[:len(c.who)]
	for i, at := range c.who {
		b.docs[i] = c.docs[at]
	}
	b.left = b.room[:copy(b.room[:], eachPlace[:len(b.docs)])]
	l.find(b)
	var tfs [index.BlockSize]uint32
	for from, n := 0, 0; from < len(b.left); from = n {
		block := int(l.blocks[b.left[from]])
		words, base := l.Words(block)
		for n = from; n < len(b.left) && int(l.blocks[b.left[n]]) == block; n++ {
			b.places[n] = uint32(l.placeIn(b, b.left[n], words, base))
		}
		l.TFsAt(block, b.places[from:n], tfs[from:n])
	}
	for n, i := range b.left {
		at, doc := c.who[i], b.docs[i]
		c.scores[at] += l.scorer.Score(tfs[n], lengths[doc])
		c.most = max(c.most, c.scores[at])
		if !c.has[at] {
			c.has[at] = true
			c.best.Add(doc, c.scores[at])
		}
	}
	c.who = c.who[:0]
}

// sparseLists returns the lists of a query's words, the rarest first, and a bound on the sum of
// their scores.
func (x *exec) sparseLists(root *node) (lists []*sparseList, most float64, err error) {
	root.each(func(n *node) {
		if err != nil || len(n.scorers) == 0 || n.terms[0].Info.DF == 0 {
			return
		}
		l := &sparseList{scorer: n.scorers[0], place: len(lists)}
		lists = append(lists, l)
		if err = l.open(x.src.Index, n.terms[0].Info); err == nil {
			err = l.know(x.src.Index)
			most += l.most
		}
	})
	slices.SortStableFunc(lists, func(a, b *sparseList) int {
		return cmp.Compare(a.Term.DF, b.Term.DF)
	})
	return lists, most, err
}

// know computes the bounds of the list. They are tighter, and there are some for each level, if the
// index stores bounds for the model of the request.
func (l *sparseList) know(from *index.Reader) error {
	l.most, l.lowX, l.leveled = float64(l.scorer.Bound(l.Bound)), nil, false
	s, ok := l.scorer.(*model.BM25Scorer)
	if !ok || !s.W.Stored || l.LowX == nil {
		return nil
	}
	l.bm25, l.lowX = s, l.LowX
	l.most = l.ofX(l.BestX)
	if l.leveled = l.Levels != nil; !l.leveled {
		return nil
	}
	pairs, x, err := from.Pairs(l.Term)
	l.pairs = pairs
	for level := 1; level < index.NumLevels; level++ {
		bound := l.ofX(l.LevelX[level])
		l.levels[1][level] = bound
		if l.levels[0][level] = bound; pairs != nil {
			l.levels[0][level] = min(bound, l.ofX(x))
		}
	}
	return err
}

// boundAt returns a bound on the score of a word with a map of levels in a document.
func (l *sparseList) boundAt(doc uint32) float64 {
	best := uint64(0)
	if l.pairs != nil {
		best = l.pairs[doc>>7] >> (doc >> 1 & 63) & 1
	}
	return l.levels[best][l.LevelOf(doc)]
}

// ofX returns a bound on the score of postings whose stored x is at least the given one.
func (l *sparseList) ofX(x float32) float64 {
	return float64(l.bm25.OfX(float32(x * l.bm25.W.LowX)))
}

// boundOf returns a bound on the word's score in a block.
func (l *sparseList) boundOf(block int) float64 {
	if l.lowX != nil {
		return l.ofX(l.lowX[block])
	}
	return float64(l.scorer.Bound(l.Bounds[block]))
}
