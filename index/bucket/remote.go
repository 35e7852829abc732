package bucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
)

// Change calls do with a folder that has the newest generation and with options for Writers of it,
// one after the other, whose commits change the index.
func (x *Index) Change(ctx context.Context, o segments.Options, do func(dir string, o segments.Options) error) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	r, err := x.remote(ctx, o)
	if err != nil {
		return x.elsewhere(err)
	}
	o.Remote = r
	return errors.Join(x.shown(r.v.Dir, do(r.v.Dir, o)), x.about(r.end()))
}

// shown makes an error about a folder that stands for the index one about its address.
func (x *Index) shown(dir string, err error) error {
	if err == nil || !strings.Contains(err.Error(), dir) {
		return err
	}
	return &shownError{err, strings.ReplaceAll(err.Error(), dir, x.address)}
}

type shownError struct {
	error
	as string
}

func (e *shownError) Error() string { return e.as }
func (e *shownError) Unwrap() error { return e.error }

// NewWriter returns a Writer of the index. Its requests end with ctx, which should last until it is
// closed.
func (x *Index) NewWriter(ctx context.Context, o segments.Options) (*segments.Writer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	r, err := x.remote(ctx, o)
	if err != nil {
		return nil, x.elsewhere(err)
	}
	r.once, o.Remote = true, r
	w, err := segments.NewWriter(r.v.Dir, o)
	if err != nil {
		return nil, errors.Join(err, x.about(r.end()))
	}
	return w, nil
}

// elsewhere adds the address to an error of a change, and says that it is the store's.
func (x *Index) elsewhere(err error) error {
	if err == nil {
		return nil
	}
	return &segments.RemoteError{Err: x.about(err)}
}

// remote is the segments.Remote of the Writers in a view.
type remote struct {
	x    *Index
	v    *View
	ctx  context.Context
	o    segments.Options // of Writers that make a change again
	old  *segments.Reader // what the view shows; nil before the first Writer
	once bool             // the view is closed with its first Writer
	done bool             // it was closed
	bad  bool             // the folder has what could not be published

	put *generations.Generation // lists segments that are in the store; nil means none
}

func (x *Index) remote(ctx context.Context, o segments.Options) (*remote, error) {
	if err := x.x.Probe(ctx); err != nil {
		return nil, err
	}
	v, err := x.View(ctx, 0)
	if err != nil {
		return nil, err
	}
	return &remote{x: x, v: v, ctx: ctx, o: segments.Options{Analyzer: o.Analyzer, Analyzers: o.Analyzers,
		Memory: o.Memory, Names: x.x.NewName}}, nil
}

// Begin implements segments.Remote.
func (r *remote) Begin() error {
	if r.bad {
		if err := r.v.replace(r.ctx, r.v.Generation()); err != nil {
			return r.x.elsewhere(err)
		}
		r.bad = false
	}
	if r.old != nil { // the view is as old as the Writer before
		if _, err := r.v.Refresh(r.ctx); err != nil {
			return &segments.RemoteError{Err: err}
		}
	}
	return r.x.about(r.reopen())
}

// reopen opens what the view shows.
func (r *remote) reopen() error {
	now, err := segments.Open(r.v.Dir)
	if err != nil {
		return err
	}
	was := r.old
	if r.old = now; was == nil {
		return nil
	}
	return was.Close()
}

// NewName implements segments.Remote.
func (r *remote) NewName() string { return r.x.x.NewName() }

// Publish implements segments.Remote.
func (r *remote) Publish(deleted []string) (moved bool, err error) {
	moved, err = r.publish(deleted)
	r.bad = err != nil
	return moved, r.x.elsewhere(err)
}

func (r *remote) publish(deleted []string) (moved bool, err error) {
	now, err := segments.Open(r.v.Dir)
	if err != nil {
		return false, err
	}
	defer now.Close()
	g, err := r.x.commit(r.ctx, r.v, r.put, r.o, func(w *segments.Writer) (bool, error) {
		return true, again(w, r.old, now, deleted)
	})
	if err != nil {
		return false, err
	}
	wrote, err := os.ReadFile(filepath.Join(r.v.Dir, index.SegmentsFile))
	if err != nil {
		return false, err
	}
	if moved = !bytes.Equal(wrote, g.Manifest); moved {
		if err := r.v.replace(r.ctx, g); err != nil {
			return false, fmt.Errorf("the change is committed, but its generation cannot be read: %w", err)
		}
	} else {
		r.v.set(g)
	}
	return moved, r.reopen()
}

// Merge implements segments.Remote. If another process merges, there is nothing to do.
func (r *remote) Merge(ctx context.Context, o segments.Options, all bool) (merged int, err error) {
	merged, _, err = r.x.Merge(ctx, o, all)
	if errors.Is(err, generations.ErrLeased) && !all {
		return 0, nil
	}
	return merged, err
}

// Close implements segments.Remote.
func (r *remote) Close() error {
	if !r.once {
		return nil
	}
	return r.end()
}

// end removes the view.
func (r *remote) end() error {
	if r.done {
		return nil
	}
	r.done = true
	var err error
	if r.old != nil {
		err = r.old.Close()
	}
	return errors.Join(err, r.v.Close())
}
