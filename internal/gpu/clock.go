package gpu

import (
	"errors"
	"time"
)

// Clock times the stages of a job on the device: consecutive ones by marks on a stream, concurrent
// ones by two marks each. A nil Clock measures nothing.
type Clock struct {
	dev    *Device
	marks  []moment
	spans  [][2]moment
	events []*Event
	used   int
}

// NewClock returns a clock without any marks.
func NewClock(dev *Device) *Clock { return &Clock{dev: dev} }

type moment struct {
	name string
	*Event
}

func (c *Clock) moment(s *Stream, name string) (moment, error) {
	if c.used == len(c.events) {
		e, err := c.dev.NewEvent()
		if err != nil {
			return moment{}, err
		}
		c.events = append(c.events, e)
	}
	c.used++
	return moment{name, c.events[c.used-1]}, s.Record(c.events[c.used-1])
}

// Mark records that a stage begins now on a stream.
func (c *Clock) Mark(s *Stream, name string) error {
	if c == nil {
		return nil
	}
	m, err := c.moment(s, name)
	c.marks = append(c.marks, m)
	return err
}

// End records that a stage ends now, which began at the previous mark. The next one has no name
// yet.
func (c *Clock) End(s *Stream, name string) error {
	if c != nil && len(c.marks) > 0 {
		c.marks[len(c.marks)-1].name = name
	}
	return c.Mark(s, "")
}

// Span times what f does on a stream, concurrently with the stages.
func (c *Clock) Span(s *Stream, name string, f func() error) error {
	if c == nil {
		return f()
	}
	from, err := c.moment(s, name)
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	to, err := c.moment(s, name)
	c.spans = append(c.spans, [2]moment{from, to})
	return err
}

// Stages waits for the last mark, calls each with the time of every stage, and resets the clock.
// The name of the last mark is ignored. beside says that a stage ran concurrently with others.
func (c *Clock) Stages(each func(name string, took time.Duration, beside bool)) error {
	marks, spans := c.marks, c.spans
	c.used, c.marks, c.spans = 0, nil, nil
	add := func(from, to moment, beside bool) error {
		if err := to.Wait(); err != nil {
			return err
		}
		took, err := to.Since(from.Event)
		if err == nil {
			each(from.name, took, beside)
		}
		return err
	}
	for i := range len(marks) - 1 {
		if err := add(marks[i], marks[i+1], false); err != nil {
			return err
		}
	}
	for _, s := range spans {
		if err := add(s[0], s[1], true); err != nil {
			return err
		}
	}
	return nil
}

// Free frees the events.
func (c *Clock) Free() (err error) {
	if c == nil {
		return nil
	}
	for _, e := range c.events {
		err = errors.Join(err, e.Free())
	}
	c.events = nil
	return err
}
