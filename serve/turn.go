package serve

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// turn is the time of a request in a slot, and the context of its work. Whatever asks the context
// whether the request was given up, as searches, snippets and batches do now and then, gives way
// there too:
//
//   - Long work rests while short queries want the cores. It gets a quarter of a core even then.
//   - A short query that has been worked on for longTurn is no short one. It gives its slot to
//     others and goes on in the long lane.
type turn struct {
	context.Context
	gate   *gate
	client netip.Addr

	mu    sync.Mutex // held while resting: then all goroutines of the request rest
	in    lane
	began time.Time // in the lane
	awake time.Time // since when it has been working
	leave func()
	err   error // there was no place in the long lane
}

const (
	longTurn  = 100 * time.Millisecond // of work make any request a long one
	workTurn  = time.Millisecond       // of long work between two looks at the short lane
	restShare = 3                      // time of rest, at most, for the time of work before it
	maxRest   = 30 * time.Millisecond
)

// take waits for a slot. The turn must be ended.
func (g *gate) take(ctx context.Context, who netip.Addr, in lane) (*turn, error) {
	leave, err := g.enter(ctx, who, in)
	if err != nil {
		return nil, err
	}
	now := g.now()
	return &turn{Context: ctx, gate: g, client: who, in: in, began: now, awake: now, leave: leave}, nil
}

func (t *turn) end() { t.leave() }

// Err says whether the request was given up, after a rest if it is time for one.
func (t *turn) Err() error {
	if err := t.Context.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.gate.now()
	switch {
	case t.err != nil:
	case t.in == longLane:
		if worked := now.Sub(t.awake); worked >= workTurn && t.gate.rest(t.Context, min(restShare*worked, maxRest)) {
			t.awake = t.gate.now()
		}
	case now.Sub(t.began) >= longTurn:
		t.leave()
		t.in, t.leave = longLane, func() {}
		if leave, err := t.gate.enter(t.Context, t.client, longLane); err != nil {
			t.err = err
		} else {
			t.leave = leave
		}
		t.awake = t.gate.now()
	}
	return t.err
}

// rest waits until short queries leave a core free, but not longer than a time. It reports whether
// there was anything to wait for.
func (g *gate) rest(ctx context.Context, most time.Duration) bool {
	g.mu.Lock()
	calm := g.calm
	g.mu.Unlock()
	if calm == nil {
		return false
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-calm:
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// press notes whether short queries want all cores but one, or the only one. It is called after
// each change of the short lane.
func (g *gate) press() {
	l := &g.lanes[shortLane]
	pressed := l.running+l.waiting >= max(1, l.slots-1)
	switch {
	case pressed && g.calm == nil:
		g.calm = make(chan struct{})
	case !pressed && g.calm != nil:
		close(g.calm)
		g.calm = nil
	}
}
