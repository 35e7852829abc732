package weigh

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/collocate/collocate/internal/gpu"
)

// gpuPostings are the postings of an inverted corpus in device memory. They are copied
// as they are read, a block at a time: host memory for all of them would cost more time
// than the copies.
type gpuPostings struct {
	run   *gpuRun
	pairs *gpuPairs // words, ends and first are on the host, kept on the device
	docs  *documents

	mu   sync.Mutex
	idle []*gpu.Stream
}

// gpuBlock is how many postings are copied at a time. Tests set it lower.
var gpuBlock uint64 = 1 << 19

func (p *gpuPostings) close() error {
	var err error
	for _, s := range p.idle {
		err = errors.Join(err, s.Free())
	}
	p.idle = nil
	return errors.Join(err, p.run.close())
}

// stream takes a stream for a reader; give it back when done.
func (p *gpuPostings) stream() (*gpu.Stream, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return s, nil
	}
	return p.run.card.dev.NewStream()
}

func (p *gpuPostings) giveBack(s *gpu.Stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, s)
}

func (p *gpuPostings) parts(ctx context.Context, n int) (parts []iter.Seq2[Term, error]) {
	for _, r := range p.pairs.ranges(n) {
		parts = append(parts, p.terms(ctx, r[0], r[1]))
	}
	return parts
}

// terms yields the words [from, to).
func (p *gpuPostings) terms(ctx context.Context, from, to int) iter.Seq2[Term, error] {
	return func(yield func(Term, error) bool) {
		if from == to {
			return
		}
		s, err := p.stream()
		if err != nil {
			yield(Term{}, err)
			return
		}
		defer p.giveBack(s)
		r := postingReader{postings: p, s: s, end: p.pairs.first[to]}
		for i := from; i < to; i++ {
			lo, hi := p.pairs.first[i], p.pairs.first[i+1]
			t := Term{Word: p.pairs.word(i), DF: int(hi - lo)}
			for lo < hi {
				if t.Docs, t.TFs, err = r.read(ctx, lo, hi); err != nil {
					yield(Term{}, err)
					return
				}
				if !yield(t, nil) {
					return
				}
				lo += uint64(len(t.Docs))
			}
		}
	}
}

// postingReader reads postings in order.
type postingReader struct {
	postings  *gpuPostings
	s         *gpu.Stream
	end       uint64 // of what will be read
	block     []uint64
	from      uint64 // of the block
	docs, tfs []uint32
}

// read returns the first of the postings [lo, hi), at least one.
func (r *postingReader) read(ctx context.Context, lo, hi uint64) (docs, tfs []uint32, err error) {
	if lo >= r.from+uint64(len(r.block)) {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		n := min(r.end-lo, gpuBlock)
		if uint64(cap(r.block)) < n {
			r.block = make([]uint64, n)
		}
		r.block, r.from = r.block[:n], lo
		if err := r.postings.pairs.kept.Slice(int(lo), int(lo+n)).Download(ctx, r.s, r.block); err != nil {
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
