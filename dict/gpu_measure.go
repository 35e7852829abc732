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

// TimeBlocks measures look-ups without the cache with so many blocks on each multiprocessor: the
// papers show the best of several. The kernels' threads in a block are fixed.
func (g *GPU) TimeBlocks(ctx context.Context, t *Text, n int, blocks []int) (times []time.Duration, err error) {
	g.mu.Lock()
	own := g.on.blocks
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		g.on.blocks = own
		g.mu.Unlock()
	}()
	for _, b := range blocks {
		g.mu.Lock()
		g.on.blocks = max(1, b)
		g.mu.Unlock()
		m, err := g.Time(ctx, t, n)
		if err != nil {
			return nil, err
		}
		times = append(times, m.Plain)
	}
	return times, nil
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
