package weigh

import (
	"errors"
	"slices"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Step is a step of a method on a GPU and how long the device took for it. Copies
// between host and device are steps too. What runs beside other steps says so: the
// times of all others add up to the whole.
type Step struct {
	Name   string        `json:"name"`
	Time   time.Duration `json:"nanoseconds"`
	Beside bool          `json:"beside,omitempty"`
}

// stopwatch times steps by events: one after the other by marks on a stream, and those
// beside them by two each.
type stopwatch struct {
	dev    *gpu.Device
	marks  []moment
	spans  [][2]moment
	events []*gpu.Event
	used   int
}

type moment struct {
	name string
	*gpu.Event
}

func (w *stopwatch) moment(s *gpu.Stream, name string) (moment, error) {
	if w.used == len(w.events) {
		e, err := w.dev.NewEvent()
		if err != nil {
			return moment{}, err
		}
		w.events = append(w.events, e)
	}
	w.used++
	return moment{name, w.events[w.used-1]}, s.Record(w.events[w.used-1])
}

func (w *stopwatch) mark(s *gpu.Stream, name string) error {
	m, err := w.moment(s, name)
	w.marks = append(w.marks, m)
	return err
}

func (w *stopwatch) span(s *gpu.Stream, name string, f func() error) error {
	from, err := w.moment(s, name)
	if err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	to, err := w.moment(s, name)
	w.spans = append(w.spans, [2]moment{from, to})
	return err
}

// steps waits for the last mark and returns the times between all of them, steps of
// the same name added up. The last mark's name is of no matter.
func (w *stopwatch) steps() (list []Step, err error) {
	marks, spans := w.marks, w.spans
	w.used, w.marks, w.spans = 0, nil, nil
	for i := range len(marks) - 1 {
		list, err = addSpan(list, marks[i], marks[i+1], false)
		if err != nil {
			return nil, err
		}
	}
	for _, s := range spans {
		if list, err = addSpan(list, s[0], s[1], true); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func addSpan(list []Step, from, to moment, beside bool) ([]Step, error) {
	if err := to.Wait(); err != nil {
		return nil, err
	}
	d, err := to.Since(from.Event)
	return addSteps(list, []Step{{from.name, d, beside}}), err
}

// addSteps adds the times of more steps, those of the same name up.
func addSteps(list, more []Step) []Step {
	for _, m := range more {
		if at := slices.IndexFunc(list, func(s Step) bool { return s.Name == m.Name && s.Beside == m.Beside }); at >= 0 {
			list[at].Time += m.Time
		} else {
			list = append(list, m)
		}
	}
	return list
}

func (w *stopwatch) free() (err error) {
	for _, e := range w.events {
		err = errors.Join(err, e.Free())
	}
	w.events = nil
	return err
}
