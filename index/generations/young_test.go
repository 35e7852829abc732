package generations

import (
	"context"
	"errors"
	"testing"
	"time"
)

// steppedClock is a clock that a test sets.
type steppedClock struct{ now time.Duration }

func (c *steppedClock) Since() time.Duration                           { return c.now }
func (c *steppedClock) Sleep(_ context.Context, _ time.Duration) error { return nil }

// counted counts the reads of a store.
type counted struct {
	Store
	reads int
}

func (c *counted) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	c.reads++
	return c.Store.Read(ctx, name, most)
}

// A commit does not ask for a segment that was begun a short time ago. Later it does, because
// another process may have taken it for garbage, removed it and forgotten it.
func TestYoungSegmentsNeedNoRequest(t *testing.T) {
	ctx, clock, store := t.Context(), &steppedClock{}, &counted{Store: NewFolder(t.TempDir())}
	x := New(store)
	x.clock = clock
	made, err := x.Make(ctx, Generation{})
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string) (*Generation, error) {
		return x.Commit(ctx, made, func(_ context.Context, newest *Generation) (*Generation, error) {
			return &Generation{Segments: append(newest.Segments, Segment{Name: name})}, nil
		})
	}
	if err := x.Begin(ctx, "s000000000000001"); err != nil {
		t.Fatal(err)
	}
	store.reads = 0
	if made, err = add("s000000000000001"); err != nil || store.reads != 0 {
		t.Fatalf("%v after %d reads, want none", err, store.reads)
	}
	if err := x.Begin(ctx, "s000000000000002"); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete(ctx, FileName("s000000000000002", begunName)); err != nil {
		t.Fatal(err)
	}
	clock.now += DefaultGrace/2 + time.Second
	if _, err := add("s000000000000002"); !errors.Is(err, ErrCollected) {
		t.Errorf("%v, want an error that the segment is gone", err)
	}
}
