package tree

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// Queries with mandatory words or phrases, and possibly excluded or optional ones, traverse the
// list of the rarest mandatory word, a block at a time. Its documents are looked up in the other
// mandatory lists and then, if they can enter the result, in the excluded ones. Positions are read
// last.

// led reports whether to answer a query in this way. If all parts are mandatory words, the engines
// are faster, unless the answers are also counted.
func (p *plan) led(r *ask.Request) bool {
	if !mayLead(r) {
		return false
	}
	for i, root := range p.roots {
		limit := fewLed
		if root.hasPhrase() {
			limit = p.parts[i].docs
		}
		if least, others := root.rarest(); least < 0 || least > limit ||
			!others && !r.Count && !root.hasPhrase() {
			return false
		}
	}
	return true
}

// mayLead reports whether a request leaves the choice of the algorithm open.
func mayLead(r *ask.Request) bool {
	return !model.IsFielded(r.Model) && !r.Trace && r.Algorithm == ask.Auto
}

// mandatory returns trees of the mandatory parts only; filters are applied as sets.
func (p *plan) mandatory() (roots []*node) {
	for _, root := range p.roots {
		n := &node{kind: boolean, from: root.from}
		for _, part := range root.parts {
			if part.role == must {
				n.parts = append(n.parts, part)
			}
		}
		roots = append(roots, n)
	}
	return roots
}

// rarest returns the document frequency of the rarest mandatory word, and whether there are parts
// that are not mandatory. It returns -1 if no word is mandatory, or if not all parts are words and
// phrases.
func (n *node) rarest() (least int, others bool) {
	least = -1
	for _, p := range n.parts {
		if p.kind != phrase && !p.plainWord() || p.role == filter {
			return -1, false
		}
		if p.role != must {
			others = true
			continue
		}
		for i := range p.terms {
			if df := int(p.terms[i].Info.DF); least < 0 || df < least {
				least = df
			}
		}
	}
	return least, others
}

func (n *node) hasPhrase() bool {
	return slices.ContainsFunc(n.parts, func(p *node) bool { return p.kind == phrase })
}

// leaf is a word or phrase of a conjunction.
type leaf struct {
	n      *node
	list   *blockList // of a word; nil for a phrase
	phrase *phrases
	most   float64                  // bound on its score
	scores [index.BlockSize]float32 // its score for each candidate
}

// conjunction is the state of a query on one segment.
type conjunction struct {
	candidates
	lead   *blockList
	leader *leaf        // the leaf whose list leads
	others []*blockList // of mandatory parts, by increasing document frequency
	leaves []*leaf      // in the order of the query
	giving []*leaf      // the leaves that score
	words  []*leaf      // the leaves that are mandatory words
	spare  []*leaf      // all allocated leaves
	lists  []*blockList // all allocated lists
	all    [index.BlockSize]uint8
}

var conjunctions = sync.Pool{New: func() any { return new(conjunction) }}

// release returns the conjunction to the pool.
func (g *conjunction) release() {
	for _, l := range g.leaves {
		if l.phrase != nil {
			l.phrase.release()
		}
		l.n, l.phrase = nil, nil
	}
	conjunctions.Put(g)
}

// openConjunction opens the lists. It returns nil if a mandatory part is in no document. Parts
// without scorers do not score.
func (x *exec) openConjunction(root *node) (*conjunction, error) {
	for _, p := range root.parts {
		if p.role == must && p.missing() {
			return nil, nil
		}
	}
	g := conjunctions.Get().(*conjunction)
	g.leaves, g.giving, g.words = g.leaves[:0], g.giving[:0], g.words[:0]
	g.others, g.lead = g.others[:0], nil
	for _, p := range root.parts {
		if p.missing() || p.role == should && len(p.scorers) == 0 {
			continue
		}
		l, err := g.open(x, p)
		if err != nil {
			g.release()
			return nil, err
		}
		if p.role != not {
			g.giving = append(g.giving, l)
		}
		if p.role != must {
			continue
		}
		if l.phrase == nil {
			g.others, g.words = append(g.others, l.list), append(g.words, l)
		} else {
			for _, w := range l.phrase.lists {
				g.others = append(g.others, &w.blockList)
			}
		}
	}
	slices.SortStableFunc(g.others, func(a, b *blockList) int { return cmp.Compare(a.Term.DF, b.Term.DF) })
	g.lead, g.others = g.others[0], g.others[1:]
	for _, l := range g.leaves {
		if l.list == g.lead || l.phrase != nil && &l.phrase.lists[0].blockList == g.lead {
			g.leader = l
		}
	}
	return g, nil
}

