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
)

// phraseList is a word of a phrase at work. Equal words share a list.
type phraseList struct {
	blockList
	positions index.Positions
	used      []int // the places in the phrase that it has
}

// phrasePool has phrases whose memory is used again.
var phrasePool = sync.Pool{New: func() any { return new(phrases) }}

// release gives the memory back.
func (p *phrases) release() {
	p.n = nil
	phrasePool.Put(p)
}

// phrases finds the documents that have all words of a phrase, up to a block of them at a time, and
// then reads where in these the words are.
type phrases struct {
	n      *node
	lists  []*phraseList // by rising number of documents
	spare  []*phraseList // all that were made; the first are those of lists
	places [][]uint32    // of each word of the phrase
	starts []uint32      // where the phrase may begin

	own candidates // of a phrase that is searched for alone
}

// openPhrase opens the lists; nil if a word is in no document.
func (x *exec) openPhrase(n *node) (*phrases, error) {
	for i := range n.terms {
		if n.terms[i].Info.DF == 0 {
			return nil, nil
		}
	}
	p := phrasePool.Get().(*phrases)
	p.n, p.lists, p.places = n, p.lists[:0], slices.Grow(p.places[:0], len(n.terms))[:len(n.terms)]
	for i := range n.terms {
		t := &n.terms[i]
		at := slices.IndexFunc(p.lists, func(l *phraseList) bool { return l.Term.ID == t.Info.ID })
		if at >= 0 {
			p.lists[at].used = append(p.lists[at].used, i)
			continue
		}
		if len(p.spare) == len(p.lists) {
			p.spare = append(p.spare, new(phraseList))
		}
		l := p.spare[len(p.lists)]
		l.used = append(l.used[:0], i)
		if err := l.open(n.src.Index, t.Info); err != nil {
			return nil, fmt.Errorf("word %q: %w", t.Text, err)
		}
		if err := n.src.Index.OpenPositions(t.Info, &l.positions); err != nil {
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

// keep keeps the candidates that some lists have. It says whether later ones may be in them.
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

// leastTF is the frequency of the rarest word in a candidate: the phrase cannot occur more often.
func (p *phrases) leastTF(c *candidates, i uint8) uint32 {
	least := uint32(math.MaxUint32)
	for _, l := range p.lists {
		least = min(least, l.tf(c, i))
	}
	return least
}

// placesIn are the places of a word in a candidate.
func (l *phraseList) placesIn(c *candidates, i uint8) []uint32 {
	block, place := l.where(c, i)
	return l.positions.At(&l.Cursor, block, place)
}

// prefetch asks memory for the places of the words in the candidates that are left: phrases take 5%
// less time for it.
func (p *phrases) prefetch(c *candidates) {
	for _, l := range p.lists {
		if l.only >= 0 {
			continue // in one block: the first candidate asks
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

// count is how often the phrase occurs in a candidate, or, if one is enough, whether it does.
func (p *phrases) count(c *candidates, i uint8, one bool) uint32 {
	if p.n.places.exact() {
		return p.countExact(c, i, one)
	}
	for _, l := range p.lists {
		places := l.placesIn(c, i)
		for _, u := range l.used {
			p.places[u] = places
		}
	}
	return p.n.places.count(p.places, one)
}

// countExact counts the places at which the phrase begins: the words follow each other. The rarest
// words come first, and the places of the others are read only if some are left.
func (p *phrases) countExact(c *candidates, i uint8, one bool) uint32 {
	starts := p.starts[:0]
	for n, l := range p.lists {
		places := l.placesIn(c, i)
		if n == 1 && len(p.places) == 2 {
			return countPair(p.starts, places, uint32(l.used[0]), one)
		}
		for m, u := range l.used {
			if n+m > 0 {
				starts = keepStarts(starts, places, uint32(u))
			} else {
				starts = startsOf(starts, places, uint32(u))
			}
		}
		if p.starts = starts; len(starts) == 0 {
			return 0
		}
	}
	return uint32(len(starts))
}

func (p *phrases) err() error {
	for _, l := range p.lists {
		if err := cmp.Or(l.Err(), l.positions.Err()); err != nil {
			return err
		}
	}
	return nil
}

// eachPhrase calls fn for the documents in which a phrase occurs, rising, and how often; if it does
// not matter, with any number that is not 0.
func (x *exec) eachPhrase(n *node, within *docset.Set, one bool, fn func(doc, tf uint32)) error {
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
		p.prefetch(c)
		for _, i := range c.left {
			if tf := p.count(c, i, one); tf > 0 {
				fn(c.docs[i], tf)
			}
		}
	}
	return p.err()
}

// phraseScore is what a phrase gives to a document in which it occurs tf times.
func phraseScore(scorers []model.Scorer, tf, length uint32) float32 {
	sum := float32(0)
	for _, s := range scorers {
		sum += s.Score(tf, length)
	}
	return sum
}

// rankPhrase finds the k best documents of a query that is one phrase. It occurs at most as often as
// its rarest word, so the bound of a block of that list holds for all words' scores. A block is
// skipped if it cannot reach the k best; a document, if one of its words is not frequent enough;
// positions are read last.
func (x *exec) rankPhrase(n *node, within *docset.Set, h *ranking) error {
	p, err := x.openPhrase(n)
	if p == nil || err != nil {
		return err
	}
	defer p.release()
	c, lead := &p.own, p.lists[0]
	lengths := n.src.Collection.Lengths
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
		more = p.keep(c, p.lists[1:])
		p.prefetch(c)
		for _, i := range c.left {
			doc := c.docs[i]
			loses := h.theta >= 0 &&
				phraseScore(n.scorers, p.leastTF(c, i), lengths[doc]) <= h.theta
			if loses && !h.counts {
				continue
			}
			if tf := p.count(c, i, loses); tf > 0 {
				h.total++
				if !loses {
					h.push(x.base+doc, phraseScore(n.scorers, tf, lengths[doc]))
				}
			}
		}
	}
	return p.err()
}
