package weigh

import (
	"bytes"
	"context"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// occurrence is a word in the text, with its document.
type occurrence struct {
	word text.Span
	doc  uint32
}

// weighPrimitives is PP of the papers: the eight steps, with words compared as
// strings.
func weighPrimitives(ctx context.Context, j *job) (*Weights, error) {
	c, err := prepare(ctx, j)
	if err != nil {
		return nil, err
	}
	scorer, err := c.docs.scorer(j.Params)
	if err != nil {
		return nil, err
	}
	n := j.Threads

	starts, docs, lengths, err := c.locate(n)
	if err != nil {
		return nil, err
	}
	// 4: sort by word.
	words := make([]occurrence, len(starts))
	par.For(n, len(starts), grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			words[i] = occurrence{c.span(starts[i]), docs[i] - 1}
		}
	})
	less := func(a, b occurrence) bool { return bytes.Compare(c.word(a.word), c.word(b.word)) < 0 }
	par.MergeSort(n, words, nil, less)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// 5: tf, by counting equal (word, document).
	pairs := par.Where[uint32](n, len(words), func(i int) bool {
		return i == 0 || words[i].doc != words[i-1].doc || less(words[i-1], words[i])
	})
	tfs := differences(n, pairs, len(words))
	// 6: df, by counting equal words of these pairs.
	terms := par.Where[uint32](n, len(pairs), func(i int) bool {
		return i == 0 || less(words[pairs[i-1]], words[pairs[i]])
	})
	dfs := differences(n, terms, len(pairs))
	// 7: the term, and so the df, of each pair.
	term := make([]uint32, len(pairs))
	par.Segments(n, term, terms)
	// 8: the formula.
	a := &arrays{
		first: append(terms, uint32(len(pairs))), tfs: tfs,
		docs: make([]uint32, len(pairs)), weights: make([]float32, len(pairs)),
		word: func(i int) []byte { return c.word(words[pairs[terms[i]]].word) },
	}
	formula(n, a, scorer, term, dfs, func(i int) (uint32, uint32) {
		d := words[pairs[i]].doc
		return c.filled[d], lengths[d]
	})
	return &Weights{docs: c.docs, scorer: scorer, source: a}, ctx.Err()
}

// locate does steps 1 to 3. It returns the start of each word, its document, counted from 1, and
// the length of each document.
func (c *collection) locate(threads int) (starts, docs, lengths []uint32, err error) {
	// 1: the words, and which of them begin a document.
	starts = par.Where[uint32](threads, len(c.text), c.begins)
	if int64(len(starts)) != c.docs.tokens {
		return nil, nil, nil, errSeparators
	}
	docs = make([]uint32, len(starts))
	par.For(threads, len(starts), grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.text[starts[i]-1] == '\n' {
				docs[i] = 1
			}
		}
	})
	// 2: the document of each word.
	par.InclusiveScan(threads, docs, docs)
	// 3: the length of each document.
	_, lengths = par.CountRuns[uint32](threads, docs)
	return starts, docs, lengths, nil
}

// grain is the number of items a worker takes at a time.
const grain = 1 << 14

// differences returns the lengths of the segments that begin at starts, the last of which ends at
// n.
func differences(threads int, starts []uint32, n int) []uint32 {
	out := make([]uint32, len(starts))
	par.For(threads, len(starts), grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			end := uint32(n)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			out[i] = end - starts[i]
		}
	})
	return out
}

// formula weighs every pair. Pair i belongs to term[i], whose df is dfs[term[i]]; document returns
// the number and length of its document.
func formula(threads int, a *arrays, s *bm25.Scorer, term, dfs []uint32, document func(i int) (number, length uint32)) {
	par.For(threads, len(term), grain, func(_, lo, hi int) {
		var t bm25.Term
		last := ^uint32(0)
		for i := lo; i < hi; i++ {
			if term[i] != last {
				last = term[i]
				t = s.Term(uint64(dfs[last]), 1)
			}
			number, length := document(i)
			a.docs[i] = number
			a.weights[i] = t.Score(a.tfs[i], length)
		}
	})
}
