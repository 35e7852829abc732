package serve

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Long work pauses while short queries want the cores, and only then.
func TestLongWorkRests(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 8}, 2, 1)
	long, err := g.take(t.Context(), greedy, longLane, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	defer long.end()
	ago := g.now().Add(-time.Minute)
	long.awake = ago
	if err := long.Err(); err != nil || long.awake != ago {
		t.Errorf("paused without short queries, error %v; want neither", err)
	}
	leave := mustEnter(t, g, modest, shortLane)
	start := time.Now()
	if err := long.Err(); err != nil || time.Since(start) < maxRest {
		t.Errorf("paused for %v, error %v; want at least %v", time.Since(start), err, maxRest)
	}
	long.awake = g.now()
	if at := long.awake; long.Err() != nil || long.awake != at && time.Since(at) < workTurn {
		t.Errorf("paused again before %v of work", workTurn)
	}
	leave()
	long.awake = ago
	if err := long.Err(); err != nil || long.awake != ago {
		t.Errorf("paused after the short query had ended, error %v; want neither", err)
	}
}

// A query in the short lane that takes long moves to the long lane and frees its slot. If the long
// lane is full, it ends.
func TestShortQueryThatTakesLong(t *testing.T) {
	g := newGate(Limits{Wait: time.Millisecond, Waiting: 8}, 1, 1)
	take := func() *turn {
		t.Helper()
		turn, err := g.take(t.Context(), greedy, shortLane, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := turn.Err(); err != nil || turn.in != shortLane {
			t.Fatalf("at the start in lane %v, error %v; want the short lane", turn.in, err)
		}
		turn.began = turn.began.Add(-longTurn)
		return turn
	}
	first := take()
	if err := first.Err(); err != nil || first.in != longLane {
		t.Fatalf("after a long time in lane %v, error %v; want the long lane", first.in, err)
	}
	second := take()
	for range 2 {
		if err := second.Err(); !errors.Is(err, errBusy) {
			t.Errorf("with a full long lane: error %v, want %v", err, errBusy)
		}
	}
	first.end()
	second.end()
	for _, l := range g.lanes {
		if l.running != 0 || l.waiting != 0 {
			t.Errorf("%d running, %d waiting at the end, want none", l.running, l.waiting)
		}
	}
	if g.pressed || g.calm != nil {
		t.Error("long work would still pause, although no short query is left")
	}
}

// A turn ends at its deadline, while it runs and while it waits.
func TestTurnsEndInTime(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 8}, 1, 1)
	turn, err := g.take(t.Context(), greedy, shortLane, time.Now().Add(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if err := turn.Err(); err != nil {
		t.Errorf("before the deadline: error %v, want none", err)
	}
	if at, ok := turn.Deadline(); !ok || time.Until(at) > 20*time.Millisecond {
		t.Errorf("deadline %v, %v; want one in at most 20 ms", at, ok)
	}
	if _, err := g.take(t.Context(), modest, shortLane, time.Now().Add(time.Millisecond)); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("one that waits: error %v, want %v", err, context.DeadlineExceeded)
	}
	inner, cancel := context.WithCancel(turn)
	defer cancel()
	<-inner.Done()
	if err := turn.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: error %v, want %v", err, context.DeadlineExceeded)
	}
	turn.end()
	if n := g.lanes[shortLane].running; n != 0 {
		t.Errorf("%d slots are taken at the end, want none", n)
	}
}

// A context that has ended has an error: package context panics if a parent is done without one.
func TestContextThatEndedHasAnError(t *testing.T) {
	c := &timed{Context: t.Context(), until: time.Now().Add(time.Hour)}
	done := c.Done()
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	c.end()
	<-done
	if c.Err() == nil {
		t.Error("the context is done without an error")
	}
}