// missing reports whether a word of a node is in no document.
func (n *node) missing() bool {
	return slices.ContainsFunc(n.terms, func(t model.Term) bool { return t.Info.DF == 0 })
}

// open adds a leaf.
func (g *conjunction) open(x *exec, n *node) (l *leaf, err error) {
	at := len(g.leaves)
	if at == len(g.spare) {
		g.spare, g.lists = append(g.spare, new(leaf)), append(g.lists, new(blockList))
	}
	l = g.spare[at]
	g.leaves = append(g.leaves, l)
	l.n, l.list, l.phrase, l.most = n, nil, nil, 0
	bound := index.Bound(0)
	if n.kind == phrase {
		if l.phrase, err = x.openPhrase(n); err != nil {
			return nil, err
		}
		bound = l.phrase.lists[0].Bound
	} else {
		l.list = g.lists[at]
		open := l.list.open
		if n.role == not || len(n.scorers) == 0 {
			open = l.list.openDocs
		}
		if err := open(n.src.Index, n.terms[0].Info); err != nil {
			return nil, fmt.Errorf("word %q: %w", n.terms[0].Text, err)
		}
		bound = l.list.Bound
	}
	if n.role != not {
		l.most = boundOf(n.scorers, bound)
	}
	return l, nil
}

// boundOf returns a bound on the score of a part over the postings that bound covers.
func boundOf(scorers []model.Scorer, bound index.Bound) (sum float64) {
	for _, s := range scorers {
		sum += float64(s.Bound(bound))
	}
	return sum
}

// walk visits the documents that contain all mandatory parts and none of the excluded ones, a block
// at a time. each is called with these as the remaining candidates. If h is not nil, documents that
// cannot exceed its cut may be left out.
func (x *exec) walk(g *conjunction, within *docset.Set, h *ranking, each func()) error {
	seek := within != nil && within.Count() < int(g.lead.Term.DF)/seekShare
	for b, doc, more := 0, uint32(0), true; more && b < g.lead.Blocks(); b++ {
		if err := x.tick(); err != nil {
			return err
		}
		if seek {
			doc = g.take(within, doc, x.docs)
			more = g.lead.find(&g.candidates) && int(doc) < x.docs
		} else if h != nil && h.theta >= 0 && !h.counts && g.most(b) <= h.cut {
			h.skipped++
			continue
		} else {
			g.load(g.lead, b, within)
		}
		for _, l := range g.others {
			if len(g.left) == 0 {
				break
			}
			more = l.find(&g.candidates) && more
		}
		if h != nil {
			g.promising(h)
		}
		for _, phrases := range []bool{false, true} {
			for _, l := range g.leaves {
				if (l.phrase != nil) == phrases && len(g.left) > 0 {
					g.decide(l, h != nil)
				}
			}
		}
		if len(g.left) > 0 {
			each()
		}
		more = more && !g.stopped()
	}
	return g.err()
}

// stopped reports whether the context ended while positions were read.
func (g *conjunction) stopped() bool {
	for _, l := range g.leaves {
		if l.phrase != nil && l.phrase.sweep.err != nil {
			return true
		}
	}
	return false
}

// most returns a bound on the scores in a block of the leading list.
func (g *conjunction) most(block int) float64 {
	sum := boundOf(g.leader.n.scorers, g.lead.Bounds[block])
	for _, l := range g.leaves {
		if l != g.leader {
			sum += l.most
		}
	}
	return sum
}

// promising scores the mandatory words, and keeps the candidates that can enter the result.
func (g *conjunction) promising(h *ranking) {
	rest := 0.0
	for _, l := range g.giving {
		if l.n.role == must && l.phrase == nil {
			g.score(l)
		} else {
			rest += l.most
		}
	}
	if h.theta < 0 || h.counts || len(g.words) == 0 {
		return
	}
	n, first, others := 0, g.words[0], g.words[1:]
	for _, i := range g.left {
		sum := rest + float64(first.scores[i])
		for _, l := range others {
			sum += float64(l.scores[i])
		}
		g.left[n] = i
		if sum > h.cut {
			n++
		}
	}
	g.left = g.left[:n]
}

