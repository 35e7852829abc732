package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
)

// served is an index with its name. Its generation changes when the index does.
type served struct {
	name      string
	dir       string // "" if the program opened the index itself
	current   atomic.Pointer[generation]
	reloading sync.Mutex // held while current is replaced

	copy   segments.Copy // of an index in another place, or nil
	writer *writer       // nil if the server may not change the index

	looking sync.Mutex  // held while the folder is looked at
	was     os.FileInfo // of the folder that current was opened from
	said    string      // the last error of looking
}

func (v *Server) newServed(name, dir string, g *generation) *served {
	ix := &served{name: name, dir: dir}
	if v.o.Writable {
		ix.writer = newWriter(v, ix)
	}
	ix.current.Store(g)
	return ix
}

// hold returns the current generation, or nil if the index is no longer served. The caller must let
// it go.
func (ix *served) hold() *generation {
	for {
		g := ix.current.Load()
		for {
			if g == nil {
				return nil
			}
			n := g.users.Load()
			if n == 0 {
				break // it was replaced
			}
			if g.users.CompareAndSwap(n, n+1) {
				return g
			}
		}
	}
}

// letGo ends the use of a generation, which may be nil.
func (v *Server) letGo(g *generation) {
	if g == nil || g.users.Add(-1) > 0 || !g.own {
		return
	}
	if err := g.s.Close(); err != nil {
		v.log.Error("closing an index that was replaced", "error", err)
	}
}

// list returns the indexes that are served, in the order in which they were added.
func (v *Server) list() []*served { return *v.indexes.Load() }

// first returns the index of requests that name none; nil if there is none.
func (v *Server) first() *served { return v.index("") }

// index returns the index with a name, the first one for "", or nil.
func (v *Server) index(name string) *served {
	for _, ix := range v.list() {
		if name == "" || ix.name == name {
			return ix
		}
	}
	return nil
}

// indexName returns the name of the index of a request, "" if it is about none.
func (x *exchange) indexName() string {
	if x.ix == nil || x.ix.current.Load() == nil { // none, or it was deleted
		return ""
	}
	return x.ix.name
}

// Open serves the index in a folder under a name, which paths and the page show. The index that was
// added first answers requests that name none. The server closes it in Close.
func (v *Server) Open(ctx context.Context, name, dir string) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return v.openIndex(ctx, name, dir, nil)
}

// OpenCopy is Open for an index in another place, such as a bucket. Changes are made there. It is
// the caller who refreshes the copy and calls Look, except after a commit of this server, and who
// closes the copy after the server.
func (v *Server) OpenCopy(ctx context.Context, name string, c segments.Copy) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return v.openIndex(ctx, name, c.Folder(), c)
}

func (v *Server) openIndex(ctx context.Context, name, dir string, c segments.Copy) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
		return fmt.Errorf("the name %q of an index: want some characters, and no slash", name)
	}
	// The folder is identified before the index is opened, so that Look misses no replacement.
	was, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	s, err := v.open(ctx, name, func() (*search.Searcher, error) { return search.Open(dir) })
	if err != nil {
		return err
	}
	ix := v.newServed(name, dir, newGeneration(1, s, true))
	ix.copy = c
	ix.was = was
	if err := v.add(ix); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// open opens an index and prepares it with Options.Opened. It returns nil if open does.
func (v *Server) open(ctx context.Context, name string,
	open func() (*search.Searcher, error)) (*search.Searcher, error) {
	s, err := open()
	if s == nil || err != nil || v.o.Opened == nil {
		return s, err
	}
	if err := v.o.Opened(ctx, name, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// add adds an index to those that are served.
func (v *Server) add(ix *served) error {
	v.changing.Lock()
	defer v.changing.Unlock()
	for _, other := range v.list() {
		if other.name == ix.name {
			return fmt.Errorf("two indexes have the name %q: %s and %s", ix.name, other.dir, ix.dir)
		}
	}
	list := append(slices.Clone(v.list()), ix)
	v.indexes.Store(&list)
	return nil
}

// Look opens the indexes of Open again whose folders were replaced or have newer generations. With
// all it opens every one, and serves those that are new in Options.Dir. Requests go on meanwhile.
// An index that cannot be opened is still served as it was, and tried again with the next call,
// since it may be being copied; the log says so. Look returns the names of the indexes that it has
// opened. The error is that of the context.
func (v *Server) Look(ctx context.Context, all bool) (opened []string, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	for _, ix := range v.list() {
		if ix.dir == "" {
			continue
		}
		ix.looking.Lock()
		changed, err := v.look(ctx, ix, all)
		if changed {
			opened = append(opened, ix.name)
		}
		switch {
		case err == nil:
			ix.said = ""
		case all || err.Error() != ix.said: // log it once
			v.log.Error("the new index cannot be opened; the old one is still served", "index", ix.name,
				"error", err)
			ix.said = err.Error()
		}
		ix.looking.Unlock()
	}
	if all && v.o.Dir != "" {
		more, err := v.openAll(ctx)
		if opened = append(opened, more...); err != nil {
			v.log.Error("an index in the folder of indexes cannot be opened", "error", err)
		}
	}
	return opened, ctx.Err()
}

// look is Look for one index, whose lock the caller holds.
func (v *Server) look(ctx context.Context, ix *served, all bool) (changed bool, err error) {
	is, err := os.Stat(ix.dir)
	if err != nil {
		if all {
			return false, err
		}
		return false, nil // it may just be being replaced
	}
	g := ix.hold()
	if g == nil {
		return false, nil
	}
	defer v.letGo(g)
	if ix.writer.active() && !os.SameFile(ix.was, is) {
		return false, fmt.Errorf("another folder is in the place of %s, but the server changes the old one: "+
			"start it again", ix.dir)
	}
	open := g.s.Refresh
	if all || !os.SameFile(ix.was, is) {
		open = func() (*search.Searcher, error) { return search.Open(ix.dir) }
	}
	s, err := v.open(ctx, ix.name, open)
	if s == nil || err != nil {
		return false, err
	}
	v.reload(ix, s)
	ix.was = is
	return true, nil
}

// Reload replaces the index that is served first by s. Running requests end with the old index,
// which is then closed if it came from an earlier Reload. The server closes s when it is replaced
// in turn, or in Close.
func (v *Server) Reload(s *search.Searcher) {
	if ix := v.first(); ix != nil {
		v.reload(ix, s)
		return
	}
	v.add(v.newServed(v.o.Name, "", newGeneration(1, s, true))) // cannot fail: it is the first
}

func (v *Server) reload(ix *served, s *search.Searcher) {
	ix.reloading.Lock()
	defer ix.reloading.Unlock()
	old := ix.current.Load()
	if old == nil { // it was deleted meanwhile
		s.Close()
		return
	}
	ix.current.Store(newGeneration(old.number+1, s, true))
	v.log.Info("another index is served", "index", ix.name, "generation", old.number+1, "docs",
		s.Index().Docs())
	v.letGo(old)
}

// Close cancels jobs, commits changes and closes the indexes of Open and Reload, if any. No request
// may be running.
func (v *Server) Close() error {
	v.jobs.close()
	v.changing.Lock()
	defer v.changing.Unlock()
	var errs []error
	for _, ix := range v.list() {
		errs = append(errs, ix.writer.close())
		ix.reloading.Lock()
		if g := ix.current.Load(); g != nil && g.own && g.users.Add(-1) == 0 {
			if err := g.s.Close(); err != nil {
				errs = append(errs, fmt.Errorf("close the index %s: %w", ix.name, err))
			}
		}
		ix.reloading.Unlock()
	}
	return errors.Join(errs...)
}
