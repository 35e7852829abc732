package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/lockfile"
)

// Part is a segment in the store that no generation lists: a task of many made it, and CommitParts
// makes all of them documents of the index. Parts that are not committed are garbage.
type Part struct {
	Number   int                 `json:"number"`   // parts are committed in this order
	Segment  generations.Segment `json:"segment"`  // what a generation will list
	Manifest []byte              `json:"manifest"` // of the index that has only this segment
}

// PutPart puts what build writes to a folder, an index, into the store. Any number of processes do
// so at once.
func (x *Index) PutPart(ctx context.Context, number int, build func(dir string) error) (*Part, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	p, err := x.putPart(ctx, number, build)
	return p, x.about(err)
}

func (x *Index) putPart(ctx context.Context, number int, build func(dir string) error) (*Part, error) {
	root, lock, err := x.cache.scratch()
	if err != nil {
		return nil, err
	}
	defer func() { os.RemoveAll(root); lockfile.Release(lock) }()
	dir := filepath.Join(root, x.Name())
	if err := build(dir); err != nil {
		return nil, x.shown(dir, err)
	}
	if err := segments.Rename(dir, x.x.NewName); err != nil {
		return nil, err
	}
	g, err := x.generation(ctx, dir, &generations.Generation{}, true)
	if err != nil {
		return nil, err
	}
	if len(g.Segments) != 1 {
		return nil, fmt.Errorf("part %d has %d segments: want one", number, len(g.Segments))
	}
	return &Part{number, g.Segments[0], g.Manifest}, nil
}

// CommitParts adds the documents of parts to the index by one commit, or makes an index of them if
// there is none. Documents of the index with the same IDs are replaced; two parts must not have the
// same ID. The parts are fetched for that, so this machine needs room for them.
func (x *Index) CommitParts(ctx context.Context, o segments.Options, parts []*Part) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return x.about(x.commitParts(ctx, o, parts))
}

func (x *Index) commitParts(ctx context.Context, o segments.Options, parts []*Part) error {
	if len(parts) == 0 {
		return errors.New("no parts: want at least one")
	}
	root, lock, err := x.cache.scratch()
	if err != nil {
		return err
	}
	defer func() { os.RemoveAll(root); lockfile.Release(lock) }()
	dir := filepath.Join(root, x.Name())
	if err := errors.Join(os.Mkdir(dir, 0o777), os.Mkdir(dir+".parts", 0o777)); err != nil {
		return err
	}
	together := &generations.Generation{}
	for _, p := range parts {
		if together.Has(p.Segment.Name) {
			return fmt.Errorf("part %d comes twice", p.Number)
		}
		together.Segments = append(together.Segments, p.Segment)
		to := filepath.Join(dir+".parts", p.Segment.Name)
		if err := x.cache.fetch(ctx, x.x.Store(), &p.Segment, to); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("part %d: %w: %w", p.Number, generations.ErrCollected, err)
			}
			return err
		}
	}
	if err := x.assemble(dir, o, parts); err != nil {
		return err
	}
	newest, err := x.x.Newest(ctx)
	if err != nil && !errors.Is(err, generations.NotFound) {
		return err
	}
	if newest != nil {
		for _, p := range parts {
			if newest.Has(p.Segment.Name) {
				return fmt.Errorf("part %d is in the index already", p.Number)
			}
		}
	} else {
		first, err := x.generation(ctx, dir, together, false)
		if err != nil {
			return err
		}
		if _, err = x.x.Make(ctx, *first); !errors.Is(err, generations.ErrExists) {
			return err
		}
	}
	made, err := segments.Open(dir)
	if err != nil {
		return err
	}
	defer made.Close()
	r, err := x.remote(ctx, o)
	if err != nil {
		return err
	}
	r.put, o.Remote = together, r
	return errors.Join(addAll(r.v.Dir, o, made), r.end())
}

// assemble makes an index of parts in a folder, to find what does not fit together.
func (x *Index) assemble(dir string, o segments.Options, parts []*Part) error {
	at := func(p *Part) string { return filepath.Join(dir+".parts", p.Segment.Name) }
	first := parts[0]
	if err := segments.LinkFiles(at(first), filepath.Join(dir, first.Segment.Name)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, index.SegmentsFile), first.Manifest, 0o666); err != nil {
		return err
	}
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: o.Analyzer, Analyzers: o.Analyzers, Names: x.x.NewName})
	if err != nil {
		return fmt.Errorf("part %d: %w", first.Number, err)
	}
	for _, p := range parts[1:] {
		replaced, err := w.AddSegment(segments.Moved{Dir: at(p)})
		if err == nil && replaced > 0 {
			err = fmt.Errorf("%d of its documents have IDs that other parts have, too", replaced)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("part %d: %w", p.Number, err), w.Close())
		}
	}
	return errors.Join(w.Commit(), w.Close())
}

// addAll adds the segments of an index to that in a folder.
func addAll(dir string, o segments.Options, made *segments.Reader) error {
	w, err := segments.NewWriter(dir, o)
	if err != nil {
		return err
	}
	old, err := segments.Open(dir)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	switch s, err := w.Schema(); {
	case err != nil:
		return errors.Join(err, old.Close(), w.Close())
	case !s.Equal(made.Schema().Documents()):
		err = errors.New("the index has other fields than the new documents")
		return errors.Join(err, old.Close(), w.Close())
	case old.Analyzer() != made.Analyzer():
		err = fmt.Errorf("the index has the analyzer %s, and the new documents %s", old.Analyzer(), made.Analyzer())
		return errors.Join(err, old.Close(), w.Close())
	}
	err = old.Close()
	for _, s := range made.Segments() {
		if err == nil {
			_, err = w.AddSegment(segments.Moved{Dir: s.Dir()})
		}
	}
	if err == nil {
		err = w.Commit()
	}
	return errors.Join(err, w.Close())
}
