package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/given"
)

// ErrClosed is wrapped by the errors of a Searcher's methods after Close, and by those of the
// writers and readers of an index.
var ErrClosed = index.ErrClosed

var errNotOpen = errors.New("search: the Searcher was not opened: make it by Open, New or NewOver")

// users counts the calls and batches in progress, so that what they read is not released before
// they end. Its idle must be made.
type users struct {
	state atomic.Int64  // calls, batches times oneBatch, and isClosed
	idle  chan struct{} // closed when Close was called and no call is in progress
	once  sync.Once
}

const (
	oneCall  = 1
	oneBatch = 1 << 31
	isClosed = 1 << 62
)

// enter begins a call or a batch, which leave must end. It returns ErrClosed after close.
func (u *users) enter(one int64) error {
	for {
		v := u.state.Load()
		if v&isClosed != 0 {
			return ErrClosed
		}
		if u.state.CompareAndSwap(v, v+one) {
			return nil
		}
	}
}

// leave ends a call or a batch. After close, the last batch calls release.
func (u *users) leave(one int64, release func() error) {
	v := u.state.Add(-one)
	if v&isClosed == 0 {
		return
	}
	if one == oneCall && v%oneBatch == 0 {
		close(u.idle)
	}
	if one == oneBatch && v&^isClosed/oneBatch == 0 {
		<-u.idle
		u.once.Do(func() { release() })
	}
}

// close waits for the calls in progress and then calls release, whose error it returns. If batches
// are in progress it does not wait for them, since it may be called in a loop over their results:
// the last of them calls release. Later calls of close do nothing.
func (u *users) close(release func() error) (err error) {
	v := u.state.Or(isClosed)
	if v&isClosed != 0 {
		return nil
	}
	if v%oneBatch == 0 {
		close(u.idle)
	}
	<-u.idle
	if u.state.Load()&^isClosed == 0 {
		u.once.Do(func() { err = release() })
	}
	return err
}

// enter begins a call that reads the index; s.leave must end it.
// A cancelled context is an error at once: a small request would end before it looks.
func (s *Searcher) enter(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("search: %w", err)
	}
	return s.begin(oneCall)
}

// begin begins a call without a context, or a batch.
func (s *Searcher) begin(one int64) error {
	if s == nil || s.index == nil {
		return errNotOpen
	}
	return s.users.enter(one)
}

// leave ends a call.
func (s *Searcher) leave() { s.users.leave(oneCall, s.release) }