// score computes the scores of a word for the candidates, all of which contain it.
func (g *conjunction) score(l *leaf) {
	s := l.n.scorers[0]
	if l.list.only >= 0 && len(g.left) > len(g.docs)/8 {
		s.Batch(g.docs, l.list.TFsOf(l.list.only), l.scores[:len(g.docs)])
		return
	}
	lengths := l.n.src.Collection.Lengths
	for _, i := range g.left {
		l.scores[i] = s.Score(l.list.tf(&g.candidates, i), lengths[g.docs[i]])
	}
}

// decide applies one leaf to the candidates. It drops those that lack a mandatory phrase or have an
// excluded word or phrase. If scores is set, it also computes the leaf's scores. The steps:
//
//  1. Return if nothing is to do: mandatory words are done before, and optional leaves matter only
//     for scores. An excluded word that is much rarer than the leading list only has to find its
//     own documents among all candidates (exclude).
//  2. Narrow c.left to the candidates that have the words of the leaf; all keeps the former ones.
//     If none has an excluded leaf, as is usual, restore them and return.
//  3. Narrow it to those that have the phrase, if the leaf is one, and score what is left.
//  4. Make c.left the candidates that stay: with a mandatory leaf those that have it, with an
//     excluded one those that do not, with an optional one all.
func (g *conjunction) decide(l *leaf, scores bool) {
	c := &g.candidates
	role := l.n.role
	if role == must && l.phrase == nil || role == should && !scores {
		return
	}
	if role == not && l.phrase == nil && len(c.left) == len(c.docs) && g.lead.only >= 0 &&
		l.list.Term.DF < g.lead.Term.DF/shorter {
		l.list.exclude(c)
		return
	}
	all := g.all[:copy(g.all[:], c.left)]
	if role != must {
		if l.phrase != nil {
			l.phrase.keep(c, l.phrase.lists)
		} else {
			l.list.find(c)
		}
	}
	if role == not && len(c.left) == 0 { // the common case
		c.left = c.room[:copy(c.room[:], all)]
		return
	}
	if role == should {
		for _, i := range all {
			l.scores[i] = 0
		}
	}
	var has [index.BlockSize]bool
	if l.phrase != nil {
		lengths := l.n.src.Collection.Lengths
		l.phrase.count(c)
		for _, i := range c.left {
			if has[i] = true; role != not && scores {
				l.scores[i] = phraseScore(l.n.scorers, l.phrase.tfs[i], lengths[c.docs[i]])
			}
		}
	} else {
		for _, i := range c.left {
			has[i] = true
		}
		if role == should {
			g.score(l)
		}
	}
	n := 0
	for _, i := range all {
		c.room[n] = i
		if role == should || has[i] == (role == must) {
			n++
		}
	}
	c.left = c.room[:n]
}

// total returns the score of a candidate, added in the order of the query.
func (g *conjunction) total(i uint8) (sum float32) {
	for _, l := range g.giving {
		sum += l.scores[i]
	}
	return sum
}

func (g *conjunction) err() error {
	for _, l := range g.leaves {
		if l.phrase != nil {
			if err := l.phrase.err(); err != nil {
				return err
			}
		} else if err := l.list.Err(); err != nil {
			return err
		}
	}
	return nil
}

// rankLed finds the k best answers to a query with the given trees, within sets.
func (p *plan) rankLed(roots []*node, live []*docset.Set, k int,
	r *ask.Request) (*ask.Result, error) {
	if err := p.scorers(r.Model); err != nil {
		return nil, err
	}
	stats := p.stats(ask.TreeConjunction)
	h := newRanking(min(k, max(1, p.docs())), p.scoringTerms())
	h.counts, p.counted = r.Count, true
	for i, x := range p.parts {
		g, err := x.openConjunction(roots[i])
		if err != nil {
			return nil, err
		}
		if g == nil {
			continue
		}
		err = x.walk(g, live[i], h, func() {
			h.total += int64(len(g.left))
			for _, i := range g.left {
				h.push(x.base+g.docs[i], g.total(i))
			}
		})
		g.release()
		if err != nil {
			return nil, err
		}
	}
	p.total = h.total
	return h.result(stats), nil
}

// countLed returns the number of matching documents.
func (x *exec) countLed(root *node, live *docset.Set) (n int64, err error) {
	g, err := x.openConjunction(root)
	if g == nil || err != nil {
		return 0, err
	}
	defer g.release()
	err = x.walk(g, live, nil, func() { n += int64(len(g.left)) })
	return n, err
}
