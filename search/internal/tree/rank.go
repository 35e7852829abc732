package tree

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/lookup"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/topk"
	"github.com/collocate/collocate/search/query"
)

// ranking holds the k best documents so far and the threshold.
type ranking struct {
	heap    topk.Heap
	theta   float32 // the threshold; -1 while there are fewer than k documents
	cut     float64 // no document whose bounds add up to this or less can beat theta
	margin  float64 // relative margin between theta and cut
	skipped int64   // number of blocks skipped by their bounds, for tests
	entered int64   // number of documents that entered the heap

	last int64 // the last document that was offered, for an assertion; -1: none yet

	after *ask.After // only documents after it may enter; nil means all

	counts bool  // all matching documents must be counted, so none may be skipped
	total  int64 // their number
}

// rankings reuses memory.
var rankings = sync.Pool{New: func() any { return new(ranking) }}

func newRanking(k, words int) *ranking {
	h := rankings.Get().(*ranking)
	h.heap.Reset(k)
	h.theta, h.cut, h.margin = -1, -1, marginOf(words)
	h.skipped, h.entered, h.counts, h.total, h.last, h.after = 0, 0, false, 0, -1, nil
	return h
}

// marginOf returns the relative margin between theta and cut for a query of so many words. With u =
// 2^-24, each of the n-1 additions of a float32 sum errs by a factor between 1-u and 1+u, and sums
// of the same scores in another order err differently. The worst case is in sparse.go, which adds
// the rarest words first. The sums so far of k documents, the threshold, may be too high, and their
// final scores, in the order of the query, too low. The sum so far of a document that is dropped
// may be too low, and its final score too high. That is four sums, so a document is dropped only if
// it is below the threshold by a factor of 1-4nu. The square covers the products of errors.
func marginOf(words int) float64 {
	e := 4 * float64(words) * 0x1p-24
	return e + e*e
}

// result returns the answer. The ranking must not be used afterwards.
func (h *ranking) result(stats ask.Stats) *ask.Result {
	stats.Entered = h.entered
	found := &ask.Result{Hits: h.heap.Hits(), Stats: stats}
	h.after = nil
	rankings.Put(h)
	return found
}

// push offers a document.
//
// Precondition: documents come in increasing order. Of equal scores, the first wins.
func (h *ranking) push(doc uint32, score float32) {
	if score <= h.theta || h.after != nil && !h.after.Precedes(doc, score) {
		return
	}
	if assert.On {
		if int64(doc) <= h.last {
			assert.Fail("documents do not rise")
		}
		h.last = int64(doc)
	}
	h.heap.Add(doc, score)
	h.entered++
	if h.heap.Full() {
		h.theta = h.heap.Worst()
		h.cut = float64(h.theta) * (1 - h.margin)
	}
}

// Search answers a request that has a tree. It uses one core, unless only words score.
func Search(ctx context.Context, ix *Index, r *ask.Request) (*ask.Result, error) {
	p, err := prepareKept(ctx, ix, r)
	if err != nil {
		return nil, err
	}
	if !p.empty() {
		for i, root := range p.roots {
			p.roots[i] = root.lifted()
		}
	}
	return p.search(r)
}

// lifted returns a node that has the parts of the only part that scores, if that is a group, as its
// own. It matches and scores the same documents. A query limited by a filter is such a group
// (query.Within), and without this an OR of words within a filter was no OR of words.
func (n *node) lifted() *node {
	for n.kind == boolean {
		at := slices.IndexFunc(n.parts, (*node).scores)
		if at < 0 || n.parts[at].kind != boolean || slices.ContainsFunc(n.parts[at+1:], (*node).scores) {
			return n
		}
		n = &node{kind: boolean, role: n.role, from: n.from,
			parts: slices.Concat(n.parts[:at], n.parts[at].parts, n.parts[at+1:])}
	}
	return n
}

// root returns the tree of nodes of a request, which may be given as words instead of a tree.
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
		return x.word(q, list[0], x.times(1, 0))
	}
	n, err := x.bool(query.Or{Parts: []query.Node{q}}, should, 1, list)
	if err == nil && len(n.parts) == 1 {
		n = n.parts[0]
	}
	return n, err
}

