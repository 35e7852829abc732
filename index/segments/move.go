package segments

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/text"
)

// Moved is a segment that another Writer made, from the same analyzer and schema.
type Moved struct {
	Dir  string      // its folder, whose name is the segment's
	Live *docset.Set // documents that were not deleted; nil means all
	// Of are the segments that it was merged from, in order, if it was: see Merged.
	Of []Part
}

// Part is a segment that was merged into another.
type Part struct {
	Name string      // of the segment
	Live *docset.Set // documents that were merged; nil means all
}

// AddSegment appends a segment. Its documents replace those with the same IDs. The files are
// linked, so the folder must be on the same disk; it may be removed afterwards.
func (w *Writer) AddSegment(m Moved) (replaced int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	if err := w.flush(); err != nil {
		return 0, w.fail(err)
	}
	s, err := w.linked(m)
	if err != nil {
		return 0, err
	}
	if replaced, err = w.replace(s.Reader); err != nil {
		s.Close()
		return 0, w.fail(err)
	}
	w.segs, w.changed = append(w.segs, s), true
	return replaced, nil
}

// ReplaceSegments puts a segment in the place of those that it was merged from. Documents that were
// deleted since they were merged are deleted in it. It returns false, and changes nothing, if the
// index does not have all of these segments any more, one after the other.
func (w *Writer) ReplaceSegments(m Moved) (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return false, w.err
	}
	at := slices.IndexFunc(w.segs, func(s *segment) bool { return len(m.Of) > 0 && s.name == m.Of[0].Name })
	if at < 0 || at+len(m.Of) > len(w.segs) {
		return false, nil
	}
	run := slices.Clone(w.segs[at : at+len(m.Of)])
	var sources []index.Source
	for i, s := range run {
		if s.name != m.Of[i].Name {
			return false, nil
		}
		if from := (index.Source{Reader: s.Reader, Live: m.Of[i].Live}); from.Kept() > 0 {
			sources = append(sources, from)
		}
	}
	var made []*segment
	if m.Dir != "" {
		s, err := w.linked(m)
		if err != nil {
			return false, err
		}
		s.from = origins(run, sources)
		s.carry()
		made = []*segment{s}
	}
	w.segs, w.changed = slices.Replace(w.segs, at, at+len(run), made...), true
	for _, s := range run {
		s.Close()
	}
	return true, nil
}

// linked opens a segment after linking its files to the folder of the index.
func (w *Writer) linked(m Moved) (*segment, error) {
	name := filepath.Base(m.Dir)
	if !index.IsSegment(name) {
		return nil, fmt.Errorf("segments: %s: want the folder of a segment", m.Dir)
	}
	to := filepath.Join(w.dir, name)
	if err := LinkFiles(m.Dir, to); err != nil {
		return nil, err
	}
	r, err := index.OpenSegment(to)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	s := &segment{Reader: r, name: name}
	if m.Live != nil {
		s.live, s.own = m.Live.Clone(), true
	}
	return s, nil
}

// LinkFiles makes a folder with links to the files of another, and of its subfolders.
func LinkFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o777)
		case e.Name() == lockfile.Name:
			return nil
		}
		return os.Link(path, filepath.Join(to, name))
	})
}

// Root returns the folder to which the IDs of files are relative, or nil if the index does not
// remember one.
func (w *Writer) Root() *text.Root {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.m.Root
}

// Rename gives new names to all segments of the index in a folder. An index without segments
// becomes one with a single segment.
func Rename(dir string, names func() string) error {
	w, err := NewWriter(dir, Options{})
	if err != nil {
		return err
	}
	for _, s := range w.segs {
		name := names()
		if to := filepath.Join(dir, name); s.name == here {
			err = linkIndex(dir, to) // publish removes the other links
		} else {
			err = os.Rename(filepath.Join(dir, s.name), to)
		}
		if err != nil {
			return errors.Join(err, w.Close())
		}
		s.name, w.changed = name, true
	}
	return errors.Join(w.Commit(), w.Close())
}

// linkIndex links the files of an index that are not in segments.
func linkIndex(dir, to string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o777); err != nil {
		return err
	}
	for _, e := range entries {
		from, to := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.Name() == lockfile.Name || e.Name() == "root": // the manifest has the root
		case e.IsDir():
			err = LinkFiles(from, to)
		default:
			err = os.Link(from, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Due returns the run of segments that Merge with these options would merge next, as the numbers of
// the first and of the one after the last; equal numbers mean none.
func (g *Reader) Due(o Options) (from, to int, err error) {
	if g.closed {
		return 0, 0, index.ErrClosed
	}
	live, all := make([]int, len(g.segments)), make([]int, len(g.segments))
	for i := range g.segments {
		s := &g.segments[i]
		all[i], live[i] = s.Docs(), s.Docs()
		if s.Live != nil {
			live[i] = s.Live.Count()
		}
	}
	return o.choose(live, all)
}
