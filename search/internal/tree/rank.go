package tree

import (
	"context"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
	"github.com/collocate/collocate/search/query"
)

// ranking is the k best so far, and the score to beat.
type ranking struct {
	heap    topk.Heap
	theta   float32 // -1 before there are k
	cut     float64 // no document whose bounds add up to this or less can beat it
	margin  float64
	skipped int64 // blocks skipped by their bounds; tests check that there are some
	entered int64

	counts bool  // all answers are counted, of phrases
	total  int64 // how many there are
}

// rankings are used again.
var rankings = sync.Pool{New: func() any { return new(ranking) }}

func newRanking(k, words int) *ranking {
	h := rankings.Get().(*ranking)
	h.heap.Reset(k)
	h.theta, h.cut, h.margin = -1, -1, float64(words+4)*0x1p-23
	h.skipped, h.entered, h.counts, h.total = 0, 0, false, 0
	return h
}

// result is the answer. The ranking must not be used any more.
func (h *ranking) result(stats ask.Stats) *ask.Result {
	stats.Entered = h.entered
	found := &ask.Result{Hits: h.heap.Hits(), Stats: stats}
	rankings.Put(h)
	return found
}

// push offers a document. They come in rising order.
func (h *ranking) push(doc uint32, score float32) {
	if score <= h.theta || !h.heap.Add(doc, score) {
		return
	}
	h.entered++
	if h.heap.Full() {
		h.theta = h.heap.Worst()
		h.cut = float64(h.theta) * (1 - h.margin)
	}
}

// Search answers a request that has a tree, on one core but for queries of words.
func Search(ctx context.Context, ix *Index, r *ask.Request) (*ask.Result, error) {
	p, err := prepare(ctx, ix, r)
	if err != nil {
		return nil, err
	}
	return p.search(r)
}

// root makes the node of a request, which may have words without a tree.
func (x *exec) root(r *ask.Request) (*node, error) {
	switch {
	case r.Proximity != nil:
		return x.proximity(r)
	case r.Query != nil:
		return x.compile(r.Query, 1)
	case len(r.Words) > 0:
		n, usual := &node{kind: boolean}, should
		if r.Mode == ask.And {
			usual = must
		}
		for _, w := range r.Words {
			weight := w.Weight
			if weight == 0 {
				weight = 1
			}
			part, err := x.word(query.Term{Text: w.Text}, w.Text, weight)
			if err != nil {
				return nil, err
			}
			part.role = usual
			n.add(part)
		}
		return n, nil
	case r.Mode == ask.And:
		return x.compile(query.Term{Text: r.Text}, 1)
	}
	list, err := x.wordsOf(r.Text)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	q := query.Term{Text: r.Text}
	if len(list) == 1 {
		return x.word(q, list[0], 1)
	}
	n, err := x.bool(query.Or{Parts: []query.Node{q}}, should, 1, list)
	if err == nil && len(n.parts) == 1 {
		n = n.parts[0]
	}
	return n, err
}

func (p *plan) search(r *ask.Request) (*ask.Result, error) {
	k := r.K
	if k == 0 {
		k = 10
	}
	if k += r.From; r.K < 0 || r.From < 0 || k > ask.MaxK {
		return nil, ask.Refuse("search: k = %d from %d: want a sum of 1 to %d", r.K, r.From, ask.MaxK)
	}
	live := p.live(r)
	if r.Gathers() {
		found, err := p.gather(live, k, r)
		if err != nil {
			return nil, ask.Fault(err)
		}
		return found, nil
	}
	if p.empty() {
		return &ask.Result{Hits: []ask.Hit{}}, nil
	}
	found, err := p.rank(live, k, r)
	if err != nil {
		return nil, ask.Fault(err)
	}
	if r.Count {
		if p.counted {
			found.Total = p.total
		} else if len(found.Hits) < k {
			found.Total = int64(len(found.Hits))
		} else if found.Total, err = p.count(live); err != nil {
			return nil, ask.Fault(err)
		}
	}
	found.Hits = found.Hits[min(r.From, len(found.Hits)):]
	return found, nil
}