func (p *plan) search(r *ask.Request) (*ask.Result, error) {
	if r.K == ask.NoHits {
		found, err := p.gather(p.live(r), 0, r)
		if err != nil {
			return nil, ask.Fault(err)
		}
		return found, nil
	}
	k := r.K
	if k == 0 {
		k = 10
	}
	if r.After != nil && r.From > 0 {
		return nil, ask.Refuse("search: After and From %d: want only one of them", r.From)
	}
	if r.K < 0 || r.From < 0 || r.From > ask.MaxK-k {
		return nil, ask.Refuse("search: K %d, From %d: want neither negative, and a sum of at most %d",
			r.K, r.From, ask.MaxK)
	}
	k += r.From
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
		} else if len(found.Hits) < k && r.After == nil {
			found.Total = int64(len(found.Hits))
		} else if found.Total, err = p.count(live); err != nil {
			return nil, ask.Fault(err)
		}
		if assert.On && found.Total < int64(len(found.Hits)) {
			assert.Fail("fewer documents are counted than found")
		}
	}
	found.Hits = found.Hits[min(r.From, len(found.Hits)):]
	return found, nil
}

// live returns the documents that may be answers; nil means all.
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

// rankEach finds the k best with a strategy that processes the segments one after the other.
// Segments are in the order of their documents, so that of equal scores the first wins.
func (p *plan) rankEach(by ask.Strategy, search func(*exec, *node, *docset.Set, *ranking) error,
	sets []*docset.Set) (*ask.Result, error) {
	if err := p.scorers(p.task.r.Model); err != nil {
		return nil, err
	}
	stats := p.stats(by)
	h := newRanking(min(p.task.k, max(1, p.docs())), p.scoringTerms())
	h.counts, h.after = p.counted, p.task.r.After
	for i, x := range p.parts {
		if err := search(x, p.roots[i], sets[i], h); err != nil {
			return nil, err
		}
	}
	p.total = h.total
	return h.result(stats), nil
}

// rankPhrases answers a query in which only one phrase scores. It counts all answers if the request
// wants that.
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

// stats returns the statistics that are known before a query is answered. Strategies of trees do
// not count blocks and decoded or scored postings.
func (p *plan) stats(by ask.Strategy) ask.Stats {
	stats := ask.Stats{Strategy: by}
	if by == ask.TreeLists {
		stats.Algorithm = ask.Exhaustive
	}
	for _, root := range p.roots {
		lists := wordLists{few: p.one.lists[:0]}
		root.each(func(n *node) {
			for j := range n.terms {
				if t := &n.terms[j]; t.AllDF() > 0 && lists.add(wordList{n.src, t.Text}) {
					stats.Postings += int64(t.Info.DF)
				}
			}
		})
		// Only the words of patterns differ between segments.
		stats.Words = max(stats.Words, len(lists.few)+len(lists.many))
	}
	return stats
}

// wordList names the list of a word in the index, or in that of a field.
type wordList struct {
	src  *eval.Engine
	word string
}

// wordLists is a set of lists. The first 16 are in a slice: a map would take a tenth of the time of
// the fastest queries, and only those with patterns have more words.
type wordLists struct {
	few  []wordList
	many map[wordList]bool
}

// add reports whether the list is new.
func (s *wordLists) add(l wordList) bool {
	switch {
	case slices.Contains(s.few, l) || s.many[l]:
		return false
	case len(s.few) < 16:
		s.few = append(s.few, l)
	default:
		if s.many == nil {
			s.many = map[wordList]bool{}
		}
		s.many[l] = true
	}
	return true
}

// scoringTerms returns the number of terms of the parts that score. A word counts each time that it
// occurs in the query: that many numbers are added up for a document.
func (p *plan) scoringTerms() (terms int) {
	p.roots[0].each(func(n *node) { terms += len(n.terms) })
	return terms
}

// sparseCost estimates what rankSparse costs, in postings that the engines could read.
type sparseCost struct {
	cost, postings int64
	longest        index.Term // the most frequent word
	several        bool       // there was a word with a level map in this segment
}

// add adds a word of a segment, of whose documents some are left.
func (c *sparseCost) add(ix *index.Reader, t index.Term, left int64) {
	if t.DF > c.longest.DF {
		c.longest = t
	}
	c.postings += int64(t.DF)
	if !ix.HasLevels(t) {
		c.cost += min(sparsePosting*int64(t.DF), sparseFind*left)
		return
	}
	c.cost += sparseLevel * left
	if c.several {
		c.cost += sparseFurther * left
	}
	c.several = true
}

