package dict

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// LookUpTimes is how long a device takes for a text that is in its memory, by its own
// clock: with the cache, which is filled in that time, and without.
type LookUpTimes struct {
	Cached, Plain time.Duration
	Total         int64 // bytes on the device: the dictionary, the text, its words and their numbers
}

// Time measures look-ups of the first n words of a text, the best of several rounds.
func (g *GPU) Time(ctx context.Context, t *Text, n int) (m LookUpTimes, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := chunk{0, min(n, t.Len())}
	if c.to == 0 {
		return m, errors.New("time look-ups: there are no words")
	}
	if list := t.chunks(g.memory); list[0].from > 0 || list[0].to < c.to {
		return m, fmt.Errorf("time look-ups: %d words do not fit the device", c.to)
	}
	b, err := g.alloc(c.chars(t), c.to)
	defer func() { err = errors.Join(err, b.free()) }()
	if err != nil {
		return m, err
	}
	if err := b.put(g.s, t, c); err != nil {
		return m, err
	}
	m.Total = g.on.Bytes() + b.chars.Bytes() + b.words.Bytes() + b.ids.Bytes()
	if m.Plain, err = g.best(ctx, func() error { return g.on.lookUp(g.s, b.tmp, b.chars, b.words, b.ids, 0) }); err != nil {
		return m, err
	}
	m.Cached, err = g.best(ctx, func() error { return g.on.LookUp(g.s, b.tmp, b.chars, b.words, b.ids) })
	return m, err
}

// best is the least of some times that work takes on the stream, by events.
func (g *GPU) best(ctx context.Context, work func() error) (least time.Duration, err error) {
	var events [2]*gpu.Event
	for i := range events {
		if events[i], err = g.dev.NewEvent(); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, events[i].Free()) }()
	}
	for round := range 4 {
		if err := errors.Join(g.s.Record(events[0]), work(), g.s.Record(events[1]), g.s.Sync(ctx)); err != nil {
			return 0, err
		}
		took, err := events[1].Since(events[0])
		if err != nil {
			return 0, err
		}
		if round == 0 || took < least {
			least = took
		}
	}
	return least, nil
}
