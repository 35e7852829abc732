package serve

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Long work rests while short queries want the cores, and only then.
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
		t.Errorf("it rested, although there is nothing else to do: %v", err)
	}
	leave := mustEnter(t, g, modest, shortLane)
	start := time.Now()
	if err := long.Err(); err != nil || time.Since(start) < maxRest {
		t.Errorf("it rested for %v, want %v: %v", time.Since(start), maxRest, err)
	}
	long.awake = g.now()
	if at := long.awake; long.Err() != nil || long.awake != at && time.Since(at) < workTurn {
		t.Error("it rested again at once")
	}
	leave()
	long.awake = ago
	if err := long.Err(); err != nil || long.awake != ago {
		t.Errorf("it rested, although the short query has ended: %v", err)
	}
}

// A short query that takes long goes on in the long lane, and its slot is free.
func TestShortQueryThatTakesLong(t *testing.T) {
	g := newGate(Limits{Wait: time.Millisecond, Waiting: 8}, 1, 1)
	take := func() *turn {
		t.Helper()
		turn, err := g.take(t.Context(), greedy, shortLane, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := turn.Err(); err != nil || turn.in != shortLane {
			t.Fatalf("at once in the %v lane: %v", turn.in, err)
		}
		turn.began = turn.began.Add(-longTurn)
		return turn
	}
	first := take()
	if err := first.Err(); err != nil || first.in != longLane {
		t.Fatalf("in the %v lane: %v", first.in, err)
	}
	second := take()
	for range 2 {
		if err := second.Err(); !errors.Is(err, errBusy) {
			t.Errorf("no place in the long lane: %v", err)
		}
	}
	first.end()
	second.end()
	for _, l := range g.lanes {
		if l.running != 0 || l.waiting != 0 {
			t.Errorf("%d running, %d waiting when all is over", l.running, l.waiting)
		}
	}
	if g.pressed || g.calm != nil {
		t.Error("long work would rest for nobody")
	}
}

// A turn ends at its time, for those who ask and those who wait.
func TestTurnsEndInTime(t *testing.T) {
	g := newGate(Limits{Wait: time.Minute, Waiting: 8}, 1, 1)
	turn, err := g.take(t.Context(), greedy, shortLane, time.Now().Add(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if err := turn.Err(); err != nil {
		t.Errorf("at once: %v", err)
	}
	if at, ok := turn.Deadline(); !ok || time.Until(at) > 20*time.Millisecond {
		t.Errorf("it ends %v, %v", at, ok)
	}
	if _, err := g.take(t.Context(), modest, shortLane, time.Now().Add(time.Millisecond)); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("another that waits: %v", err)
	}
	inner, cancel := context.WithCancel(turn)
	defer cancel()
	<-inner.Done()
	if err := turn.Err(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("afterwards: %v", err)
	}
	turn.end()
	if g.lanes[shortLane].running != 0 {
		t.Error("its slot is lost")
	}
}

// Who made a context of a request's own finds an error when that is done: package context panics
// where there is none.
func TestContextThatEndedHasAnError(t *testing.T) {
	c := &timed{Context: t.Context(), until: time.Now().Add(time.Hour)}
	done := c.Done()
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	c.end()
	<-done
	if c.Err() == nil {
		t.Error("done without an error")
	}
}