// sparse reports whether rankSparse is cheaper than the engines for a query of words within left
// documents.
func (p *plan) sparse(left int) bool {
	c := sparseCost{cost: int64(sparseDoc * left)}
	for i, root := range p.roots {
		part := int64(left) * int64(p.parts[i].docs) / int64(max(1, p.docs()))
		c.several = false
		root.each(func(n *node) { c.add(n.src.Index, n.terms[0].Info, part) })
	}
	return p.ix.worthSparse(&c, left, p.task.k, p.task.r)
}

// worthSparse reports whether rankSparse costs less than the engines. It does not if these can
// start from the top postings of the only frequent word.
func (ix *Index) worthSparse(c *sparseCost, left, k int, r *ask.Request) bool {
	return c.cost < c.postings && !ix.fromTop(c.longest, c.postings, left, k, r)
}

// fromTop reports whether the engines will start from the top postings of a query's most frequent
// word: if it is the only word, or the others are rare. postings is the number of all postings.
func (ix *Index) fromTop(longest index.Term, postings int64, left, k int, r *ask.Request) bool {
	e := ix.engines[0]
	if len(ix.engines) > 1 || !e.Index.HasLevels(longest) {
		return false
	}
	rare := postings - int64(longest.DF)
	if rare == 0 {
		return true
	}
	w, err := e.Weigher(r.Model)
	if bm25, ok := w.(*model.BM25Weigher); err != nil || !ok || !bm25.Stored {
		return false
	}
	share := float64(left) / float64(e.Index.Docs())
	return eval.RareBeside(e.Index, longest, rare, share, k)
}

// wordings reuses memory.
var wordings = sync.Pool{New: func() any { return new(lookup.Wording) }}

// ForEngines reports whether a request without a tree need not become one because of its filter: in
// mode Or, if rankSparse would not be worth it. To make a tree only to find that out takes a
// microsecond or two, a third of the time of some queries.
func (ix *Index) ForEngines(r *ask.Request) bool {
	if r.Mode != ask.Or || ask.WantsGPU(r.Parallel) {
		return false
	}
	left, c := 0, sparseCost{}
	w := wordings.Get().(*lookup.Wording)
	defer wordings.Put(w)
	for _, e := range ix.engines {
		n := e.Index.Docs()
		if set := r.Within.Of(e.Segment); set != nil {
			n = set.Count()
		}
		if err := w.Find(&e.Lexicon, r); err != nil {
			return false // the tree reports it
		}
		c.several = false
		for i := range w.Terms {
			c.add(e.Index, w.Terms[i].Info, int64(n))
		}
		left += n
	}
	c.cost += int64(sparseDoc * left)
	return !ix.worthSparse(&c, left, cmp.Or(r.K, 10), r)
}

// onlyWords reports whether only distinct words score. It returns them with the mode for the
// engines: And if all are mandatory, else Or.
func (n *node) onlyWords(src *eval.Engine) (list []ask.Word, mode ask.Mode, ok bool) {
	if n.plainWord() && n.src == src {
		return []ask.Word{wordOf(n)}, ask.Or, true
	}
	if n.kind != boolean {
		return nil, 0, false
	}
	mode = ask.And
	var seen map[string]bool
	for _, p := range n.parts {
		if !p.scores() {
			continue
		}
		if !p.plainWord() || p.src != src {
			return nil, 0, false
		}
		if len(n.parts) < manyWords {
			if slices.ContainsFunc(list, func(w ask.Word) bool { return w.Text == p.terms[0].Text }) {
				return nil, 0, false
			}
		} else {
			if seen == nil {
				seen = make(map[string]bool, len(n.parts))
			}
			if seen[p.terms[0].Text] {
				return nil, 0, false
			}
			seen[p.terms[0].Text] = true
		}
		if p.role == should {
			mode = ask.Or
		}
		list = append(list, wordOf(p))
	}
	return list, mode, len(list) > 0
}

func wordOf(n *node) ask.Word { return ask.Word{Text: n.terms[0].Text, Weight: n.terms[0].Weight} }

// limit returns the documents that satisfy the parts of a query that the engines do not see:
// filters, excluded parts and, in mode Or, mandatory words. nil means all documents.
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

// limitBy returns the live documents that match the mandatory parts and filters among parts, and
// none of the excluded ones.
func (x *exec) limitBy(parts []*node, live *docset.Set) (*docset.Set, error) {
	if len(parts) == 0 {
		return live, nil
	}
	if n := parts[0]; len(parts) == 1 && n.role == filter && n.live && (live == nil || live == x.e.Live) {
		return n.set, nil
	}
	return x.matchParts(&node{kind: boolean, parts: parts}, live)
}

