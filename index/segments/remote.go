package segments

import (
	"context"
	"errors"
)

// Remote is the place of an index whose folder is a copy: see Options.Remote. A Writer calls its
// methods one at a time, but for Merge.
type Remote interface {
	// Begin makes the folder the newest generation. It is called before a Writer reads it.
	Begin() error
	// NewName returns the name of a new segment, which no other one has.
	NewName() string
	// Publish publishes the generation that Commit has written to the folder. deleted are the IDs
	// that were given to Delete since the last one. If others have published meanwhile, it makes
	// the change in what they have, writes the result to the folder, and returns true.
	Publish(deleted []string) (moved bool, err error)
	// Merge merges segments of what was published, all of them or where the merge policy says so,
	// and returns how many. The folder stays as it is.
	Merge(ctx context.Context, o Options, all bool) (merged int, err error)
	// Close is called when the Writer is closed.
	Close() error
}

// Copy is an open index whose folder is a copy of one in another place, such as a bucket.
type Copy interface {
	// Folder returns the folder, which only Refresh changes.
	Folder() string
	// Refresh makes the folder the newest generation, and reports whether that is a newer one.
	Refresh(ctx context.Context) (changed bool, err error)
	// NewWriter returns a Writer of the index, in a folder of its own. Its requests end with ctx.
	NewWriter(ctx context.Context, o Options) (*Writer, error)
	// Close removes the folder. Readers that have it open may go on.
	Close() error
}

// RemoteError is an error of a Remote: its place cannot be reached, or refuses a change.
type RemoteError struct{ Err error }

func (e *RemoteError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RemoteError) Unwrap() error { return e.Err }

// Dir returns the folder of the index.
func (w *Writer) Dir() string { return w.dir }

// publishRemotely publishes what was written to the folder. The caller holds the lock.
func (w *Writer) publishRemotely() error {
	deleted := w.deleted
	w.deleted = nil
	moved, err := w.o.Remote.Publish(deleted)
	if err != nil || !moved {
		return err
	}
	return w.reload()
}

// Refresh makes a Writer with a Remote start from what others have published. There must be no
// changes since the last Commit. Otherwise, and without a Remote, it does nothing.
func (w *Writer) Refresh() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.o.Remote == nil || w.changed {
		return w.err
	}
	if err := w.o.Remote.Begin(); err != nil {
		return w.fail(err)
	}
	return w.fail(w.reload())
}

// reload opens the segments of the folder again. The caller holds the lock.
func (w *Writer) reload() error {
	var errs []error
	for _, s := range w.segs { // none is busy, since merges of this Writer are the Remote's
		errs = append(errs, s.Close())
	}
	w.segs = nil
	if err := errors.Join(errs...); err != nil {
		return err
	}
	g, err := Open(w.dir)
	if err != nil {
		return err
	}
	for i, o := range g.open { // the Writer takes these over
		w.segs = append(w.segs, &segment{Reader: o.Reader, name: o.name, live: g.segments[i].Live})
	}
	m, err := readManifest(w.dir)
	if err != nil {
		return err
	}
	w.m = *m
	return w.begin()
}