// live are the documents that may be answers; nil: all.
func (x *exec) live(r *ask.Request) *docset.Set {
	live, within := x.e.Live, r.Within.Of(x.e.Segment)
	if live == nil || within == nil {
		if live == nil {
			live = within
		}
		return live
	}
	live = live.Clone()
	live.And(within)
	return live
}

// rankEach finds the k best with a strategy that goes through the segments one after the other.
// They come in the order of their documents, so that of equal scores the first stays.
func (p *plan) rankEach(by ask.Strategy, search func(*exec, *node, *docset.Set, *ranking) error,
	sets []*docset.Set) (*ask.Result, error) {
	if err := p.scorers(p.task.r.Model); err != nil {
		return nil, err
	}
	stats := p.stats(by)
	h := newRanking(min(p.task.k, max(1, p.docs())), stats.Words)
	h.counts = p.counted
	for i, x := range p.parts {
		if err := search(x, p.roots[i], sets[i], h); err != nil {
			return nil, err
		}
	}
	p.total = h.total
	return h.result(stats), nil
}

// rankPhrases answers a query in which nothing but one phrase scores. It counts all answers if that
// is wanted.
func (p *plan) rankPhrases() (*ask.Result, error) {
	p.counted = p.task.r.Count
	return p.rankEach(ask.TreePhrase, func(x *exec, root *node, live *docset.Set, h *ranking) error {
		n, rest, _ := root.onePhrase()
		within, err := x.limitBy(rest, live)
		if err != nil {
			return err
		}
		return x.rankPhrase(n, within, h)
	}, p.task.live)
}

// stats is what is known of a query before it is answered. Blocks, and what is decoded and scored
// of them, are not counted.
func (p *plan) stats(by ask.Strategy) ask.Stats {
	stats := ask.Stats{Strategy: by}
	if by == ask.TreeLists {
		stats.Algorithm = ask.Exhaustive
	}
	for i, root := range p.roots {
		root.each(func(n *node) {
			for j := range n.terms {
				if i == 0 {
					stats.Words++
				}
				stats.Postings += int64(n.terms[j].Info.DF)
			}
		})
	}
	return stats
}

// sparse says whether to look for the words of a query in the given number of documents one by one.
// If the engines know the best documents of its only frequent word, they look at these first.
func (p *plan) sparse(left int) bool {
	postings, cost := int64(0), int64(sparseDoc*left)
	var longest index.Term
	for i, root := range p.roots {
		part := int64(left) * int64(p.parts[i].docs) / int64(max(1, p.docs()))
		root.each(func(n *node) {
			t := n.terms[0].Info
			if t.DF == 0 {
				return
			}
			if t.DF > longest.DF {
				longest = t
			}
			postings += int64(t.DF)
			if n.src.Index.HasLevels(t) {
				cost += sparseLevel * part
			} else {
				cost += min(sparsePosting*int64(t.DF), sparseFind*part)
			}
		})
	}
	return cost < postings && !p.fromTop(longest, postings, left)
}

// fromTop says that the engines answer a query of the given postings from the best documents of its
// most frequent word on: it is the only word, or the others are rare.
func (p *plan) fromTop(longest index.Term, postings int64, left int) bool {
	e := p.parts[0].e
	if len(p.parts) > 1 || !e.Index.HasLevels(longest) {
		return false
	}
	rare := postings - int64(longest.DF)
	if rare == 0 {
		return true
	}
	w, err := e.Weigher(p.task.r.Model)
	if bm25, ok := w.(*model.BM25Weigher); err != nil || !ok || !bm25.Stored {
		return false
	}
	top, err := e.Index.Top(longest)
	return err == nil && eval.RareBeside(len(top), rare, float64(left)/float64(e.Index.Docs()), p.task.k)
}

