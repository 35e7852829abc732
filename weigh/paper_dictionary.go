package weigh

import (
	"bytes"
	"context"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/internal/par"
)

// weighDictionary is PPD of the papers: the eight steps, with a dictionary that turns words into
// numbers before the sort.
func weighDictionary(ctx context.Context, j *job) (*Weights, error) {
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
	// The dictionary: words become numbers, in byte order of the words.
	vocabulary, keys, err := c.convert(ctx, j, starts)
	if err != nil {
		return nil, err
	}
	par.For(n, len(keys), grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			keys[i] = keys[i]<<32 | uint64(docs[i]-1)
		}
	})
	// 4: sort by word.
	par.RadixSort(n, keys, nil, 32, 32+bits.Len(uint(len(vocabulary))))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// 5: tf, by counting equal (word, document).
	pairs, tfs := par.CountRuns[uint32](n, keys)
	// 6: df, by counting equal words of these pairs.
	words := make([]uint32, len(pairs))
	par.For(n, len(pairs), grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			words[i] = uint32(pairs[i] >> 32)
		}
	})
	_, dfs := par.CountRuns[uint32](n, words)
	// 7: the term, and so the df, of each pair.
	first := make([]uint32, len(dfs), len(dfs)+1)
	par.ExclusiveScan(n, first, dfs)
	term := make([]uint32, len(pairs))
	par.Segments(n, term, first)
	// 8: the formula.
	a := &arrays{
		first: append(first, uint32(len(pairs))), tfs: tfs,
		docs: make([]uint32, len(pairs)), weights: make([]float32, len(pairs)),
		word: func(i int) []byte { return vocabulary[words[first[i]]] },
	}
	formula(n, a, scorer, term, dfs, func(i int) (uint32, uint32) {
		d := uint32(pairs[i])
		return c.filled[d], lengths[d]
	})
	return &Weights{docs: c.docs, scorer: scorer, source: a}, ctx.Err()
}

// convert looks up every word in the dictionary. Words that it lacks, or all if there is none, are
// numbered by a table of each worker. Then all words in use are renumbered in byte order.
func (c *collection) convert(ctx context.Context, j *job, starts []uint32) (vocabulary [][]byte,
	keys []uint64, err error) {
	const added = 1 << 63 // marks a number of the worker's table
	var (
		n      = j.Threads
		tables = make([]*table, n)
		known  = make([]map[uint32]uint64, n) // numbers of the dictionary in use
	)
	keys = make([]uint64, len(starts))
	par.Do(n, func(w int) {
		tables[w], known[w] = newTable(), map[uint32]uint64{}
		lo, hi := par.Block(len(starts), n, w)
		for i := lo; i < hi; i++ {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return
			}
			s := c.span(starts[i])
			if j.Dict != nil {
				if id, ok := j.Dict.ID(c.word(s)); ok {
					keys[i] = uint64(id)
					known[w][id] = 0
					continue
				}
			}
			keys[i] = added | uint64(tables[w].number(c.text, s))
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	for w := range n {
		for id := range known[w] {
			vocabulary = append(vocabulary, j.Dict.Word(nil, id))
		}
		for id := range tables[w].len() {
			vocabulary = append(vocabulary, tables[w].word(uint32(id)))
		}
	}
	par.MergeSort(n, vocabulary, nil, func(a, b []byte) bool { return bytes.Compare(a, b) < 0 })
	vocabulary = slices.CompactFunc(vocabulary, bytes.Equal)
	place := func(word []byte) uint64 {
		at, _ := slices.BinarySearchFunc(vocabulary, word, bytes.Compare)
		return uint64(at)
	}
	par.Do(n, func(w int) {
		for id := range known[w] {
			known[w][id] = place(j.Dict.Word(nil, id))
		}
		own := make([]uint64, tables[w].len())
		for id := range own {
			own[id] = place(tables[w].word(uint32(id)))
		}
		lo, hi := par.Block(len(starts), n, w)
		for i := lo; i < hi; i++ {
			if keys[i]&added != 0 {
				keys[i] = own[keys[i]&^added]
			} else {
				keys[i] = known[w][uint32(keys[i])]
			}
		}
	})
	return vocabulary, keys, nil
}
