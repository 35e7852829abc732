package cooccur

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/collocate/collocate/internal/gpu"
)

// outbox copies rows to the host in a pipeline. While later groups of rows are computed, earlier
// ones are copied, converted by the host's cores, and consumed in order.
type outbox struct {
	p            *gpuPairs
	ctx          context.Context // ends when delivery fails
	cancel       context.CancelCauseFunc
	units, small bool
	shape
	total int64 // upper bound on the number of entries

	// The finished pieces, one after the other. Each consists of its columns, then one or two words
	// per entry for the low and the high parts of the sums.
	room    gpu.Buffer[uint32]
	entries int // number of entries that always fit in room
	used    int
	under   sync.WaitGroup // pieces that are not on the host yet
	events  []*gpu.Event

	pieces chan rowPiece
	ended  chan struct{}
	err    error // error of deliver, valid once ended is closed
}

// rowPiece is a range of rows on the device that fits one batch.
type rowPiece struct {
	first  int      // number of the first row
	begins []uint64 // start of each row, and the end of the last
	at     int      // offset in outbox.room
	made   *gpu.Event
}

func (r *rowPiece) entries() int { return int(r.begins[len(r.begins)-1] - r.begins[0]) }

// shape is the size of an entry's sum: the 32-bit words of its low and of its high part.
type shape struct{ lows, highs int }

// words returns the number of 32-bit words of n entries. Columns are padded to 64 bits.
func (s shape) words(n int) int { return (n+1)&^1 + n*(s.lows+s.highs) }

// parts returns the offsets of the low and the high parts of n entries, and their end.
func (s shape) parts(n int) (lows, highs, end int) {
	lows = (n + 1) &^ 1
	highs = lows + n*s.lows
	return lows, highs, highs + n*s.highs
}

// Pieces are handed over in groups. The first one is small, so that copying starts early.
const (
	firstGroup = 1 << 20 // entries
	nextGroups = 8 << 20
)

// newOutbox allocates memory for the rows of some sums, and starts the delivery.
func (p *gpuPairs) newOutbox(ctx context.Context, own *sumsInOrder, units bool,
	consume func(*rowBatch) error) (*outbox, error) {
	o := &outbox{p: p, units: units, shape: shape{lows: 2}, pieces: make(chan rowPiece, 4096),
		ended: make(chan struct{})}
	var err error
	if o.small, err = p.smallSums(ctx, own.sums, own.n, units); err != nil {
		return nil, err
	}
	switch {
	case o.small:
		o.lows = 1
	case units && p.wide:
		o.highs = 2
	}
	// No row has more entries than there are sums.
	o.entries = min(2*own.n, p.list.Len()+p.head*p.head)
	if o.room, err = gpu.Take[uint32](p.tmp, o.words(o.entries)+2); err != nil {
		return nil, err
	}
	if o.total = int64(own.n); p.Side == Both {
		o.total *= 2
	}
	usual := batchEntries
	if p.gpuSums > 0 {
		usual = 64
	}
	if err := p.takeBatches(usual, min(p.words, own.n), o.highs > 0); err != nil {
		return nil, err
	}
	o.ctx, o.cancel = context.WithCancelCause(ctx)
	go func() {
		defer close(o.ended)
		if o.err = o.deliver(o.ctx, consume); o.err != nil {
			o.cancel(o.err)
			for range o.pieces { // until make sees that ctx is cancelled
				o.under.Done()
			}
		}
	}()
	return o, nil
}

// close waits until everything is delivered. If err, the error of make, is not nil, it cancels the
// delivery.
func (o *outbox) close(err error) error {
	if err != nil {
		o.cancel(err)
	}
	close(o.pieces)
	<-o.ended
	if o.err != nil { // other errors are consequences of it
		err = o.err
	}
	o.cancel(nil)
	for _, e := range o.events {
		err = errors.Join(err, e.Free())
	}
	return err
}

// make computes the rows [from, to) from one list of sums, or from two, where the entries of the
// second come first in each row.
func (o *outbox) make(from, to int, lists ...*sumsInOrder) error {
	begins := lists[0].begins[from : to+1]
	if len(lists) > 1 {
		// Earlier pieces still refer to this buffer, so the end of their last row is kept.
		begins = o.p.hostWords(2, o.p.words+2)[from+min(from, 1):][:to+1-from]
		for i := range begins {
			begins[i] = lists[0].begins[from+i] + lists[1].begins[from+i]
		}
	}
	usual := uint64(min(o.p.batches[0].size, o.entries))
	var made []rowPiece // pieces of the current group
	entries, limit := 0, firstGroup
	for i := 0; i < to-from; {
		j := i + 1
		for j < to-from && j-i < batchRows && begins[j+1]-begins[i] <= usual {
			j++
		}
		piece := rowPiece{first: from + i, begins: begins[i : j+1]}
		n := piece.entries()
		if o.used+o.words(n) > o.room.Len() {
			if err := o.hand(made); err != nil {
				return err
			}
			made, entries = made[:0], 0
			o.under.Wait()
			o.used = 0
		}
		piece.at = o.used
		if err := o.p.compute.Do(func() error { return o.fill(&piece, lists) }); err != nil {
			return err
		}
		o.used += (o.words(n) + 1) &^ 1
		made = append(made, piece)
		if entries += n; entries >= limit {
			if err := o.hand(made); err != nil {
				return err
			}
			made, entries, limit = made[:0], 0, nextGroups
		}
		i = j
	}
	return o.hand(made)
}