// ForEngines says that a request that is not a tree need not become one for its filter: any of its
// words will do, and so many documents are left that the engines answer it whatever its words are.
// For a quarter of the documents or more, sparse says no.
func (ix *Index) ForEngines(r *ask.Request) bool {
	if ix == nil || r.Mode != ask.Or || ask.WantsGPU(r.Parallel) {
		return false
	}
	docs, left := 0, 0
	for _, e := range ix.engines {
		n := e.Index.Docs()
		docs += n
		if set := r.Within.Of(e.Segment); set != nil {
			n = set.Count()
		}
		left += n
	}
	return left >= docs/sparseLevel
}

// onlyWords says whether all that scores is words, different ones, and gives them with the mode in
// which the engines have to search: And if all are obligatory.
func (n *node) onlyWords(src *eval.Engine) (list []ask.Word, mode ask.Mode, ok bool) {
	if n.plainWord() && n.src == src {
		return []ask.Word{wordOf(n)}, ask.Or, true
	}
	if n.kind != boolean {
		return nil, 0, false
	}
	mode = ask.And
	for _, p := range n.parts {
		if !p.scores() {
			continue
		}
		if !p.plainWord() || p.src != src ||
			slices.ContainsFunc(list, func(w ask.Word) bool { return w.Text == p.terms[0].Text }) {
			return nil, 0, false
		}
		if p.role == should {
			mode = ask.Or
		}
		list = append(list, wordOf(p))
	}
	return list, mode, len(list) > 0
}

func wordOf(n *node) ask.Word { return ask.Word{Text: n.terms[0].Text, Weight: n.terms[0].Weight} }

// limit is the set of documents that the parts of a query allow that its words do not: filters,
// what is excluded, and, in mode Or, obligatory words. It is nil if there are none.
func (x *exec) limit(root *node, live *docset.Set, mode ask.Mode) (*docset.Set, error) {
	var parts []*node
	for _, p := range root.parts {
		if p.role == must && mode == ask.And || p.role == should {
			continue
		}
		parts = append(parts, p)
	}
	return x.limitBy(parts, live)
}

// limitBy is the documents that match obligatory parts and filters, and none of those excluded.
func (x *exec) limitBy(parts []*node, live *docset.Set) (*docset.Set, error) {
	if len(parts) == 0 {
		return live, nil
	}
	return x.matchParts(&node{kind: boolean, parts: parts}, live)
}

// onePhrase is the phrase of a query in which nothing else scores, and the other parts.
func (n *node) onePhrase() (found *node, rest []*node, ok bool) {
	if n.kind == phrase {
		return n, nil, true
	}
	for _, p := range n.parts {
		if !p.scores() {
			rest = append(rest, p)
			continue
		}
		if found != nil || p.kind != phrase {
			return nil, nil, false
		}
		found = p
	}
	return found, rest, found != nil
}

// rankWords lets the engines answer. A document with a score of 0 is an answer there, too.
func (p *plan) rankWords(list []ask.Word, mode ask.Mode, within []*docset.Set, limited bool, k int,
	r *ask.Request) (*ask.Result, error) {
	request := *r
	request.Query, request.Text, request.Words, request.Mode = nil, "", list, mode
	request.K, request.From, request.Count = k, 0, false
	request.Facets, request.Sort, request.Proximity = nil, nil, nil
	if r.Count { // fewer than k answers would be taken for all that there are
		request.AtLeast = 0
	}
	if request.Within = nil; limited {
		request.Within = &ask.Within{Sets: within}
	}
	if request.Algorithm == ask.Tiles {
		request.Algorithm = ask.Auto
	}
	if ask.WantsGPU(request.Parallel) {
		request.Parallel = nil
	}
	return p.ix.search(p.ctx, &request)
}

// rankFielded is for BM25F, which scores words over all fields: the query says which documents are
// answers, and all words of it that score, those of phrases and fields as well, how good they are.
func (p *plan) rankFielded(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	if !p.roots[0].needsWords() {
		return nil, ask.Refuse("bm25f: it scores words, and documents may match this query without any: " +
			"add a word, put # before what only filters, or take another model")
	}
	var list []ask.Word
	p.roots[0].each(func(n *node) {
		for _, t := range n.terms {
			at := slices.IndexFunc(list, func(w ask.Word) bool { return w.Text == t.Text })
			if at < 0 {
				at, list = len(list), append(list, ask.Word{Text: t.Text})
			}
			list[at].Weight += t.Weight
		}
	})
	within := make([]*docset.Set, len(live))
	for i, x := range p.parts {
		var err error
		if within[i], err = x.match(p.roots[i], live[i]); err != nil {
			return nil, err
		}
	}
	return p.rankWords(list, ask.Or, within, true, k, r)
}

