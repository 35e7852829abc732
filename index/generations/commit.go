package generations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// faults are what tests leave out of the protocol, to show that they notice.
type faults struct {
	overwrite     bool // a commit replaces a generation that is there
	lostIsFailure bool // a commit without an answer is reported as none
	trustNames    bool // a generation found by its name is never out of line
	noRebase      bool // the loser of a commit does not apply its change again
	noGrace       bool // garbage is removed at once
	noDrop        bool // segments are removed without a commit that says so
}

// Change returns the generation that follows newest: its segments and its manifest. Commit fills in
// the rest. A change is called again if another process commits first. It returns nil if nothing
// is left to change.
type Change func(ctx context.Context, newest *Generation) (*Generation, error)

// Commit makes the generation that change returns, after the newest one. base is the newest
// generation as far as the caller knows, or nil. It returns the generation that was made. The error
// wraps ErrUncertain if it is unknown whether it was, and ErrCollected if a segment of change is
// not in the store any more.
func (x *Index) Commit(ctx context.Context, base *Generation, change Change) (*Generation, error) {
	var err error
	for try := 0; ; try++ {
		if base == nil || x.late(base) {
			if base, err = x.again(ctx, base); err != nil {
				return nil, err
			}
		}
		next, err := change(ctx, base)
		if err != nil || next == nil {
			return base, err
		}
		if err := x.stillThere(ctx, base, next); err != nil {
			return nil, err
		}
		x.follow(next, base)
		at := x.clock.Since()
		winner, err := x.publish(ctx, next)
		switch {
		case err != nil:
			return nil, err
		case winner == nil && !x.late(base):
			next.since = at
			x.forget(next)
			return next, nil
		case winner == nil:
			// The name may have been free again.
			ours, newest, err := x.inLine(ctx, next)
			if err != nil {
				return nil, err
			}
			if ours || newest.Number < next.Number { // the store lists late
				return next, nil
			}
			base = newest
			continue
		case x.noRebase:
			change = func(context.Context, *Generation) (*Generation, error) {
				return &Generation{Segments: next.Segments, Manifest: next.Manifest}, nil
			}
		}
		if winner.Index != base.Index {
			return nil, fmt.Errorf("commit generation %d: %w", next.Number, ErrOther)
		}
		winner.since = base.since
		base = winner // unless that is late, when the newest is looked up
		if err := x.clock.Sleep(ctx, x.pause(try)); err != nil {
			return nil, err
		}
	}
}

// again reads the newest generation of the index of base, if that is not nil.
func (x *Index) again(ctx context.Context, base *Generation) (*Generation, error) {
	newest, err := x.Newest(ctx)
	if err == nil && base != nil && newest.Index != base.Index {
		return nil, fmt.Errorf("generation %d: %w", newest.Number, ErrOther)
	}
	return newest, err
}

// pause is how long to wait before another try: up to 10 ms at first, then twice as long each time,
// up to 640 ms.
func (x *Index) pause(try int) time.Duration {
	var b [2]byte
	x.random(b[:])
	most := 10 * time.Millisecond << min(try, 6)
	return most * time.Duration(int(b[0])<<8|int(b[1])) / (1 << 16)
}

// follow makes next the generation after base.
func (x *Index) follow(next, base *Generation) {
	next.Number, next.Index, next.Grace = base.Number+1, base.Index, base.Grace
	next.Commit = x.token()
	next.Recent = append([]string{base.Commit}, base.Recent[:min(len(base.Recent), mostRecent-1)]...)
	if next.Dropped == nil {
		next.Dropped = slices.Clone(base.Dropped)
	}
	for i := range base.Segments {
		if name := base.Segments[i].Name; !next.Has(name) {
			next.Dropped = append(next.Dropped, Drop{name, next.Number})
		}
	}
}

