package tree

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// phraseList is the list of a word of a phrase. Equal words share a list.
type phraseList struct {
	blockList
	positions index.Positions
	used      []int // indexes of the word in the phrase
	ready     bool  // positions is open
	err       error // error of opening positions
}

// phrasePool reuses the memory of phrases.
var phrasePool = sync.Pool{New: func() any { return new(phrases) }}

// release returns the memory to the pool.
func (p *phrases) release() {
	p.n, p.sweep.ctx = nil, nil
	phrasePool.Put(p)
}

// phrases finds the documents that contain a phrase. It first looks for documents with all of its
// words, up to a block of candidates at a time, and then reads the positions of the words in these.
type phrases struct {
	n     *node
	lists []*phraseList // by increasing document frequency
	spare []*phraseList // all allocated lists; lists uses the first ones

	tfs    [index.BlockSize]uint32 // number of occurrences of the phrase in each candidate
	who    []uint8                 // candidates in which the phrase may occur
	room   [index.BlockSize]uint8  // memory for who
	starts placesOf                // positions in these at which the phrase may begin
	found  placesOf                // positions of a word in these
	places [][]uint32              // positions of each word of the phrase, in one candidate
	sweep  sweep                   // counts steps, and matches words that need not be adjacent

	own    candidates // used if the phrase is not part of a conjunction
	scores [index.BlockSize]float32
	sums   [index.BlockSize]float32
}

// placesOf holds a list of text positions for each of some candidates. The lists are concatenated:
// that of candidate i is list[ends[i-1]:ends[i]].
type placesOf struct {
	list []uint32
	ends [index.BlockSize]uint32
	at   [index.BlockSize]uint8 // index of each candidate in its block of postings
}

// openPhrase opens the lists. It returns nil if a word is in no document.
func (x *exec) openPhrase(n *node) (*phrases, error) {
	for i := range n.terms {
		if n.terms[i].Info.DF == 0 {
			return nil, nil
		}
	}
	p := phrasePool.Get().(*phrases)
	p.sweep.steps = steps{ctx: x.ctx}
	p.n, p.lists, p.places = n, p.lists[:0], slices.Grow(p.places[:0], len(n.terms))[:len(n.terms)]
	var places map[int]int // of the lists by their words, if there are many
	if len(n.terms) > manyWords {
		places = make(map[int]int, len(n.terms))
	}
	for i := range n.terms {
		t := &n.terms[i]
		at := -1
		if places == nil {
			at = slices.IndexFunc(p.lists, func(l *phraseList) bool { return l.Term.ID == t.Info.ID })
		} else if known, ok := places[t.Info.ID]; ok {
			at = known
		} else {
			places[t.Info.ID] = len(p.lists)
		}
		if at >= 0 {
			p.lists[at].used = append(p.lists[at].used, i)
			continue
		}
		if len(p.spare) == len(p.lists) {
			p.spare = append(p.spare, new(phraseList))
		}
		l := p.spare[len(p.lists)]
		l.used, l.ready, l.err = append(l.used[:0], i), false, nil
		if err := l.openDocs(n.src.Index, t.Info); err != nil {
			return nil, fmt.Errorf("word %q: %w", t.Text, err)
		}
		p.lists = append(p.lists, l)
	}
	if !n.places.exact() {
		n.places.prepare(n.terms)
	}
	slices.SortStableFunc(p.lists, func(a, b *phraseList) int { return cmp.Compare(a.Term.DF, b.Term.DF) })
	return p, nil
}

// keep keeps the candidates that all of the given lists contain. It returns whether all of them may
// contain later documents.
func (p *phrases) keep(c *candidates, lists []*phraseList) (more bool) {
	more = true
	for _, l := range lists {
		if len(c.left) == 0 {
			return more
		}
		more = l.find(c) && more
	}
	return more
}

// leastTF returns the frequency of the rarest word in a candidate: the phrase cannot occur more
// often.
func (p *phrases) leastTF(c *candidates, i uint8) uint32 {
	least := uint32(math.MaxUint32)
	for _, l := range p.lists {
		least = min(least, l.tf(c, i))
	}
	return least
}

// prefetch prefetches the positions of the words in the remaining candidates. It saves 5% of the
// time of phrases.
func (p *phrases) prefetch(c *candidates) {
	for _, l := range p.lists {
		if l.only >= 0 {
			continue // the candidates are in one block, which the first of them loads
		}
		last := int32(-1)
		for _, i := range c.left {
			if b := l.blocks[i]; b != last {
				l.positions.Prefetch(int(b))
				last = b
			}
		}
	}
}

