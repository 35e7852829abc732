package gpu

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Session is a device with the streams, arenas and events that one package uses. Arenas are kept
// from job to job; events order the work of the streams.
type Session struct {
	Dev     *Device
	Streams []*Stream
	owned   bool       // Close closes the device too
	mu      sync.Mutex // see Hold
	kept    []*Kept
	events  []*Event
	used    int // number of events in use
}

// OpenSession opens a device by its number and makes the given number of streams. Close closes
// both.
func OpenSession(ordinal, streams int) (*Session, error) {
	return openSession(func() (*Device, error) { return Open(ordinal) }, streams)
}

func openSession(open func() (*Device, error), streams int) (*Session, error) {
	dev, err := open()
	if err != nil {
		return nil, err
	}
	s, err := NewSession(dev, streams)
	if err != nil {
		return nil, errors.Join(err, dev.Close())
	}
	s.owned = true
	return s, nil
}

// NewSession is OpenSession for a device that is open already; Close leaves it open.
func NewSession(dev *Device, streams int) (*Session, error) {
	s := &Session{Dev: dev}
	for range streams {
		if _, err := s.AddStream(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// AddStream makes one more stream, which lives as long as the session. Nothing else may use the
// session meanwhile.
func (s *Session) AddStream() (*Stream, error) {
	stream, err := s.Dev.NewStream()
	if err == nil {
		s.Streams = append(s.Streams, stream)
	}
	return stream, err
}

// Close waits for a job that holds the session, and frees everything that the session has.
func (s *Session) Close() error {
	err := s.Trim()
	for _, e := range s.events {
		err = errors.Join(err, e.Free())
	}
	for _, stream := range s.Streams {
		err = errors.Join(err, stream.Free())
	}
	if s.owned {
		err = errors.Join(err, s.Dev.Close())
	}
	return err
}

// Hold runs a job that uses the whole session; other jobs wait. At its end, it waits for all
// streams and releases what was taken from the kept arenas: kernels may still use memory that the
// next job will reuse.
func (s *Session) Hold(ctx context.Context, job func() error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	release, err := s.Dev.Acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer func() {
		for _, stream := range s.Streams {
			err = errors.Join(err, stream.Sync(context.Background()))
		}
		for _, k := range s.kept {
			err = errors.Join(err, k.Clear())
		}
	}()
	return job()
}

// Trim frees the kept arenas between jobs. Jobs that need them allocate them again.
func (s *Session) Trim() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range s.kept {
		err = errors.Join(err, k.Free())
	}
	return err
}

// Recorded returns an event that occurs when all work queued on the stream so far is done. It is
// valid until Reuse.
func (s *Session) Recorded(on *Stream) (*Event, error) {
	if s.used == len(s.events) {
		e, err := s.Dev.NewEvent()
		if err != nil {
			return nil, err
		}
		s.events = append(s.events, e)
	}
	s.used++
	return s.events[s.used-1], on.Record(s.events[s.used-1])
}

// Reuse makes all recorded events available again.
func (s *Session) Reuse() { s.used = 0 }

// After makes later work on one stream wait for all work queued so far on the other.
func (s *Session) After(later, now *Stream) error {
	e, err := s.Recorded(now)
	if err != nil {
		return err
	}
	return later.WaitFor(e)
}

// Timed runs work, waits for its end on the stream and returns the time between, by the device's
// clock.
func (s *Session) Timed(ctx context.Context, on *Stream, work func() error) (time.Duration, error) {
	used := s.used
	defer func() { s.used = used }()
	from, err := s.Recorded(on)
	if err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	to, err := s.Recorded(on)
	if err := errors.Join(err, on.Sync(ctx)); err != nil {
		return 0, err
	}
	return to.Since(from)
}

// Kept is an arena that is kept from job to job, as allocating and freeing gigabytes takes tens of
// milliseconds. The zero value has no memory. It is freed with its session.
type Kept struct {
	*Arena
	bytes int64
}

// Keep makes the session free the arenas when it is closed.
func (s *Session) Keep(k ...*Kept) { s.kept = append(s.kept, k...) }

// Bytes returns the size of the arena.
func (k *Kept) Bytes() int64 { return k.bytes }

// Reserve makes sure that the given number of bytes can be taken. If less is left, or if the arena
// is larger than most bytes, the arena is freed and allocated again: nothing in it may be in use.
// most 0 sets no limit.
func (k *Kept) Reserve(dev *Device, bytes, most int64) error {
	if k.Arena != nil && k.Left() >= bytes && (most == 0 || k.bytes <= most) {
		return nil
	}
	if err := k.Free(); err != nil {
		return err
	}
	a, err := NewArena(dev, bytes)
	if err != nil {
		return err
	}
	k.Arena, k.bytes = a, bytes
	return nil
}

// Clear releases everything that was taken.
func (k *Kept) Clear() error {
	if k.Arena == nil {
		return nil
	}
	return k.Release(0)
}

// Free frees the arena.
func (k *Kept) Free() (err error) {
	if k.Arena != nil {
		err = k.Arena.Free()
	}
	k.Arena, k.bytes = nil, 0
	return err
}