// needsWords says whether each document that a node matches has a word of it that scores.
func (n *node) needsWords() bool {
	if n.kind != boolean {
		return n.kind != fixed
	}
	some := false
	for _, p := range n.parts {
		if p.scores() {
			if !p.needsWords() {
				return false
			}
			some = true
		}
	}
	return some
}

// sums are the scores of documents, by number; all 0 between searches.
var sums = sync.Pool{New: func() any { return new([]float32) }}

// rankLists finds the answers, then adds up their scores list by list.
func (x *exec) rankLists(root *node, live *docset.Set, h *ranking) error {
	answers, err := x.match(root, live)
	if err != nil || answers.Count() == 0 {
		return err
	}
	p := sums.Get().(*[]float32)
	defer sums.Put(p)
	if len(*p) < x.docs {
		*p = make([]float32, x.docs)
	}
	scores := (*p)[:x.docs]
	err = x.addScores(root, answers, scores)
	for doc := range answers.All() {
		if err == nil {
			h.push(x.base+doc, scores[doc])
		}
		scores[doc] = 0
	}
	return err
}

// addScores adds to the scores of some documents, all of which match a node, what its leaves give.
func (x *exec) addScores(n *node, docs *docset.Set, scores []float32) error {
	switch n.kind {
	case phrase:
		lengths := n.src.Collection.Lengths
		return x.eachPhrase(n, docs,
			func(doc, tf uint32) { scores[doc] += phraseScore(n.scorers, tf, lengths[doc]) })
	case words:
		if len(n.scorers) == 0 {
			return nil
		}
		s, lengths := n.scorers[0], n.src.Collection.Lengths
		return x.eachPosting(n, docs, func(doc, tf uint32) { scores[doc] += s.Score(tf, lengths[doc]) })
	}
	for _, p := range n.parts {
		if !p.scores() {
			continue
		}
		within := docs
		if p.role == should && p.kind == boolean { // leaves find out for themselves
			var err error
			if within, err = x.match(p, docs); err != nil {
				return err
			}
		}
		if err := x.addScores(p, within, scores); err != nil {
			return err
		}
	}
	return nil
}

// eachPosting calls fn for the postings of a word or pattern that are in a set, rising.
func (x *exec) eachPosting(n *node, docs *docset.Set, fn func(doc, tf uint32)) error {
	if len(n.terms) != 1 {
		return x.eachOfMany(n, docs, fn)
	}
	var c index.Cursor
	if err := n.src.Index.OpenBlocks(n.terms[0].Info, &c); err != nil {
		return err
	}
	return x.eachOfList(&c, docs, fn)
}

func (x *exec) eachOfList(c *index.Cursor, docs *docset.Set, fn func(doc, tf uint32)) error {
	var tfs []uint32
	return x.eachIn(c, docs, func() { tfs = nil }, func(i int, doc uint32) {
		if tfs == nil {
			tfs = c.TFs()
		}
		fn(doc, tfs[i])
	})
}

// eachOfMany adds up the frequencies of the words of a pattern.
func (x *exec) eachOfMany(n *node, docs *docset.Set, fn func(doc, tf uint32)) error {
	tfs := make([]uint32, x.docs)
	has := docset.New(x.docs)
	var c index.Cursor
	for i := range n.terms {
		if n.terms[i].Info.DF == 0 {
			continue // the word of another segment
		}
		if err := n.src.Index.OpenBlocks(n.terms[i].Info, &c); err != nil {
			return err
		}
		if err := x.eachOfList(&c, docs, func(doc, tf uint32) { tfs[doc] += tf; has.Add(doc) }); err != nil {
			return err
		}
	}
	for doc := range has.All() {
		fn(doc, tfs[doc])
	}
	return nil
}
