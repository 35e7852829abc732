package weigh

import (
	"context"
	"errors"
	"sync"

	"github.com/collocate/collocate/internal/gpu"
)

// gpuPostings holds the postings of an inverted corpus in device memory. They are copied as they
// are read, one block at a time, with one block read ahead. Allocating host memory for all of them
// would take longer than the copies.
type gpuPostings struct {
	run   *gpuRun
	pairs *gpuPairs // words, ends and first are on the host, kept on the device

	mu   sync.Mutex
	idle []*postingLane
}

// postingLane holds the buffers of a reader: two blocks of pinned memory, one to read from and one
// that is being filled.
type postingLane struct {
	s      *gpu.Stream // of the card
	blocks [2]gpu.Pinned[uint64]
}

func (l *postingLane) free() error {
	return errors.Join(l.blocks[0].Free(), l.blocks[1].Free())
}

// gpuBlock is the number of postings copied at a time. Tests set it lower.
var gpuBlock uint64 = 1 << 17

func (p *gpuPostings) close() error {
	var err error
	for _, l := range p.idle {
		err = errors.Join(err, l.free())
	}
	p.idle = nil
	return errors.Join(err, p.run.close())
}

// lane returns a lane for a reader, which must return it with giveBack.
func (p *gpuPostings) lane() (*postingLane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		l := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return l, nil
	}
	c := p.run.card
	s, err := c.AddStream()
	if err != nil {
		return nil, err
	}
	l := &postingLane{s: s}
	for i := range l.blocks {
		if l.blocks[i], err = gpu.AllocPinned[uint64](c.Dev, int(gpuBlock)); err != nil {
			return nil, errors.Join(err, l.free())
		}
	}
	return l, nil
}

// giveBack waits for running copies and keeps the lane for the next reader.
func (p *gpuPostings) giveBack(ctx context.Context, l *postingLane) error {
	err := l.s.Sync(context.WithoutCancel(ctx))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, l)
	return err
}

// newDeviceRun returns a run whose postings are on the device of g.
func newDeviceRun(g *gpuRun, pairs *gpuPairs) *run {
	r := &run{words: pairs.words, ends: append([]uint64{0}, pairs.ends...),
		device: &gpuPostings{run: g, pairs: pairs}, starts: pairs.first}
	r.sampleWords()
	return r
}

// reader returns a reader of the words [from, to), which must be closed.
func (p *gpuPostings) reader(ctx context.Context, from, to int) (devicePostings, error) {
	lane, err := p.lane()
	if err != nil {
		return nil, err
	}
	r := &postingReader{ctx: ctx, of: p, lane: lane, next: p.pairs.first[from], end: p.pairs.first[to]}
	if err := r.fetch(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// postingReader reads postings in order.
type postingReader struct {
	ctx       context.Context // ends waits
	of        *gpuPostings
	lane      *postingLane
	turn      int    // the block that is filled next
	next, end uint64 // range of postings still to be fetched
	coming    uint64 // number of postings being copied
	block     []uint64
	from      uint64 // number of the block's first posting
	docs, tfs []uint32
}

// fetch starts the copy of the next block, if there is one.
func (r *postingReader) fetch() error {
	r.coming = min(r.end-r.next, gpuBlock)
	lo, hi := r.next, r.next+r.coming
	r.next = hi
	return r.of.pairs.kept.Slice(int(lo), int(hi)).CopyOut(r.lane.s, r.lane.blocks[r.turn].Slice(0,
		int(r.coming)))
}

// close gives the lane back. The reader has returned any error already.
func (r *postingReader) close() { _ = r.of.giveBack(r.ctx, r.lane) }

// read returns the first of the postings [lo, hi), at least one, valid until the next read.
// Postings between those of two reads are passed over.
func (r *postingReader) read(lo, hi uint64) (docs, tfs []uint32, err error) {
	for lo >= r.from+uint64(len(r.block)) {
		if err := r.lane.s.Sync(r.ctx); err != nil {
			return nil, nil, err
		}
		r.block, r.from = r.lane.blocks[r.turn].Values()[:r.coming], r.next-r.coming
		r.turn ^= 1
		if err := r.fetch(); err != nil {
			return nil, nil, err
		}
	}
	some := r.block[lo-r.from : min(hi-r.from, uint64(len(r.block)))]
	if len(some) > pieceLen {
		some = some[:pieceLen]
	}
	if cap(r.docs) < len(some) {
		r.docs, r.tfs = make([]uint32, pieceLen), make([]uint32, pieceLen)
	}
	docs, tfs = r.docs[:len(some)], r.tfs[:len(some)]
	for i, x := range some {
		docs[i], tfs[i] = uint32(x>>32), uint32(x)
	}
	return docs, tfs, nil
}