// onePhrase returns the phrase of a query in which nothing else scores, and the parts that do not
// score.
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

// rankWords lets the engines of package eval answer. Like the other strategies, they also return
// documents with a score of 0.
func (p *plan) rankWords(list []ask.Word, mode ask.Mode, within []*docset.Set, limited bool, k int,
	r *ask.Request) (*ask.Result, error) {
	request := wordsOnly(list, mode, k, r)
	if limited {
		request.Within = &ask.Within{Sets: within}
	}
	return p.ix.search(p.ctx, &request)
}

// wordsOnly returns a request for the words of another, which the engines answer.
func wordsOnly(list []ask.Word, mode ask.Mode, k int, r *ask.Request) ask.Request {
	request := *r
	request.Query, request.Text, request.Words, request.Mode = nil, "", list, mode
	request.K, request.From, request.Count, request.Within = k, 0, false, nil
	request.Facets, request.Sort, request.Proximity = nil, nil, nil
	if r.Count { // search takes fewer than k answers for all answers
		request.AtLeast = 0
	}
	if request.Algorithm == ask.Tiles {
		request.Algorithm = ask.Auto
	}
	if ask.WantsGPU(request.Parallel) {
		request.Parallel = nil
	}
	return request
}

// rankFielded answers a query with BM25F, which scores words over all fields. The tree determines
// the answers. Their scores are those of all words that score, including words of phrases and of
// fields.
func (p *plan) rankFielded(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	if !p.roots[0].needsWords() {
		return nil, ask.Refuse("bm25f: it scores words, and documents may match this query without any: " +
			"add a word, put # before what only filters, or take another model")
	}
	var list []ask.Word
	tokens := false
	p.roots[0].each(func(n *node) {
		tokens = tokens || n.src.OfTokens()
		for _, t := range n.terms {
			at := slices.IndexFunc(list, func(w ask.Word) bool { return w.Text == t.Text })
			if at < 0 {
				at, list = len(list), append(list, ask.Word{Text: t.Text})
			}
			list[at].Weight += t.Weight
		}
	})
	if tokens {
		return nil, ask.Refuse("bm25f: it scores words of text fields, and the query has weighted tokens: take another model")
	}
	within := make([]*docset.Set, len(live))
	for i, x := range p.parts {
		var err error
		if within[i], err = x.match(p.roots[i], live[i]); err != nil {
			return nil, err
		}
	}
	return p.rankWords(list, ask.Or, within, true, k, r)
}

// needsWords reports whether each document that the node matches contains one of its scoring words.
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

// sums holds scores by document number. They are all 0 between searches.
var sums = sync.Pool{New: func() any { return new([]float32) }}

// rankLists finds the set of matching documents, then adds up their scores list by list.
//
// Precondition: the sums of the last search are 0 again.
func (x *exec) rankLists(root *node, live *docset.Set, h *ranking) error {
	answers, err := x.match(root, live)
	if err != nil || answers.Count() == 0 {
		return err
	}
	p := sums.Get().(*[]float32)
	if len(*p) < x.docs {
		*p = make([]float32, x.docs)
	}
	scores := (*p)[:x.docs]
	if assert.On && !zero(scores) {
		assert.Fail("sums of an earlier search are left")
	}
	err = x.addScores(root, answers, scores)
	for doc := range answers.All() {
		if err == nil {
			h.push(x.base+doc, scores[doc])
		}
		scores[doc] = 0
	}
	sums.Put(p) // not after a fault in the middle: then some sums are not 0
	return err
}

// addScores adds the scores of a node's leaves to those of some documents, all of which match the
// node.
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
		if p.role == should && p.kind == boolean { // leaves test each document themselves
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

// eachPosting calls fn for the documents of a word or pattern that are in a set, in increasing
// order.
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

// eachOfMany is eachPosting for a pattern: it adds up the frequencies of its words.
func (x *exec) eachOfMany(n *node, docs *docset.Set, fn func(doc, tf uint32)) error {
	tfs := make([]uint32, x.docs)
	has := docset.New(x.docs)
	var c index.Cursor
	for i := range n.terms {
		if n.terms[i].Info.DF == 0 {
			continue // the word occurs only in other segments
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
