package bucket

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/text"
)

// Make makes an index of what build writes to a folder: an index, with segments or without. The
// error wraps generations.ErrExists if there is one already.
func (x *Index) Make(ctx context.Context, o segments.Options, build func(dir string, o segments.Options) error) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return x.about(x.make(ctx, o, build))
}

func (x *Index) make(ctx context.Context, o segments.Options, build func(dir string, o segments.Options) error) error {
	if err := x.x.Vacant(ctx); err != nil {
		return err
	}
	root, lock, err := x.cache.scratch()
	if err != nil {
		return err
	}
	defer func() { os.RemoveAll(root); lockfile.Release(lock) }()
	dir := filepath.Join(root, x.Name())
	o.Names = x.x.NewName
	if err := build(dir, o); err != nil {
		return x.shown(dir, err)
	}
	if err := segments.Rename(dir, x.x.NewName); err != nil {
		return err
	}
	first, err := x.generation(ctx, dir, &generations.Generation{}, true)
	if err != nil {
		return err
	}
	_, err = x.x.Make(ctx, *first)
	return err
}

// again makes the change from one generation of a folder to another in that of a Writer.
func again(w *segments.Writer, old, now *segments.Reader, ids []string) error {
	if s, err := w.Schema(); err != nil || !s.Equal(now.Schema().Documents()) {
		return errors.Join(err, errFields)
	}
	gone, err := deleted(old, now)
	if err != nil {
		return err
	}
	for _, id := range slices.Concat(ids, gone) {
		if _, err := w.Delete(id); err != nil {
			return err
		}
	}
	if root := now.Root(); root != nil && (old.Root() == nil || *root != *old.Root()) {
		if err := w.SetRoot(*root); err != nil {
			return err
		}
	}
	for _, s := range now.Segments() {
		if find(old, s.Name) == nil {
			if _, err := w.AddSegment(segments.Moved{Dir: s.Dir(), Live: s.Live}); err != nil {
				return err
			}
		}
	}
	return nil
}

var errFields = errors.New("another process gave the index other fields meanwhile: make the change again")

func find(r *segments.Reader, name string) *segments.Segment {
	list := r.Segments()
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// deleted returns the IDs of the documents that old has and that its segments in now do not. Of
// passages it returns the IDs of their documents.
func deleted(old, now *segments.Reader) (ids []string, err error) {
	whole := old.Schema() != nil && old.Schema().Passages != nil
	for _, s := range old.Segments() {
		after := find(now, s.Name)
		if after != nil && after.Live == nil {
			continue
		}
		for d := range s.Docs() {
			if s.Live != nil && !s.Live.Has(uint32(d)) || after != nil && after.Live.Has(uint32(d)) {
				continue
			}
			id, err := s.DocID(d)
			if err != nil {
				return nil, err
			}
			if whole {
				parent, _, ok := text.SplitPassageID(id)
				if !ok {
					return nil, fmt.Errorf("%q is not the ID of a passage", id)
				}
				if id = parent; len(ids) > 0 && ids[len(ids)-1] == id {
					continue
				}
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// commit makes the index in the folder of a view the next generation. If the folder's generation is
// not the newest any more, replay makes the change in that of a Writer; it returns false if nothing
// is left to change. With a nil view it is always called. put lists segments that are in the store
// already; nil means none.
func (x *Index) commit(ctx context.Context, v *View, put *generations.Generation, o segments.Options,
	replay func(*segments.Writer) (bool, error)) (*generations.Generation, error) {
	var base *generations.Generation
	if v != nil {
		base = v.g
		there := base
		if put != nil {
			there = &generations.Generation{Segments: slices.Concat(base.Segments, put.Segments)}
		}
		if _, err := x.generation(ctx, v.Dir, there, true); err != nil { // before others commit
			return nil, err
		}
	}
	return x.x.Commit(ctx, base, func(ctx context.Context, newest *generations.Generation) (*generations.Generation, error) {
		if v != nil && newest == v.g {
			return x.generation(ctx, v.Dir, newest, false)
		}
		other, err := x.viewOf(ctx, newest)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		w, err := segments.NewWriter(other.Dir, o)
		if err != nil {
			return nil, err
		}
		changed, err := replay(w)
		if err == nil && changed {
			err = w.Commit()
		}
		if err := errors.Join(err, w.Close()); err != nil || !changed {
			return nil, err
		}
		return x.generation(ctx, other.Dir, newest, false)
	})
}

// generation describes the index in a folder as the generation after base. It puts new segments
// into the store if told to.
func (x *Index) generation(ctx context.Context, dir string, base *generations.Generation, put bool) (*generations.Generation, error) {
	r, err := segments.Open(dir)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	g := &generations.Generation{Segments: []generations.Segment{}}
	list := r.Segments()
	for i := range list {
		from := &list[i]
		at := slices.IndexFunc(base.Segments, func(s generations.Segment) bool { return s.Name == from.Name })
		var s generations.Segment
		if at >= 0 {
			s = base.Segments[at]
		} else if s, err = x.describe(ctx, from, put); err != nil {
			return nil, err
		}
		if s.Deleted = 0; from.Live != nil {
			s.Deleted = from.Docs() - from.Live.Count()
		}
		g.Segments = append(g.Segments, s)
	}
	g.Manifest, err = os.ReadFile(filepath.Join(dir, index.SegmentsFile))
	return g, err
}