// openPositions opens the positions of all words when they are first needed: most phrases that
// users search for have no document with all of their words. It returns false after an error.
func (p *phrases) openPositions() bool {
	for _, l := range p.lists {
		if !l.ready && l.err == nil {
			l.err = p.n.src.Index.OpenPositions(l.Term, &l.positions)
			l.ready = l.err == nil
		}
		if !l.ready {
			return false
		}
	}
	return true
}

// count counts the occurrences of the phrase in the remaining candidates. It stores the counts in
// tfs and keeps the candidates with any. If the context ends meanwhile, it keeps none, and err
// returns why.
func (p *phrases) count(c *candidates) {
	if len(c.left) == 0 || p.sweep.err != nil || !p.openPositions() {
		c.left = c.left[:0]
		return
	}
	p.prefetch(c)
	if p.n.places.exact() {
		p.countExact(c)
	} else {
		for _, i := range c.left {
			for _, l := range p.lists {
				block, place := l.where(c, i)
				places := l.positions.At(&l.Cursor, block, place)
				p.sweep.step(len(places))
				for _, u := range l.used {
					p.places[u] = places
				}
			}
			if p.sweep.err == nil {
				p.tfs[i] = p.n.places.count(p.places, &p.sweep)
			}
		}
	}
	if p.sweep.err != nil {
		c.left = c.left[:0]
		return
	}
	n := 0
	for _, i := range c.left {
		c.left[n] = i
		if p.tfs[i] > 0 {
			n++
		}
	}
	c.left = c.left[:n]
}

// countExact is count for a phrase whose words must be adjacent. It counts the positions at which
// the phrase begins. The rarest words come first; positions of a later word are read only in
// candidates in which the phrase may still begin somewhere.
func (p *phrases) countExact(c *candidates) {
	p.who = p.room[:copy(p.room[:], c.left)]
	for _, i := range p.who {
		p.tfs[i] = 0
	}
	for n, l := range p.lists {
		l.gather(c, p.who, &p.found)
		p.sweep.step(len(p.found.list))
		used := l.used
		if n == 0 {
			p.startAt(p.n.places.offset(used[0]))
			used = used[1:]
		}
		for _, u := range used {
			if !p.sweep.step(len(p.starts.list)) {
				return
			}
			p.keepStarts(p.n.places.offset(u))
		}
		p.dropEmpty()
	}
	from := uint32(0)
	for n, i := range p.who {
		p.tfs[i] = p.starts.ends[n] - from
		from = p.starts.ends[n]
	}
}

// gather reads the positions of a word in the candidates who.
func (l *phraseList) gather(c *candidates, who []uint8, out *placesOf) {
	out.list = out.list[:0]
	if l.only >= 0 {
		out.list = l.positions.Gather(&l.Cursor, l.only, who, out.list, out.ends[:])
		return
	}
	for n := 0; n < len(who); {
		from, block := n, l.blocks[who[n]]
		words, base := l.Words(int(block))
		for ; n < len(who) && l.blocks[who[n]] == block; n++ {
			out.at[n] = l.placeIn(c, who[n], words, base)
		}
		out.list = l.positions.Gather(&l.Cursor, int(block), out.at[from:n], out.list,
			out.ends[from:])
	}
}

// startAt sets the starts of the phrase to those that put its word with the given index at the
// positions found.
func (p *phrases) startAt(place uint32) {
	starts := slices.Grow(p.starts.list[:0], len(p.found.list))[:len(p.found.list)]
	n, from := 0, uint32(0)
	for w, end := range p.found.ends[:len(p.who)] {
		for _, at := range p.found.list[from:end] {
			starts[n] = at - place
			n += int((uint64(place) - uint64(at) - 1) >> 63) // 1 if at >= place, else 0
		}
		from, p.starts.ends[w] = end, uint32(n)
	}
	p.starts.list = starts[:n]
}

// keepStarts keeps the starts of the phrase that put its word with the given index at one of the
// positions found.
func (p *phrases) keepStarts(place uint32) {
	n := len(p.who)
	kept := simd.KeepStarts(p.starts.list, p.starts.ends[:n], p.found.list, p.found.ends[:n], place)
	p.starts.list = p.starts.list[:kept]
}

// dropEmpty drops the candidates without a start.
func (p *phrases) dropEmpty() {
	n, from := 0, uint32(0)
	for w, i := range p.who {
		end := p.starts.ends[w]
		p.who[n], p.starts.ends[n] = i, end
		n += int((uint64(from) - uint64(end)) >> 63)
		from = end
	}
	p.who = p.who[:n]
}

