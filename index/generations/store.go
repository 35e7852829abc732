package generations

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"
)

// Object is an object of a store.
type Object struct {
	Name     string    // in the place of the index
	Size     int64     // in bytes
	Modified time.Time // by the clock of the store
}

// Store keeps objects by name. Names are relative to the place of one index. Several goroutines may
// use a Store at once. Methods may try again by themselves.
type Store interface {
	// Read returns the bytes of an object, which must not be more than most. The error wraps
	// fs.ErrNotExist if there is no such object, and ErrNoBucket if there is no place for objects.
	Read(ctx context.Context, name string, most int64) ([]byte, error)
	// Open reads size bytes of an object from a byte on, or all that follow if size is 0.
	Open(ctx context.Context, name string, from, size int64) (io.ReadCloser, error)
	// Create makes an object unless there is one of that name: the error then wraps fs.ErrExist.
	// After any other error the object may have been made, or may still be.
	Create(ctx context.Context, name string, data []byte) error
	// Put makes or replaces an object of size bytes, whole or not at all. It closes nothing.
	Put(ctx context.Context, name string, data io.ReadSeeker, size int64) error
	// List returns the first objects, at most limit if that is above 0, whose names begin with
	// prefix, which ends with a slash or is empty, in ascending order of their names. It may miss
	// those made a short time ago, and have those removed a short time ago.
	List(ctx context.Context, prefix string, limit int) ([]Object, error)
	// Now is the time of the store's clock, by which objects have their times.
	Now(ctx context.Context) (time.Time, error)
	// Delete removes an object. That there is none is no error.
	Delete(ctx context.Context, name string) error
}

// Errors of stores and indexes in them, which are wrapped.
var (
	ErrNoBucket     = errors.New("there is no such bucket or folder")
	ErrCredentials  = errors.New("the store refuses the credentials, or they have expired")
	ErrClock        = errors.New("the clock of this machine differs too much from the store's")
	ErrNoConditions = errors.New("the store makes an object although there is one of that name, " +
		"so that commits would overwrite each other: If-None-Match is needed")
	ErrNewer     = errors.New("it was written by a newer version of Collocate")
	ErrOther     = errors.New("another index was made at this place meanwhile")
	ErrForeign   = errors.New("there are other objects at this place: name an empty one")
	ErrExists    = errors.New("there is an index already")
	ErrUncertain = errors.New("it is unknown whether the change was committed: " +
		"the store did not answer in time; look, or make the change again")
	ErrCollected = errors.New("a segment was removed as garbage before it was committed, " +
		"because the commit took longer than the grace period")
	ErrLeased = errors.New("another process holds the lease")
)

// NotFound is the error of a place without an index.
var NotFound = fs.ErrNotExist

// Clock measures time within a process.
type Clock interface {
	// Since is the time since a moment that stays the same.
	Since() time.Duration
	// Sleep waits, unless ctx ends before.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{ start time.Time }

func (c systemClock) Since() time.Duration { return time.Since(c.start) }

func (c systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
