package tree

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/model"
)

// phraseList is a word of a phrase at work. Equal words share a list.
type phraseList struct {
	index.Cursor
	positions index.Positions
	used      []int // the places in the phrase that it has
}

// phrases walks over the documents that have all words of a phrase.
type phrases struct {
	n      *node
	lists  []*phraseList // by rising number of documents
	places [][]uint32    // of each word of the phrase
}

// openPhrase opens the lists; nil if a word is in no document.
func (x *exec) openPhrase(n *node) (*phrases, error) {
	p := &phrases{n: n, places: make([][]uint32, len(n.terms))}
	var texts []string
	for i, t := range n.terms {
		if t.Info.DF == 0 {
			return nil, nil
		}
		texts = append(texts, t.Text)
		at := slices.IndexFunc(p.lists, func(l *phraseList) bool { return l.Term.ID == t.Info.ID })
		if at >= 0 {
			p.lists[at].used = append(p.lists[at].used, i)
			continue
		}
		l := &phraseList{used: []int{i}}
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
		if l.Seek(doc) != doc {
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
