package index

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/given"
)

// Excerpt is an index, in memory, of some documents of one or several others, such as those that a
// filter admits in the segments of an index. Its documents are these, numbered anew in their order.
// It has no dictionary: List makes the list of a word from those of the other indexes. The bounds
// of its lists are those of its own postings, so that a search skips what no document of it needs.
// Several goroutines may use it at once.
type Excerpt struct {
	*Reader
	docs    []uint32 // of each document, its number in all the indexes
	from    []excerptPart
	lengths *lengthTable
}

// excerptPart is what is taken of an index.
type excerptPart struct {
	r     *Reader
	words []uint64 // the documents, as bits
	ranks []uint32 // for each word the number of documents before it, in the excerpt
	base  uint32   // the first of all documents of this index
}

// ExcerptOf returns the excerpt of indexes with the documents of the sets, one for each, of which
// docs and tokens are the totals that its scores are computed with. It keeps no set.
func ExcerptOf(indexes []*Reader, sets []*docset.Set, docs, tokens uint64) (*Excerpt, error) {
	n := 0
	for _, s := range sets {
		n += s.Count()
	}
	x := &Excerpt{docs: make([]uint32, 0, n)}
	lengths := make([]uint32, 0, n)
	base := uint32(0)
	for i, r := range indexes {
		if r.closed {
			return nil, ErrClosed
		}
		all, err := r.VerifiedLengths()
		if err != nil {
			return nil, err
		}
		p := excerptPart{r: r, words: append([]uint64(nil), sets[i].Words()...), base: base}
		p.ranks = make([]uint32, len(p.words))
		for at, w := range p.words {
			p.ranks[at] = uint32(len(x.docs))
			for ; w != 0; w &= w - 1 {
				doc := uint32(at<<6 + bits.TrailingZeros64(w))
				x.docs = append(x.docs, base+doc)
				lengths = append(lengths, all[doc])
			}
		}
		x.from = append(x.from, p)
		base += uint32(r.Docs())
	}
	var err error
	if x.lengths, err = newLengthTable(lengths, docs, tokens, math.MaxInt64, "", nil); err != nil {
		return nil, err
	}
	r := &Reader{dir: indexes[0].dir, analyzer: indexes[0].analyzer, lengths: lengths, coef: x.lengths.coef,
		classes: make([]uint8, n), numLow: len(x.lengths.low)}
	r.meta = meta{docs: uint64(n), flags: flagLevels, tokens: tokens}
	if x.lengths.exact {
		r.meta.flags |= flagExactClasses
	}
	for _, other := range indexes {
		r.meta.flags |= other.meta.flags & flagPruned
	}
	copy(r.classLow[:], x.lengths.low)
	x.lengths.classesFrom(0, r.classes)
	r.lengthsGood.Store(true)
	x.Reader = r
	return x, nil
}

// Whole returns the number that a document has in all the indexes.
func (x *Excerpt) Whole(doc uint32) uint32 { return x.docs[doc] }

// ExcerptBytes returns the memory that an excerpt of n of some documents takes, without its lists:
// at most 17 bytes for each of its documents, and three bits for each two of all.
func ExcerptBytes(n, docs int) int { return 17*n + docs*3/16 + 4096 }

// madeList is a list that was made in memory.
type madeList struct{ postings, skips, levels []byte }

// Bytes returns the memory that the list of a term takes, if it is in memory.
func (t Term) Bytes() int {
	if t.made == nil {
		return 0
	}
	return len(t.made.postings) + len(t.made.skips) + len(t.made.levels) + 128
}

// List makes the list of a word, given its term in each index. It stops with the context.
func (x *Excerpt) List(ctx context.Context, terms []Term) (made Term, err error) {
	if err := given.Context(ctx); err != nil {
		return made, err
	}
	list := &madeList{}
	e := encoders.Get().(*encoder)
	defer func() {
		if err == nil {
			encoders.Put(e)
		}
	}()
	e.over(x.lengths, func(c *chunk) error {
		list.postings = append(list.postings, c.postings...)
		list.skips = append(list.skips, c.skips...)
		list.levels = append(list.levels, c.levels...)
		if len(c.terms) > 0 {
			made = c.terms[0]
		}
		return nil
	})
	for i := range x.from {
		if err := x.from[i].add(ctx, e, terms[i]); err != nil {
			return Term{}, err
		}
	}
	if err := errors.Join(e.end(), e.flush()); err != nil {
		return Term{}, err
	}
	if made.DF == 1 {
		made.inlineTF = uint32(made.CF)
	}
	list.postings = append(list.postings, make([]byte, tailPad)...)
	made.made = list
	return made, nil
}

// add adds the postings of a word in one of the indexes.
func (p *excerptPart) add(ctx context.Context, e *encoder, t Term) error {
	var c Cursor
	if err := p.r.OpenDocs(t, &c); err != nil {
		return err
	}
	var docs, tfs, places [BlockSize]uint32
	next := uint32(0) // no document of the excerpt is before it and after the blocks so far
	for b, last := range c.Last {
		if b&0x3f == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if next = p.next(next); next > last {
			continue
		}
		next = last + 1
		n := 0
		for i, doc := range c.Load(b) {
			w := p.words[doc>>6]
			docs[n] = p.ranks[doc>>6] + uint32(bits.OnesCount64(w&(1<<(doc&63)-1)))
			places[n] = uint32(i)
			n += int(w >> (doc & 63) & 1)
		}
		if n == 0 {
			continue
		}
		c.TFsAt(b, places[:n], tfs[:n])
		if err := e.add(oneWord, docs[:n], tfs[:n], nil); err != nil {
			return err
		}
	}
	return c.Err()
}

// next returns the first document of the excerpt from doc on, or End.
func (p *excerptPart) next(doc uint32) uint32 {
	for at := int(doc >> 6); at < len(p.words); at++ {
		if w := p.words[at] >> (doc & 63); w != 0 {
			return doc + uint32(bits.TrailingZeros64(w))
		}
		doc = uint32(at+1) << 6
	}
	return End
}

// oneWord is the word of all lists of excerpts.
var oneWord = []byte{'w'}

var encoders = sync.Pool{New: func() any {
	return newEncoder(&lengthTable{}, &Documents{}, nil)
}}

// over makes an encoder that was used begin anew, for an index of other documents.
func (e *encoder) over(l *lengthTable, full func(*chunk) error) {
	e.lengths, e.block.lengths, e.super.lengths, e.list.lengths = l, l, l, l
	if docs := uint64(len(l.lengths)); e.levels.docs != docs {
		e.levels.docs, e.levels.lows = docs, nil
	}
	e.full, e.word = full, e.word[:0]
}
