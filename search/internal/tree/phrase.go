package tree

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/model"
)

// phraseList is a word of a phrase at work. Equal words share a list.
type phraseList struct {
	index.Cursor
	positions index.Positions
	used      []int // the places in the phrase that it has

	block int    // that was looked at last; its bits, if it is dense and not decoded
	words []byte // and the document of the first
	base  uint32
}

// has says whether the list has a document, and then stands on it. Documents come in rising order.
// Dense blocks are decoded only if they have it: most documents of a rare word have no other.
func (l *phraseList) has(doc uint32) bool {
	if l.block < 0 || l.block < l.Blocks() && doc > l.Last[l.block] {
		if l.block = l.FindBlock(l.block+1, doc); l.block < l.Blocks() {
			l.words, l.base = l.Words(l.block)
		}
	}
	if l.words != nil && l.block < l.Blocks() {
		if doc < l.base || l.words[(doc-l.base)>>3]>>(doc&7)&1 == 0 {
			return false
		}
	}
	return l.Seek(doc) == doc
}

// phrasePool has phrases whose memory is used again.
var phrasePool = sync.Pool{New: func() any { return new(phrases) }}

// release gives the memory back.
func (p *phrases) release() {
	p.n = nil
	phrasePool.Put(p)
}

// phrases walks over the documents that have all words of a phrase.
type phrases struct {
	n      *node
	lists  []*phraseList // by rising number of documents
	spare  []*phraseList // all that were made; the first are those of lists
	places [][]uint32    // of each word of the phrase
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
	var texts []string
	for i, t := range n.terms {
		texts = append(texts, t.Text)
		at := slices.IndexFunc(p.lists, func(l *phraseList) bool { return l.Term.ID == t.Info.ID })
		if at >= 0 {
			p.lists[at].used = append(p.lists[at].used, i)
			continue
		}
		if len(p.spare) == len(p.lists) {
			p.spare = append(p.spare, new(phraseList))
		}
		l := p.spare[len(p.lists)]
		l.used, l.block, l.words = append(l.used[:0], i), -1, nil
		if err := n.src.Index.OpenBlocks(t.Info, &l.Cursor); err != nil {
			return nil, fmt.Errorf("word %q: %w", t.Text, err)
		}
		if err := n.src.Index.OpenPositions(t.Info, &l.positions); err != nil {
			return nil, fmt.Errorf("word %q: %w", t.Text, err)
		}
		p.lists = append(p.lists, l)
	}
	n.places.prepare(texts)
	slices.SortStableFunc(p.lists, func(a, b *phraseList) int { return cmp.Compare(a.Term.DF, b.Term.DF) })
	return p, nil
}

// together says whether all lists but the first have a document.
func (p *phrases) together(doc uint32) bool {
	for _, l := range p.lists[1:] {
		if !l.has(doc) {
			return false
		}
	}
	return true
}

// leastTF is the frequency of the rarest word in the document that the lists stand on: the phrase
// cannot occur more often.
func (p *phrases) leastTF() uint32 {
	tf := p.lists[0].TF()
	for _, l := range p.lists[1:] {
		tf = min(tf, l.TF())
	}
	return tf
}

// count is how often the phrase occurs in that document, or, if one is enough, whether it does.
func (p *phrases) count(one bool) uint32 {
	for _, l := range p.lists {
		places := l.positions.Of(&l.Cursor)
		for _, i := range l.used {
			p.places[i] = places
		}
	}
	return p.n.places.count(p.places, one)
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
	lead := p.lists[0]
	if within != nil && within.Count() < int(lead.Term.DF)/seekShare {
		for doc := within.Next(0); int(doc) < x.docs; doc = within.Next(doc + 1) {
			if lead.Seek(doc) == doc && p.together(doc) {
				if tf := p.count(one); tf > 0 {
					fn(doc, tf)
				}
			}
			if err := x.tick(); err != nil {
				return err
			}
		}
		return p.err()
	}
	for b := range lead.Blocks() {
		if err := x.tick(); err != nil {
			return err
		}
		lead.Load(b)
		for doc := lead.Doc(); doc != index.End && doc <= lead.Last[b]; doc = lead.Next() {
			if (within == nil || within.Has(doc)) && p.together(doc) {
				if tf := p.count(one); tf > 0 {
					fn(doc, tf)
				}
			}
			if doc == lead.Last[b] {
				break // Next would load the block after
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

// rankPhrase finds the k best documents of a query that is one phrase. A block of the rarest word's
// list is skipped if its bound and those of the other lists cannot reach the k best; a document, if
// its rarest word is not frequent enough; positions are read last.
func (x *exec) rankPhrase(n *node, within *docset.Set, h *ranking) error {
	p, err := x.openPhrase(n)
	if p == nil || err != nil {
		return err
	}
	defer p.release()
	lead := p.lists[0]
	others, bounds := 0.0, make([]model.Scorer, 0, 1)
	for _, l := range p.lists {
		for _, i := range l.used {
			if l == lead {
				bounds = append(bounds, n.scorers[i])
			} else {
				others += float64(n.scorers[i].Bound(l.Bound))
			}
		}
	}
	lengths := n.src.Collection.Lengths
	for b := range lead.Blocks() {
		if err := x.tick(); err != nil {
			return err
		}
		bound := others
		for _, s := range bounds {
			bound += float64(s.Bound(lead.Bounds[b]))
		}
		if bound <= h.cut {
			h.skipped++
			continue
		}
		lead.Load(b)
		for doc := lead.Doc(); doc != index.End; doc = lead.Next() {
			if (within == nil || within.Has(doc)) && p.together(doc) {
				length := lengths[doc]
				if most := phraseScore(n.scorers, p.leastTF(), length); most > h.theta || h.theta < 0 {
					if tf := p.count(false); tf > 0 {
						h.push(x.base+doc, phraseScore(n.scorers, tf, length))
					}
				}
			}
			if doc == lead.Last[b] {
				break
			}
		}
	}
	return p.err()
}
