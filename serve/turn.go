package serve

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// turn is the time of a request in a slot, and the context of its work. Searches, snippets and
// batches check the context now and then, and the request yields there, too:
//
//   - Long work pauses while short queries need the cores. It gets a quarter of a core even then.
//   - A short query that has run for longTurn counts as long. It leaves its slot to others and goes
//     on in the long lane.
type turn struct {
	timed
	gate   *gate
	client netip.Addr

	mu    sync.Mutex // held during a pause: then all goroutines of the request pause
	slot  slot
	in    lane
	began time.Time // in the current lane
	awake time.Time // end of the last pause
	err   error     // set if there was no place in the long lane
}

const (
	longTurn  = 100 * time.Millisecond // of work make a request a long one
	workTurn  = time.Millisecond       // of long work between two checks of the short lane
	restShare = 3                      // longest pause, as a multiple of the work before it
	maxRest   = 30 * time.Millisecond
)

// take waits for a slot. The turn ends at until, or with the context if until is zero. The caller
// must end the turn.
func (g *gate) take(ctx context.Context, who netip.Addr, in lane, until time.Time) (*turn, error) {
	t := &turn{timed: timed{Context: ctx, until: until}, gate: g, client: who, in: in}
	var err error
	if t.slot, err = g.enter(&t.timed, who, in); err != nil {
		t.timed.end()
		return nil, err
	}
	t.began, t.awake = t.slot.start, t.slot.start
	return t, nil
}

func (t *turn) end() {
	t.slot.leave()
	t.timed.end()
}

// Err reports whether the request was cancelled, after a pause if one is due.
func (t *turn) Err() error {
	if err := t.timed.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.gate.now()
	switch {
	case t.err != nil:
	case t.in == longLane:
		if worked := now.Sub(t.awake); worked >= workTurn &&
			t.gate.rest(&t.timed, min(restShare*worked, maxRest)) {
			t.awake = t.gate.now()
		}
	case now.Sub(t.began) >= longTurn:
		t.slot.leave()
		t.in = longLane
		t.slot, t.err = t.gate.enter(&t.timed, t.client, longLane)
		t.awake = t.gate.now()
	}
	return t.err
}

// rest waits until short queries leave a core free, but not longer than most. It reports whether
// there was anything to wait for.
func (g *gate) rest(ctx context.Context, most time.Duration) bool {
	g.mu.Lock()
	if !g.pressed {
		g.mu.Unlock()
		return false
	}
	if g.calm == nil {
		g.calm = make(chan struct{})
	}
	calm := g.calm
	g.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-calm:
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// press updates whether short queries need all cores but one, or the only one. It is called after
// each change of the short lane.
func (g *gate) press() {
	l := &g.lanes[shortLane]
	g.pressed = l.running+l.waiting >= max(1, l.slots-1)
	if !g.pressed && g.calm != nil {
		close(g.calm)
		g.calm = nil
	}
}

// timed is a context with an optional deadline. Unlike those of package context it has no timer
// unless something waits for its end, which few requests do.
type timed struct {
	context.Context
	until time.Time

	once   sync.Once
	waited context.Context
	cancel context.CancelFunc
	ended  atomic.Bool
}

func (t *timed) Deadline() (time.Time, bool) {
	at, ok := t.Context.Deadline()
	if t.until.IsZero() || ok && at.Before(t.until) {
		return at, ok
	}
	return t.until, true
}

func (t *timed) Err() error {
	switch err := t.Context.Err(); {
	case err != nil:
		return err
	case !t.until.IsZero() && !time.Now().Before(t.until):
		return context.DeadlineExceeded
	case t.ended.Load():
		return context.Canceled
	}
	return nil
}

func (t *timed) Done() <-chan struct{} {
	if t.until.IsZero() {
		return t.Context.Done()
	}
	t.once.Do(func() { t.waited, t.cancel = context.WithDeadline(t.Context, t.until) })
	return t.waited.Done()
}

// end stops the timer. A context derived from this one may still call Err, and must then find an
// error: package context panics otherwise.
func (t *timed) end() {
	t.ended.Store(true)
	t.once.Do(func() {})
	if t.cancel != nil {
		t.cancel()
	}
}
