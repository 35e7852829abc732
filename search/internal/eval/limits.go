package eval

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/simd"
)

// limits says which documents of an index may be answers: those that were not deleted, and of these
// the ones that the request allows. Query.push keeps all other documents out of the answers. What
// the index stores of a list, such as the score of its 10th best posting, counts those documents,
// too. So Query.findFloor takes the floor from a lower rank, and guesses expect fewer answers.
type limits struct {
	limited bool
	sets    [2]*docset.Set // documents that were not deleted, documents that are allowed; nil: all
	outside int            // at most this many documents may not be answers
}

// limit sets the limits of an index of the given number of documents. Either set may be nil, for
// all documents.
func (l *limits) limit(docs int, live, within *docset.Set) {
	*l = limits{sets: [2]*docset.Set{live, within}}
	for _, s := range l.sets {
		if s != nil {
			l.limited = true
			l.outside = min(docs, l.outside+docs-s.Count())
		}
	}
}

// outside returns an upper bound on the number of a segment's documents that may not be answers.
func (e *Engine) outside(r *ask.Request) int {
	if e.Live == nil && r.Within == nil {
		return 0
	}
	var l limits
	l.limit(int(e.Collection.Docs), e.Live, r.Within.Of(e.Segment))
	return l.outside
}

// admits reports whether a document may be an answer.
func (l *limits) admits(doc uint32) bool {
	for _, s := range l.sets {
		if s != nil && !s.Has(doc) {
			return false
		}
	}
	return true
}

// Limited reports whether some documents may not be answers.
func (l *limits) Limited() bool { return l.limited }

// most returns an upper bound on the number of documents that may be answers.
func (l *limits) most(docs int) int {
	for _, s := range l.sets {
		if s != nil {
			docs = min(docs, s.Count())
		}
	}
	return docs
}

// few returns the smaller of the sets if it is small enough that dropping the postings of all other
// documents before scoring pays, and nil otherwise.
func (l *limits) few(docs int) (few *docset.Set) {
	for _, s := range l.sets {
		if s != nil && float64(s.Count()) < fewShare*float64(docs) &&
			(few == nil || s.Count() < few.Count()) {
			few = s
		}
	}
	return few
}

// decodeOnly decodes the postings of a block whose documents are in a set and not before from. It
// intersects a bitmap block with the set word by word, and reads the frequencies of what is left.
// In other blocks it decodes all documents first. It returns false if the block is damaged.
func (l *list) decodeOnly(block int, from uint32, in []uint64,
	docs, tfs *[index.BlockSize]uint32) (n int, ok bool) {
	places := &l.places
	if words, base := l.Words(block); words != nil {
		rank, in := uint32(0), in[base>>6:]
		for ; len(words) >= 8 && len(in) > 0; words, in, base = words[8:], in[1:], base+64 {
			w := binary.LittleEndian.Uint64(words)
			for both := w & in[0]; both != 0; both &= both - 1 {
				at := n & (index.BlockSize - 1)
				docs[at] = base + uint32(bits.TrailingZeros64(both))
				places[at] = rank + uint32(bits.OnesCount64(w&(both&-both-1)))
				n++
			}
			rank += uint32(bits.OnesCount64(w))
		}
		if n > index.BlockSize {
			return 0, false
		}
	} else {
		got := l.DecodeDocs(block, docs)
		if got == 0 {
			return 0, false
		}
		n = simd.KeepBits(docs[:got], simd.Places[:], in, 0, docs[:], places[:])
	}
	if n > 0 && docs[0] < from { // only the first block reaches back
		skip := firstAtLeast(docs[:n], from)
		copy(docs[:], docs[skip:n])
		copy(places[:], places[skip:n])
		n -= skip
	}
	if n > 0 {
		l.TFsAt(block, places[:n], tfs[:n])
	}
	return n, true
}

// share estimates the part of the documents that may be answers, as if the two sets were
// independent.
func (q *Query) share() float64 {
	if !q.limited {
		return 1
	}
	docs := float64(q.c.Docs)
	share := 1.0
	for _, s := range q.sets {
		if s != nil {
			share *= float64(s.Count()) / docs
		}
	}
	return share
}
