package cooccur

import (
	"context"
	"sync"

	"github.com/collocate/collocate/internal/par"
)

// A chunk is as much of the corpus as fits in memory, as IDs + 1 with a 0 after
// each field of a document, in blocks that workers fill independently:
//
//	n zeros | left halo | core | right halo or n zeros
//
// where n is the window. Every position of the corpus is in the core of one block,
// with all its neighbours in the same block; positions in the halos are only seen
// as neighbours. So documents may be longer than a block, and than a chunk.
type chunk struct {
	mu     sync.Mutex
	blocks []block
	core   int // positions in all cores, with the zeros between fields
	limit  int // core at which the chunk is full
	full   func(ctx context.Context) error
}

type block struct {
	ids      *offheap
	from, to int // range of the core
}

// blockShift is the number of bits of a position inside a block: blocks of 1M IDs
// at most.
const blockShift = 20

// collector fills the blocks of one worker.
type collector struct {
	chunk  *chunk
	window int
	size   int // capacity of a block in IDs
	ids    *offheap
	n      int // IDs in the current block
	from   int // start of the core
}

// room returns the free end of the block for up to want IDs.
func (c *collector) room(ctx context.Context, want int) ([]uint32, error) {
	if c.ids != nil && c.n+want+c.window > c.size {
		if err := c.rollOver(ctx); err != nil {
			return nil, err
		}
	}
	if c.ids == nil {
		var err error
		if c.ids, err = newOffheap(c.size); err != nil {
			return nil, err
		}
		c.n, c.from = c.window, c.window // the memory is zero
	}
	return c.ids.words[c.n:c.n:c.size], nil
}

// rollOver adds the current block to the chunk; its last n IDs are its right halo. They begin the
// core of the next block, after a left halo of the n IDs before them.
func (c *collector) rollOver(ctx context.Context) error {
	old := c.ids
	next, err := newOffheap(c.size)
	if err != nil {
		return err
	}
	n := c.window
	copy(next.words[n:], old.words[c.n-2*n:c.n])
	b := block{old, c.from, c.n - n}
	c.ids, c.n, c.from = next, 3*n, 2*n
	return c.chunk.add(ctx, b)
}

// finish adds the last block to the chunk.
func (c *collector) finish(ctx context.Context) error {
	if c.ids == nil {
		return nil
	}
	b := block{c.ids, c.from, c.n}
	c.ids = nil
	return c.chunk.add(ctx, b)
}

// add adds a block. The worker whose block fills the chunk processes the chunk, while the others
// wait for the lock as soon as they have a block to add.
func (c *chunk) add(ctx context.Context, b block) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.blocks = append(c.blocks, b)
	c.core += b.to - b.from
	if c.core < c.limit && len(c.blocks) < 1<<(32-blockShift) {
		return nil
	}
	return c.full(ctx)
}

// drop frees the blocks.
func (c *chunk) drop() {
	for _, b := range c.blocks {
		b.ids.free()
	}
	c.blocks, c.core = c.blocks[:0], 0
}

// occurrences lists the places of each word in the chunk. Those of the word with ID w are
// at[starts[w]:starts[w+1]], each encoded as block<<blockShift | position in the block. It is a
// counting sort, in which each worker counts and then distributes the words of its own blocks.
func (c *chunk) occurrences(words, threads int) (starts []uint32, at *offheap, err error) {
	threads = max(1, min(threads, len(c.blocks)))
	counts := make([][]uint32, threads)
	par.Do(threads, func(worker int) {
		count := make([]uint32, words+1)
		lo, hi := par.Block(len(c.blocks), threads, worker)
		for _, b := range c.blocks[lo:hi] {
			for _, id := range b.ids.words[b.from:b.to] {
				count[id]++
			}
		}
		counts[worker] = count
	})
	starts = make([]uint32, words+1)
	total := uint32(0)
	for id := 1; id <= words; id++ {
		starts[id-1] = total
		for _, count := range counts {
			n := count[id]
			count[id] = total
			total += n
		}
	}
	starts[words] = total
	if at, err = newOffheap(int(total)); err != nil {
		return nil, nil, err
	}
	par.Do(threads, func(worker int) {
		next := counts[worker]
		lo, hi := par.Block(len(c.blocks), threads, worker)
		for i, b := range c.blocks[lo:hi] {
			base := uint32(lo+i) << blockShift
			for p, id := range b.ids.words[b.from:b.to] {
				if id != 0 {
					at.words[next[id]] = base | uint32(b.from+p)
					next[id]++
				}
			}
		}
	})
	return starts, at, nil
}
