package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/par"
)

// forwardIndex lists the words of each document. It holds only words of medium frequency, from
// which the order of the documents is computed.
type forwardIndex struct {
	docs   int
	words  int      // distinct words, numbered by descending DF so that frequent ones are adjacent
	starts []uint64 // offset of each document in list, and the end
	list   []uint16
}

// A forward index holds the words in at least one in leastForward documents and at most one in
// mostForward. More frequent words have small gaps in any order, and rarer ones have few gaps. If
// there are more than maxForwardWords, as in collections of long documents, the most frequent are
// used.
const (
	leastForward    = 100
	mostForward     = 10
	minForwardDF    = 8
	maxForwardWords = 1 << 16
)

// tells reports whether a forward index holds the words with document frequency df.
func tells(df, docs int) bool {
	return df >= max(minForwardDF, docs/leastForward) && df <= docs/mostForward
}

// forwardBlock is the number of documents whose lists are filled at a time, so that these lists fit
// in the cache.
const forwardBlock = 1 << 13

// newForward makes a forward index of docs documents from the lists of words. It sorts words by
// descending DF.
func newForward(docs int, words [][]uint32, threads int) *forwardIndex {
	slices.SortStableFunc(words, func(a, b []uint32) int { return len(b) - len(a) })
	words = words[:min(len(words), maxForwardWords)]
	f := &forwardIndex{docs: docs, words: len(words), starts: make([]uint64, docs+1)}
	for _, list := range words {
		for _, d := range list {
			f.starts[d]++
		}
	}
	sum := uint64(0)
	for d, n := range f.starts {
		sum += n
		f.starts[d] = sum
	}
	// Each list is filled backwards, so that starts ends up with the start of each list.
	f.list = make([]uint16, sum)
	par.For(threads, docs, forwardBlock, func(_, lo, hi int) {
		for w, list := range words {
			i, _ := slices.BinarySearch(list, uint32(lo))
			for _, d := range list[i:] {
				if int(d) >= hi {
					break
				}
				at := f.starts[d] - 1
				f.starts[d] = at
				f.list[at] = uint16(w)
			}
		}
	})
	return f
}

// forward makes a forward index of the index. The memory bound, in bytes, includes what the
// bisection needs.
func (r *Reader) forward(ctx context.Context, threads int, memory int64) (*forwardIndex, error) {
	var terms []Term
	postings := int64(0)
	for w, err := range r.Words() {
		if err != nil {
			return nil, err
		}
		if tells(int(w.Term.DF), r.Docs()) {
			terms = append(terms, w.Term)
			postings += int64(w.Term.DF)
		}
	}
	if err := roomFor(postings, r.Docs(), threads, memory); err != nil {
		return nil, fmt.Errorf("reorder %s: %w", r.dir, err)
	}
	words := make([][]uint32, len(terms))
	for i, t := range terms {
		words[i] = make([]uint32, 0, t.DF)
		err := r.eachPosting(ctx, t, func(docs []uint32) { words[i] = append(words[i], docs...) })
		if err != nil {
			return nil, err
		}
	}
	return newForward(r.Docs(), words, threads), nil
}

// eachPosting calls fn with the documents of each block of a term.
func (r *Reader) eachPosting(ctx context.Context, t Term, fn func(docs []uint32)) error {
	var c Cursor
	if err := r.Open(t, &c); err != nil {
		return err
	}
	for b := range c.Blocks() {
		docs := c.Load(b)
		if c.err != nil {
			return c.err
		}
		fn(docs)
	}
	return ctx.Err()
}
