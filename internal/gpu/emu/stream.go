package emu

import (
	"time"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// op is one queued operation.
type op func() error

// stream is a queue of operations that nobody has waited for yet.
type stream struct {
	queue     []op
	capturing bool
}

// event is an event that was recorded on a stream, and when the stream passed it.
type event struct {
	on     driver.Stream
	passed bool
	set    bool
	at     time.Time
}

func (d *Device) enqueue(s driver.Stream, o op) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	st, ok := d.streams[s]
	if !ok {
		return fail("enqueue", driver.InvalidValue, "no such stream")
	}
	if d.dead != nil {
		return d.dead
	}
	st.queue = append(st.queue, o)
	return nil
}

// advance runs the stream's queue until done returns true, or to its end.
func (d *Device) advance(s driver.Stream, done func() bool) error {
	for {
		d.mu.Lock()
		st, ok := d.streams[s]
		switch {
		case !ok:
			d.mu.Unlock()
			return fail("wait", driver.InvalidValue, "no such stream")
		case d.dead != nil:
			st.queue = nil
			err := d.dead
			d.mu.Unlock()
			return err
		case st.capturing:
			d.mu.Unlock()
			return fail("wait", driver.InvalidValue, "the stream is being captured")
		case len(st.queue) == 0 || done != nil && done():
			d.mu.Unlock()
			return nil
		}
		next := st.queue[0]
		st.queue = st.queue[1:]
		d.mu.Unlock()
		if err := next(); err != nil {
			d.mu.Lock()
			if d.dead == nil {
				d.dead = err
			}
			d.mu.Unlock()
			return err
		}
	}
}

// drain runs all streams to their ends. Errors are returned when somebody waits for the stream.
func (d *Device) drain() {
	d.mu.Lock()
	var all []driver.Stream
	for s, st := range d.streams {
		if !st.capturing {
			all = append(all, s)
		}
	}
	d.mu.Unlock()
	d.run.Lock()
	defer d.run.Unlock()
	for _, s := range all {
		_ = d.advance(s, nil)
	}
}

func (d *Device) NewStream() (driver.Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := driver.Stream(d.handle())
	d.streams[h] = &stream{}
	return h, d.dead
}

func (d *Device) FreeStream(s driver.Stream) error {
	err := d.SyncStream(s)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.streams, s)
	return err
}

func (d *Device) SyncStream(s driver.Stream) error {
	d.run.Lock()
	defer d.run.Unlock()
	return d.advance(s, nil)
}

// StreamDone runs the stream too: otherwise a host that polls would wait forever.
func (d *Device) StreamDone(s driver.Stream) (bool, error) {
	err := d.SyncStream(s)
	return err == nil, err
}

func (d *Device) SyncDevice() error {
	d.drain()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *Device) NewEvent(bool) (driver.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h := driver.Event(d.handle())
	d.events[h] = &event{}
	return h, d.dead
}

func (d *Device) FreeEvent(e driver.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.events[e]; !ok {
		return fail("free event", driver.InvalidValue, "no such event")
	}
	delete(d.events, e)
	return nil
}

func (d *Device) RecordEvent(e driver.Event, s driver.Stream) error {
	d.mu.Lock()
	ev, ok := d.events[e]
	if ok {
		*ev = event{on: s, set: true}
	}
	d.mu.Unlock()
	if !ok {
		return fail("record event", driver.InvalidValue, "no such event")
	}
	return d.enqueue(s, func() error {
		ev.passed, ev.at = true, time.Now()
		return nil
	})
}

// passEvent runs the recording stream up to the event. d.run is held.
func (d *Device) passEvent(e driver.Event) error {
	d.mu.Lock()
	ev, ok := d.events[e]
	d.mu.Unlock()
	if !ok {
		return fail("wait for event", driver.InvalidValue, "no such event")
	}
	if !ev.set || ev.passed {
		return nil
	}
	return d.advance(ev.on, func() bool { return ev.passed })
}

func (d *Device) SyncEvent(e driver.Event) error {
	d.run.Lock()
	defer d.run.Unlock()
	return d.passEvent(e)
}

func (d *Device) WaitEvent(s driver.Stream, e driver.Event) error {
	return d.enqueue(s, func() error { return d.passEvent(e) })
}

func (d *Device) Elapsed(from, to driver.Event) (float32, error) {
	if err := d.SyncEvent(to); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a, b := d.events[from], d.events[to]
	if a == nil || b == nil || !a.passed || !b.passed {
		return 0, fail("elapsed", driver.InvalidValue, "events were not recorded")
	}
	return float32(b.at.Sub(a.at).Seconds() * 1e3), nil
}

func (d *Device) CopyIn(dst driver.Ptr, src []byte, s driver.Stream) error {
	return d.enqueue(s, func() error {
		b, err := d.bytes(dst, int64(len(src)))
		copy(b, src)
		return err
	})
}

func (d *Device) CopyOut(dst []byte, src driver.Ptr, s driver.Stream) error {
	return d.enqueue(s, func() error {
		b, err := d.bytes(src, int64(len(dst)))
		copy(dst, b)
		return err
	})
}

func (d *Device) Copy(dst, src driver.Ptr, n int64, s driver.Stream) error {
	return d.enqueue(s, func() error {
		from, err := d.bytes(src, n)
		if err != nil {
			return err
		}
		to, err := d.bytes(dst, n)
		copy(to, from)
		return err
	})
}

func (d *Device) Fill8(dst driver.Ptr, v uint8, n int64, s driver.Stream) error {
	return d.enqueue(s, func() error {
		b, err := d.bytes(dst, n)
		fill(b, v)
		return err
	})
}

func (d *Device) Fill32(dst driver.Ptr, v uint32, n int64, s driver.Stream) error {
	return d.enqueue(s, func() error {
		b, err := d.bytes(dst, 4*n)
		fill(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		return err
	})
}

func (d *Device) BeginCapture(s driver.Stream) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	st, ok := d.streams[s]
	if !ok || st.capturing || len(st.queue) > 0 {
		return fail("begin capture", driver.InvalidValue, "the stream is not idle")
	}
	st.capturing = true
	return nil
}

func (d *Device) EndCapture(s driver.Stream) (driver.Graph, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	st, ok := d.streams[s]
	if !ok || !st.capturing {
		return 0, fail("end capture", driver.InvalidValue, "the stream is not being captured")
	}
	g := driver.Graph(d.handle())
	d.graphs[g] = st.queue
	st.queue, st.capturing = nil, false
	return g, nil
}

func (d *Device) FreeGraph(g driver.Graph) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.graphs[g]; !ok {
		return fail("free graph", driver.InvalidValue, "no such graph")
	}
	delete(d.graphs, g)
	return nil
}

func (d *Device) LaunchGraph(g driver.Graph, s driver.Stream) error {
	d.mu.Lock()
	ops, ok := d.graphs[g]
	d.mu.Unlock()
	if !ok {
		return fail("launch graph", driver.InvalidValue, "no such graph")
	}
	for _, o := range ops {
		if err := d.enqueue(s, o); err != nil {
			return err
		}
	}
	return nil
}
