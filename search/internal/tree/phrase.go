package tree

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
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
	block     int   // no document that comes is in one before

	// Where each candidate is: all in one block, each at its own place, or, if that is negative, in
	// these blocks at these places.
	only   int
	blocks [index.BlockSize]int32
	places [index.BlockSize]uint8
}

// unknownPlace is the place of a candidate in a block of bits before it is asked for.
const unknownPlace = 0xff

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

	docs []uint32                // candidates, rising
	buf  [index.BlockSize]uint32 // room for them, and
	left []uint8                 // those that are left, by their place in docs
	room [index.BlockSize]uint8
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
		l.used, l.block, l.only = append(l.used[:0], i), 0, -1
		if err := n.src.Index.OpenBlocks(t.Info, &l.Cursor); err != nil {
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

// load makes the documents of a block of the rarest word's list candidates, and keeps those that a
// set has, if it is not nil, and all other lists. It says whether more may come.
func (p *phrases) load(block int, within *docset.Set) (more bool) {
	lead := p.lists[0]
	p.docs, lead.only = lead.Load(block), block
	p.left = p.room[:copy(p.room[:], eachPlace[:len(p.docs)])]
	if within != nil {
		n := 0
		for i, doc := range p.docs {
			p.left[n] = uint8(i)
			if within.Has(doc) {
				n++
			}
		}
		p.left = p.left[:n]
	}
	return p.keep(p.lists[1:])
}

// eachPlace are the places of a block.
var eachPlace = func() (list [index.BlockSize]uint8) {
	for i := range list {
		list[i] = uint8(i)
	}
	return list
}()

// take makes documents candidates, as many of a set from a document on as there is room for, and
// keeps those that all lists have. It returns the first document that was not taken.
func (p *phrases) take(within *docset.Set, from uint32, docs int) (next uint32, more bool) {
	p.docs = p.buf[:0]
	for from = within.Next(from); int(from) < docs && len(p.docs) < len(p.buf); from = within.Next(from + 1) {
		p.docs = append(p.docs, from)
	}
	p.left = p.room[:copy(p.room[:], eachPlace[:len(p.docs)])]
	return from, p.keep(p.lists) && int(from) < docs
}

// keep keeps the candidates that some lists have. It says whether later ones may be in them.
func (p *phrases) keep(lists []*phraseList) (more bool) {
	more = true
	for _, l := range lists {
		if len(p.left) == 0 {
			return more
		}
		more = l.find(p) && more
	}
	return more
}

// find keeps the candidates that a list has, and notes where. First it finds the blocks, which
// memory is asked for, then it looks into them.
func (l *phraseList) find(p *phrases) (more bool) {
	b, docs, last := l.block, p.docs, int64(-1)
	for n, i := range p.left {
		if int64(docs[i]) > last {
			if b = l.FindBlock(b, docs[i]); b == l.Blocks() {
				p.left = p.left[:n]
				break
			}
			l.Prefetch(b)
			last = int64(l.Last[b])
		}
		l.blocks[i] = int32(b)
	}
	l.block = b
	left, n := p.left, 0
	for at := 0; at < len(left); {
		block := int(l.blocks[left[at]])
		last := l.Last[block]
		if words, base := l.Words(block); words != nil { // every second document may be there: no branch
			for ; at < len(left) && docs[left[at]] <= last; at++ {
				i := left[at]
				bit := docs[i] - base
				left[n], l.places[i] = i, unknownPlace
				n += int(words[bit>>3] >> (bit & 7) & 1)
			}
			continue
		}
		list := l.Load(block)
		if list == nil { // damaged, which the cursor tells
			break
		}
		for ; at < len(left) && docs[left[at]] <= last; at++ {
			i := left[at]
			if place := l.Find(docs[i]); list[place] == docs[i] {
				left[n], l.places[i] = i, uint8(place)
				n++
			}
		}
	}
	p.left = left[:n]
	return b < l.Blocks()
}

// where is the block of a candidate and its place there.
func (l *phraseList) where(p *phrases, i uint8) (block, place int) {
	if l.only >= 0 {
		return l.only, int(i)
	}
	block, place = int(l.blocks[i]), int(l.places[i])
	if place == unknownPlace {
		words, base := l.Words(block)
		place = 0
		for bit := p.docs[i] - base; len(words) >= 8; words, bit = words[8:], bit-64 {
			word := binary.LittleEndian.Uint64(words)
			if bit < 64 {
				place += bits.OnesCount64(word & (1<<bit - 1))
				break
			}
			place += bits.OnesCount64(word)
		}
		l.places[i] = uint8(place)
	}
	return block, place
}

// leastTF is the frequency of the rarest word in a candidate: the phrase cannot occur more often.
func (p *phrases) leastTF(i uint8) uint32 {
	least := uint32(math.MaxUint32)
	for _, l := range p.lists {
		block, place := l.where(p, i)
		least = min(least, l.TFsOf(block)[place])
	}
	return least
}

// placesIn are the places of a word in a candidate.
func (l *phraseList) placesIn(p *phrases, i uint8) []uint32 {
	block, place := l.where(p, i)
	return l.positions.At(&l.Cursor, block, place)
}

// count is how often the phrase occurs in a candidate, or, if one is enough, whether it does.
func (p *phrases) count(i uint8, one bool) uint32 {
	if p.n.places.exact() {
		return p.countExact(i, one)
	}
	for _, l := range p.lists {
		places := l.placesIn(p, i)
		for _, u := range l.used {
			p.places[u] = places
		}
	}
	return p.n.places.count(p.places, one)
}

// countExact counts the places at which the phrase begins: the words follow each other. The rarest
// words come first, and the places of the others are read only if some are left.
func (p *phrases) countExact(i uint8, one bool) uint32 {
	starts := p.starts[:0]
	for n, l := range p.lists {
		places := l.placesIn(p, i)
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
	seek := within != nil && within.Count() < int(p.lists[0].Term.DF)/seekShare
	for b, doc, more := 0, uint32(0), true; more; b++ {
		if err := x.tick(); err != nil {
			return err
		}
		if seek {
			doc, more = p.take(within, doc, x.docs)
		} else {
			more = p.load(b, within) && b+1 < p.lists[0].Blocks()
		}
		for _, i := range p.left {
			if tf := p.count(i, one); tf > 0 {
				fn(p.docs[i], tf)
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
	lead := p.lists[0]
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
		more = p.load(b, within)
		for _, i := range p.left {
			doc := p.docs[i]
			loses := h.theta >= 0 &&
				phraseScore(n.scorers, p.leastTF(i), lengths[doc]) <= h.theta
			if loses && !h.counts {
				continue
			}
			if tf := p.count(i, loses); tf > 0 {
				h.total++
				if !loses {
					h.push(x.base+doc, phraseScore(n.scorers, tf, lengths[doc]))
				}
			}
		}
	}
	return p.err()
}
