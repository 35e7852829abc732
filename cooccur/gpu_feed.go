package cooccur

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/words"
)

// textSlot holds a piece of text on its way to the device: pinned memory that the host fills, the
// device's copy, and the state that the device reports for it.
type textSlot struct {
	host   gpu.Pinned[uint8]
	text   gpu.Buffer[uint8]
	state  gpu.Pinned[uint64]
	copied *gpu.Event
	done   *gpu.Event
	n      int
}

func newTextSlot(dev *gpu.Device, size int) (*textSlot, error) {
	t := new(textSlot)
	var err [5]error
	t.host, err[0] = gpu.AllocPinned[uint8](dev, size)
	t.text, err[1] = gpu.Alloc[uint8](dev, size)
	t.state, err[2] = gpu.AllocPinned[uint64](dev, words.StateWords+2)
	t.copied, err[3] = dev.NewEvent()
	t.done, err[4] = dev.NewEvent()
	if e := errors.Join(err[:]...); e != nil {
		return nil, errors.Join(e, t.free())
	}
	return t, nil
}

func (t *textSlot) free() error {
	errs := []error{t.host.Free(), t.text.Free(), t.state.Free()}
	for _, e := range []*gpu.Event{t.copied, t.done} {
		if e != nil {
			errs = append(errs, e.Free())
		}
	}
	return errors.Join(errs...)
}

// takeSlots allocates the slots of a layout, unless suitable ones exist.
func (g *GPU) takeSlots(l layout) error {
	if len(g.slots) > 0 && (g.slots[0].text.Len() != l.slotSize || len(g.slots) != l.slots) {
		for _, s := range g.slots {
			if err := s.free(); err != nil {
				return err
			}
		}
		g.slots = nil
	}
	for len(g.slots) < l.slots {
		s, err := newTextSlot(g.dev, l.slotSize)
		if err != nil {
			return fmt.Errorf("buffers for text: %w", err)
		}
		g.slots = append(g.slots, s)
	}
	return nil
}

// feed turns a corpus into a sequence of word numbers on the device. Several goroutines fill slots;
// the caller of run submits them to the device and recycles them. Pieces of text may be submitted
// in any order, except that the pieces of one long document must follow each other.
type feed struct {
	*GPU
	dict *words.Dictionary
	seq  *words.Sequence
	kind words.Kind
	find bool // the dictionary is complete
	// counting makes the device count words as they are added.
	counting bool
	// whole makes a document that does not fit a slot an error.
	whole bool

	user textUser // processes texts on the device; nil means that they are appended to seq

	// full is called when the sequence has no room for the next text. It processes the items; the
	// sequence is cleared afterwards.
	full func(ctx context.Context) error

	free   chan *textSlot
	filled chan *textSlot
	submit sync.Mutex // held while pieces must stay together

	flying           []*textSlot // slots in flight, the oldest first
	bytes            int         // bytes in flight
	length           int64       // items of the sequence, without those in flight
	documents        int64       // documents of the sequence, likewise
	allItems, allDoc int64       // items and documents of the sequences that full processed
	next             int         // next copy stream
}

// textUser processes texts that are on the device.
type textUser interface {
	room(ctx context.Context, n int) error         // called before a text of n bytes
	queue(s *textSlot) error                       // enqueues the work, then records s.done
	landed(ctx context.Context, s *textSlot) error // called after s.done
}

// run calls produce, which fills slots until the corpus ends, and submits them to the device.
func (f *feed) run(ctx context.Context, produce func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f.user == nil {
		f.user = f
	}
	f.free = make(chan *textSlot, len(f.slots))
	f.filled = make(chan *textSlot, len(f.slots))
	for _, s := range f.slots {
		f.free <- s
	}
	produced := make(chan error, 1)
	go func() {
		err := produce(ctx)
		if err != nil {
			cancel(err)
		}
		close(f.filled)
		produced <- err
	}()
	var err error
	for s := range f.filled {
		if err != nil {
			continue // let the producers end
		}
		if err = f.fly(ctx, s); err != nil {
			cancel(err)
		}
	}
	if perr := <-produced; err == nil {
		err = perr
	}
	for err == nil && len(f.flying) > 0 {
		err = f.land(ctx)
	}
	if err != nil { // wait for the device before buffers are freed
		f.flying = nil
		return errors.Join(err, f.dev.Sync())
	}
	return nil
}

