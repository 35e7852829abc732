package dict

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collocate/collocate/internal/given"
)

// LookUpTimes holds the times of looking up a text that is in the device's memory, by the device's
// clock.
type LookUpTimes struct {
	// Cached is the time with the cache of frequent words, including the time to fill it. Plain is
	// the time without. They are equal for an xbw-paper, which has no cache.
	Cached, Plain time.Duration
	Total         int64 // bytes on the device: dictionary, text, words and numbers
}

// Time measures look-ups of the first n words of a text and returns the best of several rounds.
func (g *GPU) Time(ctx context.Context, t *Text, n int) (m LookUpTimes, err error) {
	if err := given.Context(ctx); err != nil {
		return LookUpTimes{}, err
	}
	err = g.measure(ctx, t, n, func(b *batch) (err error) {
		m.Total = g.on.Bytes() + b.chars.Bytes() + b.words.Bytes() + b.ids.Bytes()
		cached := func() error { return g.on.LookUp(g.s, b.Arena, b.chars, b.words, b.ids) }
		if g.on.published { // there is no cache
			m.Plain, err = g.best(ctx, cached)
			m.Cached = m.Plain
			return err
		}
		plain := func() error { return g.on.lookUp(g.s, b.Arena, b.chars, b.words, b.ids, 0) }
		if m.Plain, err = g.best(ctx, plain); err != nil {
			return err
		}
		m.Cached, err = g.best(ctx, cached)
		return err
	})
	return m, err
}

// TimeLaunches measures look-ups by the papers' kernels, once for each of the launches.
func (g *GPU) TimeLaunches(ctx context.Context, t *Text, n int,
	launches []Launch) (times []time.Duration, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	err = g.measure(ctx, t, n, func(b *batch) error {
		for _, l := range launches {
			took, err := g.best(ctx, func() error {
				return g.on.lookUpAsPaper(g.s, b.chars, b.words, b.ids, l)
			})
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		return nil
	})
	return times, err
}

// measure copies the first n words of a text to the device and calls fn.
func (g *GPU) measure(ctx context.Context, t *Text, n int, fn func(*batch) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := chunk{0, min(n, t.Len())}
	if c.to == 0 {
		return errors.New("time look-ups: no words")
	}
	if list := t.chunks(0, t.Len(), g.budget); list[0].from > 0 || list[0].to < c.to {
		return fmt.Errorf("time look-ups: %d words do not fit the device", c.to)
	}
	b := g.begin(ctx, c.chars(t), c.to)
	b.put(t, c)
	b.Do(func() error { return fn(b) })
	return b.End()
}

// best returns the shortest of four times that work takes on the stream.
func (g *GPU) best(ctx context.Context, work func() error) (least time.Duration, err error) {
	for round := range 4 {
		took, err := g.session.Timed(ctx, g.s, work)
		if err != nil {
			return 0, err
		}
		if round == 0 || took < least {
			least = took
		}
	}
	return least, nil
}