// stillThere returns ErrCollected if a segment that next lists for the first time is garbage. A
// collector first commits that, in Dropped, and forgets it only when the objects of the segment are
// gone, of which it removes first the one that Begin made. So a segment that has that object and is
// not in base.Dropped was no garbage at base. If it becomes so later, then by a commit after base,
// which next will meet. One that this process began a short time ago needs no request: it becomes
// garbage a grace period after its last object was made.
func (x *Index) stillThere(ctx context.Context, base, next *Generation) error {
	for i := range next.Segments {
		name := next.Segments[i].Name
		if base.Has(name) || x.noDrop {
			continue
		}
		if base.dropped(name) {
			return fmt.Errorf("segment %s: %w", name, ErrCollected)
		}
		if x.isYoung(name, base.grace()) {
			continue
		}
		_, err := x.store.Read(ctx, segmentsFolder+name+"/"+begunName, 1<<10)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("segment %s: %w", name, ErrCollected)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forget forgets when the segments of a generation were begun.
func (x *Index) forget(g *Generation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range g.Segments {
		delete(x.begun, g.Segments[i].Name)
	}
}

// publishTries is how often a generation is sent whose answers are lost.
const publishTries = 20

// publish makes the object of a generation. If another one has that number, it is returned.
func (x *Index) publish(ctx context.Context, g *Generation) (winner *Generation, err error) {
	data, err := g.Encode()
	if err != nil {
		return nil, err
	}
	name := numbered(generationsFolder, g.Number)
	sent := false // a request may have been done without an answer
	for try := 0; ; try++ {
		if x.overwrite {
			err = x.store.Put(ctx, name, bytes.NewReader(data), int64(len(data)))
		} else {
			err = x.store.Create(ctx, name, data)
		}
		if err == nil {
			return nil, nil
		}
		if errors.Is(err, fs.ErrExist) {
			winner, err := x.read(ctx, g.Number)
			switch {
			case err == nil && winner.Commit == g.Commit:
				return nil, nil // the store has done it, and its answer was lost
			case err == nil:
				return winner, nil
			case !errors.Is(err, fs.ErrNotExist):
				return nil, fmt.Errorf("commit generation %d: %w: %w", g.Number, ErrUncertain, err)
			}
			return x.passed(ctx, g) // long ago, since it has been removed
		}
		if definite(err) && !sent {
			return nil, fmt.Errorf("commit generation %d: %w", g.Number, err)
		}
		if x.lostIsFailure {
			return nil, err
		}
		sent = true
		if try == publishTries || definite(err) || ctx.Err() != nil {
			return nil, fmt.Errorf("commit generation %d: %w: %w", g.Number, ErrUncertain, err)
		}
		if slept := x.clock.Sleep(ctx, x.pause(try)); slept != nil {
			return nil, fmt.Errorf("commit generation %d: %w: %w", g.Number, ErrUncertain, slept)
		}
	}
}

// definite reports whether an error says that a request was not done, and will not be.
func definite(err error) bool {
	for _, e := range []error{ErrNoBucket, ErrCredentials, ErrClock, fs.ErrPermission} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// passed returns what publish does for a generation whose number was taken and is free again.
func (x *Index) passed(ctx context.Context, g *Generation) (winner *Generation, err error) {
	ours, newest, err := x.inLine(ctx, g)
	switch {
	case err != nil:
		return nil, err
	case ours:
		return nil, nil
	case newest.Number < g.Number:
		return nil, fmt.Errorf("commit generation %d: %w", g.Number, ErrUncertain)
	}
	return newest, nil
}

// inLine reports whether a generation whose object was sent, perhaps long ago, is the newest or one
// before it, and not one out of line. It returns the newest.
func (x *Index) inLine(ctx context.Context, g *Generation) (ours bool, newest *Generation, err error) {
	newest, err = x.Newest(ctx)
	switch {
	case err != nil:
		return false, nil, fmt.Errorf("commit generation %d: %w: %w", g.Number, ErrUncertain, err)
	case newest.Index != g.Index:
		return false, nil, fmt.Errorf("commit generation %d: %w", g.Number, ErrOther)
	case newest.contains(g.Commit):
		g.since = longAgo
		return true, newest, nil
	case newest.Number > g.Number+mostRecent:
		return false, nil, fmt.Errorf("commit generation %d: %w", g.Number, ErrUncertain)
	}
	return false, newest, nil
}