// fly starts the copy of a slot and enqueues its processing.
func (f *feed) fly(ctx context.Context, s *textSlot) error {
	if err := f.user.room(ctx, s.n); err != nil {
		return err
	}
	c := f.copies[f.next]
	f.next = (f.next + 1) % len(f.copies)
	if err := errors.Join(
		s.text.Slice(0, s.n).CopyIn(c, s.host.Slice(0, s.n)),
		c.Record(s.copied), f.compute.WaitFor(s.copied), f.user.queue(s),
	); err != nil {
		return err
	}
	f.flying = append(f.flying, s)
	f.bytes += s.n
	f.crossed += int64(s.n)
	if len(f.flying) > flightSlots {
		return f.land(ctx)
	}
	return nil
}

// land waits for the oldest slot in flight.
func (f *feed) land(ctx context.Context) error {
	s := f.flying[0]
	if err := s.done.Wait(); err != nil {
		return err
	}
	if err := f.user.landed(ctx, s); err != nil {
		return err
	}
	f.flying = f.flying[1:]
	f.bytes -= s.n
	f.free <- s
	return ctx.Err()
}

// A feed without a user is its own textUser: it appends texts to its sequence.

// room makes full process the sequence if a text of n bytes might not fit.
func (f *feed) room(ctx context.Context, n int) error {
	for f.length+int64(f.bytes)+int64(n) > int64(f.seq.Capacity()) {
		if len(f.flying) > 0 {
			if err := f.land(ctx); err != nil {
				return err
			}
			continue
		}
		if err := f.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (f *feed) queue(s *textSlot) error {
	if err := f.dict.Queue(f.compute, f.kind, s.text.Slice(0, s.n), f.seq, f.find); err != nil {
		return err
	}
	if f.counting {
		if err := f.dict.CountAdded(f.compute, f.seq); err != nil {
			return err
		}
	}
	return errors.Join(f.seq.CopyState(f.compute, s.state.Slice(0, words.StateWords)), f.compute.Record(s.done))
}

// landed checks whether the dictionary was too small for the text. If so, it grows the dictionary
// and tokenises that text and all later ones again.
func (f *feed) landed(ctx context.Context, s *textSlot) error {
	for {
		state := words.ReadState(s.state.Values())
		if state.Missed == 0 && !state.Huge {
			f.length, f.documents = state.Length, state.Documents
			return nil
		}
		if err := f.compute.Sync(ctx); err != nil {
			return err
		}
		if err := f.checkGrowth(); err != nil {
			return err
		}
		if err := f.dict.Recover(ctx, f.compute, f.seq, state); err != nil {
			return err
		}
		for _, again := range f.flying {
			if err := f.queue(again); err != nil {
				return err
			}
		}
		if err := s.done.Wait(); err != nil {
			return err
		}
	}
}

// checkGrowth refuses a dictionary that would take more than a third of the memory.
func (f *feed) checkGrowth() error {
	total, err := f.budget()
	if err != nil {
		return err
	}
	if need := f.dict.GrowthBytes(); need > total/3 {
		return fmt.Errorf("the distinct words of the corpus need more than %v of the GPU's memory: raise engine.Device.Memory above %v",
			bytesize.Size(total/3), bytesize.Size(total))
	}
	return nil
}

// take makes full process the sequence, and clears it.
func (f *feed) take(ctx context.Context) error {
	if err := f.full(ctx); err != nil {
		return err
	}
	f.allItems += f.length
	f.allDoc += f.documents
	f.length, f.documents = 0, 0
	return f.seq.Clear(f.compute)
}

// totals returns the words and documents of everything that was fed. Items are words and ends of
// documents.
func (f *feed) totals() (wordCount, documents int64) {
	documents = f.allDoc + f.documents
	return f.allItems + f.length - documents, documents
}

// slot returns a free slot, for a producer.
func (f *feed) slot(ctx context.Context) (*textSlot, error) {
	select {
	case s := <-f.free:
		s.n = 0
		return s, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// put submits a filled slot.
func (f *feed) put(s *textSlot) {
	if s.n == 0 {
		f.free <- s
		return
	}
	f.submit.Lock()
	defer f.submit.Unlock()
	f.filled <- s
}