// hand passes pieces, whose kernels have been started, to deliver.
func (o *outbox) hand(pieces []rowPiece) error {
	if len(pieces) == 0 {
		return nil
	}
	made, err := o.p.dev.NewEvent()
	if err != nil {
		return err
	}
	o.events = append(o.events, made)
	if err := o.p.compute.Record(made); err != nil {
		return err
	}
	for _, r := range pieces {
		r.made = made
		o.under.Add(1)
		select {
		case o.pieces <- r:
		case <-o.ctx.Done():
			o.under.Done()
			return context.Cause(o.ctx)
		}
	}
	return nil
}

// fill starts the kernels that compute a piece.
func (o *outbox) fill(r *rowPiece, lists []*sumsInOrder) error {
	p, n := o.p, r.entries()
	from, to := r.first, r.first+len(r.begins)-1
	lowsAt, highsAt, _ := o.parts(n)
	place := func(at int) gpu.Arg { return o.room.Slice(r.at+at, o.room.Len()).Arg() }
	for i, l := range lists {
		lo, hi := int(l.begins[from]), int(l.begins[to])
		args := []gpu.Arg{l.keys.Slice(lo, hi).Arg(), l.sums.Slice(lo, hi).Arg()}
		if !o.small {
			high := gpu.Null()
			if p.planes > 1 {
				high = l.highs.Slice(lo, hi).Arg()
			}
			args = append(args, high)
		}
		// In each row the mirrored sums come before its own.
		others := gpu.Null()
		if len(lists) > 1 {
			starts := lists[1-i].starts
			others = starts.Slice(1-i, starts.Len()).Arg()
		}
		args = append(args, gpu.U64(uint64(hi-lo)), gpu.U32(uint32(p.colBits)), others, gpu.U64(uint64(lo)-r.begins[0]))
		kernel := "rows_values"
		switch {
		case o.small:
			kernel, args = "rows_small", append(args, place(0), place(lowsAt))
		case o.highs > 0:
			kernel, args = "rows_sums", append(args, place(0), place(lowsAt), place(highsAt))
		case o.units:
			kernel, args = "rows_sums", append(args, place(0), place(lowsAt), gpu.Null())
		default:
			args = append(args, gpu.F64(p.one), place(0), place(lowsAt))
		}
		if err := p.launch(rowsSource, kernel, hi-lo, args...); err != nil {
			return err
		}
	}
	return nil
}

// deliver copies pieces to batches, has them converted and consumed, until there are no more.
func (o *outbox) deliver(ctx context.Context, consume func(*rowBatch) error) (err error) {
	free := [2][]*rowBatch{slices.Clone(o.p.batches), slices.Clone(o.p.large)}
	kind := func(entries int) int { // index into free: usual or large
		if entries > o.p.batches[0].size {
			return 1
		}
		return 0
	}
	var flying, dividing []*rowBatch
	var next rowPiece
	waiting, open := false, true // next holds a piece; more may follow
	sent, done := 0, int64(0)
	defer func() { // wait for everything that is still running
		for _, b := range dividing {
			b.under.Wait()
		}
		for range flying {
			o.under.Done()
		}
		if waiting {
			o.under.Done()
		}
		if err != nil {
			err = errors.Join(err, o.p.copies[0].Sync(context.Background()), o.p.copies[1].Sync(context.Background()))
		}
	}()
	for {
		if !waiting && open {
			if len(flying)+len(dividing) == 0 {
				next, open = <-o.pieces
				waiting = open
			} else {
				select {
				case next, open = <-o.pieces:
					waiting = open
				default:
				}
			}
		}
		switch {
		case waiting && len(free[kind(next.entries())]) > 0:
			of := &free[kind(next.entries())]
			b := (*of)[0]
			*of = (*of)[1:]
			flying = append(flying, b)
			waiting = false
			sent++
			s := o.p.copies[sent%2]
			if err := s.Do(func() error { return o.send(b, &next, s) }); err != nil {
				return err
			}
		case len(flying) > 0 && len(dividing) < divideCount:
			b := flying[0]
			if err := b.done.Wait(); err != nil {
				return err
			}
			flying = flying[1:]
			dividing = append(dividing, b)
			o.under.Done()
			b.under.Go(b.finish)
		case len(dividing) > 0:
			b := dividing[0]
			b.under.Wait()
			dividing = dividing[1:]
			done += int64(len(b.rows.Cols))
			o.p.progress("rows", 8*done, 8*max(o.total, done))
			if err := errors.Join(ctx.Err(), consume(b)); err != nil {
				return err
			}
			free[kind(b.size)] = append(free[kind(b.size)], b)
		case !open:
			return context.Cause(ctx)
		}
	}
}

// send starts the copy of a piece.
func (o *outbox) send(b *rowBatch, r *rowPiece, s *gpu.Stream) error {
	words := o.words(r.entries())
	b.piece, b.outbox = *r, o
	o.p.crossed += 4 * int64(words)
	return errors.Join(s.WaitFor(r.made),
		o.room.Slice(r.at, r.at+words).CopyOut(s, b.pinned.Slice(0, words)), s.Record(b.done))
}
