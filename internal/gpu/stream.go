package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// Stream is a queue of work on the device. It belongs to one goroutine at a
// time.
type Stream struct {
	dev   *Device
	h     driver.Stream
	args  []byte // pinned; holds the arguments of a launch
	bound int
}

// argBytes is CUDA's limit on the size of a kernel's parameters.
const argBytes = 4096

// NewStream makes a stream.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{dev: d}
	err := d.do(func() (err error) {
		if s.args, err = d.d.HostAlloc(argBytes + driver.LaunchSpare); err != nil {
			return err
		}
		if s.h, err = d.d.NewStream(); err != nil {
			err = errors.Join(err, d.d.HostFree(s.args))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	d.count("streams", 1)
	return s, nil
}

// Free waits for the stream's work and frees the stream.
func (s *Stream) Free() error {
	s.dev.count("streams", -1)
	if s.dev.alive() != nil {
		return nil
	}
	return s.dev.always(func() error {
		err := s.dev.d.FreeStream(s.h)
		if err2 := s.dev.d.HostFree(s.args); err == nil {
			err = err2
		}
		return err
	})
}

// Device returns the stream's device.
func (s *Stream) Device() *Device { return s.dev }

// Do runs f with the device bound to the thread once for all calls on this stream. A query with
// several launches and copies saves half a microsecond on each.
func (s *Stream) Do(f func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return f()
}

func (s *Stream) enter() error {
	if s.bound == 0 {
		if err := s.dev.alive(); err != nil {
			return err
		}
		if err := s.dev.d.Bind(); err != nil {
			return s.dev.note(err)
		}
	}
	s.bound++
	return nil
}

func (s *Stream) leave() {
	if s.bound--; s.bound == 0 {
		s.dev.d.Unbind()
	}
}

// do runs one driver call for the stream.
func (s *Stream) do(f func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	return s.dev.note(f())
}

// Launch starts a kernel.
func (s *Stream) Launch(k *Kernel, dim Dim, args ...Arg) error {
	if k.dev != s.dev {
		return fmt.Errorf("kernel %s belongs to another device", k.name)
	}
	packed, err := k.pack(s.args[:argBytes], args)
	if err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	err = s.dev.d.Launch(k.h, dim, packed, s.h)
	s.leave()
	if err != nil {
		return fmt.Errorf("kernel %s: %w", k.name, s.dev.note(err))
	}
	return nil
}

// Start starts a kernel by its name, unless the grid is empty.
func (s *Stream) Start(src *Source, kernel string, dim Dim, args ...Arg) error {
	if dim.Blocks[0] == 0 {
		return nil
	}
	k, err := s.dev.Kernel(src, kernel)
	if err == nil {
		err = k.AllowShared(dim.Shared)
	}
	if err != nil {
		return err
	}
	return s.Launch(k, dim, args...)
}

// Each starts a kernel by its name, with one thread for each of n items, in blocks of the given
// number of threads.
func (s *Stream) Each(src *Source, kernel string, threads, n int, args ...Arg) error {
	return s.Start(src, kernel, Grid((n+threads-1)/threads, threads), args...)
}

// Sync waits until the stream's work is done or the context is cancelled. Work that was started
// cannot be stopped: after a cancelled Sync the buffers it uses remain in use, and freeing them
// waits.
func (s *Stream) Sync(ctx context.Context) error {
	return s.wait(ctx, func() (bool, error) { return s.dev.d.StreamDone(s.h) },
		func() error { return s.dev.d.SyncStream(s.h) })
}

// spin is how long a wait polls before it starts to sleep: longer than most queries take.
const spin = 2 * time.Millisecond

func (s *Stream) wait(ctx context.Context, poll func() (bool, error), block func() error) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	if ctx.Done() == nil {
		return s.dev.note(block())
	}
	start := time.Now()
	for n := 0; ; n++ {
		done, err := poll()
		if err != nil || done {
			return s.dev.note(err)
		}
		if n&15 != 15 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if waited := time.Since(start); waited > spin {
			time.Sleep(min(waited/16, 5*time.Millisecond))
		}
	}
}

// Event marks a point in a stream's work.
type Event struct {
	dev *Device
	h   driver.Event
}

// NewEvent makes an event.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{dev: d}
	err := d.do(func() (err error) {
		e.h, err = d.d.NewEvent(true)
		return err
	})
	if err != nil {
		return nil, err
	}
	d.count("events", 1)
	return e, nil
}

// Free frees the event.
func (e *Event) Free() error {
	e.dev.count("events", -1)
	if e.dev.alive() != nil {
		return nil
	}
	return e.dev.always(func() error { return e.dev.d.FreeEvent(e.h) })
}

// Record places the event after all work queued on the stream so far.
func (s *Stream) Record(e *Event) error {
	return s.do(func() error { return s.dev.d.RecordEvent(e.h, s.h) })
}

// WaitFor makes later work on the stream wait for the event.
func (s *Stream) WaitFor(e *Event) error {
	return s.do(func() error { return s.dev.d.WaitEvent(s.h, e.h) })
}

// Wait waits until the event has occurred.
func (e *Event) Wait() error {
	return e.dev.do(func() error { return e.dev.d.SyncEvent(e.h) })
}

// Since returns the time between two events that have occurred, by the device's clock.
func (e *Event) Since(from *Event) (d time.Duration, err error) {
	err = e.dev.do(func() error {
		ms, err := e.dev.d.Elapsed(from.h, e.h)
		d = time.Duration(float64(ms) * float64(time.Millisecond))
		return err
	})
	return d, err
}

// Graph is captured work, which is started by one call.
type Graph struct {
	dev *Device
	h   driver.Graph
}

// Capture captures the work that f queues on the stream, without running it. Arguments of launches
// are fixed; buffers and pinned memory must outlive the graph. f must not call Sync, Upload or
// Download.
func (s *Stream) Capture(f func() error) (*Graph, error) {
	g := &Graph{dev: s.dev}
	err := s.do(func() error {
		if err := s.dev.d.BeginCapture(s.h); err != nil {
			return err
		}
		err := f()
		h, err2 := s.dev.d.EndCapture(s.h)
		if err == nil {
			err = err2
		} else if err2 == nil {
			err = errors.Join(err, s.dev.d.FreeGraph(h))
		}
		g.h = h
		return err
	})
	if err != nil {
		return nil, err
	}
	s.dev.count("graphs", 1)
	return g, nil
}

// Replay starts a graph's work on the stream.
func (s *Stream) Replay(g *Graph) error {
	if err := s.enter(); err != nil {
		return err
	}
	err := s.dev.d.LaunchGraph(g.h, s.h)
	s.leave()
	return s.dev.note(err)
}

// Free frees the graph.
func (g *Graph) Free() error {
	g.dev.count("graphs", -1)
	if g.dev.alive() != nil {
		return nil
	}
	return g.dev.always(func() error { return g.dev.d.FreeGraph(g.h) })
}