func (p *phrases) err() error {
	if p.sweep.err != nil {
		return p.sweep.err
	}
	for _, l := range p.lists {
		err := cmp.Or(l.Err(), l.err)
		if err == nil && l.ready {
			err = l.positions.Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachPhrase calls fn for the documents in which a phrase occurs, in increasing order, with its
// frequency there.
func (x *exec) eachPhrase(n *node, within *docset.Set, fn func(doc, tf uint32)) error {
	p, err := x.openPhrase(n)
	if p == nil || err != nil {
		return err
	}
	defer p.release()
	c, lead := &p.own, p.lists[0]
	seek := within != nil && within.Count() < int(lead.Term.DF)/seekShare
	for b, doc, more := 0, uint32(0), true; more; b++ {
		if err := x.tick(); err != nil {
			return err
		}
		if seek {
			doc = c.take(within, doc, x.docs)
			more = p.keep(c, p.lists) && int(doc) < x.docs
		} else {
			c.load(&lead.blockList, b, within)
			more = p.keep(c, p.lists[1:]) && b+1 < lead.Blocks()
		}
		p.count(c)
		for _, i := range c.left {
			fn(c.docs[i], p.tfs[i])
		}
		more = more && p.sweep.err == nil
	}
	return p.err()
}

// phraseScore returns the score of a phrase for a document in which it occurs tf times.
func phraseScore(scorers []model.Scorer, tf, length uint32) float32 {
	sum := float32(0)
	for _, s := range scorers {
		sum += s.Score(tf, length)
	}
	return sum
}

// rankPhrase finds the k best documents for a single phrase. The phrase occurs at most as often as
// its rarest word, so the bound of a block of that word's list, applied to the scorers of all
// words, bounds the score of the phrase.
//
// A block is skipped if its bound does not exceed the threshold. If scores increase with the
// frequency, a document is dropped if its score would be too low even if the phrase were as
// frequent there as the rarest of its words. Positions are read last.
func (x *exec) rankPhrase(n *node, within *docset.Set, h *ranking) error {
	p, err := x.openPhrase(n)
	if p == nil || err != nil {
		return err
	}
	defer p.release()
	c, lead := &p.own, p.lists[0]
	lengths := n.src.Collection.Lengths
	rising := !slices.ContainsFunc(n.scorers, func(s model.Scorer) bool { return !model.Rises(s) })
	for b, more := 0, true; more && b < lead.Blocks(); b++ {
		if err := x.tick(); err != nil {
			return err
		}
		if h.theta >= 0 && !h.counts {
			bound := 0.0
			for _, s := range n.scorers {
				bound += float64(s.Bound(lead.Bounds[b]))
			}
			if bound <= h.cut {
				h.skipped++
				continue
			}
		}
		c.load(&lead.blockList, b, within)
		if rising && h.theta >= 0 && !h.counts {
			p.promising(c, h)
		}
		more = p.keep(c, p.lists[1:])
		if rising && h.theta >= 0 && !h.counts {
			p.frequent(c, h)
		}
		p.count(c)
		more = more && p.sweep.err == nil
		h.total += int64(len(c.left))
		for _, i := range c.left {
			doc := c.docs[i]
			h.push(x.base+doc, phraseScore(n.scorers, p.tfs[i], lengths[doc]))
		}
	}
	return p.err()
}

// promising keeps the candidates that would enter the result if the phrase were as frequent as the
// word of the leading list. All candidates are in one block of that list.
func (p *phrases) promising(c *candidates, h *ranking) {
	if len(c.left) < len(c.docs)/8 {
		return // few are left, which frequent tests one by one
	}
	tfs := p.lists[0].TFsOf(p.lists[0].only)
	sums, scores := p.sums[:len(c.docs)], p.scores[:len(c.docs)]
	for n, s := range p.n.scorers {
		if n == 0 {
			s.Batch(c.docs, tfs, sums)
			continue
		}
		s.Batch(c.docs, tfs, scores)
		for i, score := range scores {
			sums[i] += score
		}
	}
	n := 0
	for _, i := range c.left {
		c.left[n] = i
		if sums[i] > h.theta {
			n++
		}
	}
	c.left = c.left[:n]
}

// frequent keeps the candidates that would enter the result if the phrase were as frequent as the
// rarest of its words there.
func (p *phrases) frequent(c *candidates, h *ranking) {
	lengths := p.n.src.Collection.Lengths
	n := 0
	for _, i := range c.left {
		c.left[n] = i
		if phraseScore(p.n.scorers, p.leastTF(c, i), lengths[c.docs[i]]) > h.theta {
			n++
		}
	}
	c.left = c.left[:n]
}
