package bucket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/lockfile"
)

// View is a generation as a folder, a segments.Copy. Several goroutines may use it at once.
type View struct {
	// Dir is the folder of the index. It is named after the address.
	Dir string

	of   *Index
	root string // contains Dir
	lock *os.File

	mu   sync.Mutex
	g    *generations.Generation
	ends map[string]func() // for each segment in the folder: see follow
}

// Fetch returns the newest generation of the index at an address, with the default Options. If
// there is no index, it is made of what build writes to a folder, unless build is nil.
func Fetch(ctx context.Context, address string,
	build func(dir string, o segments.Options) error) (segments.Copy, error) {
	return FetchWith(ctx, address, Options{}, build)
}

// FetchWith is Fetch with Options.
func FetchWith(ctx context.Context, address string, o Options,
	build func(dir string, o segments.Options) error) (segments.Copy, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	x, err := Open(address, o)
	if err != nil {
		return nil, err
	}
	if build != nil {
		is, err := x.Exists(ctx)
		if err == nil && !is {
			err = x.Make(ctx, segments.Options{}, build)
		}
		if err != nil && !errors.Is(err, generations.ErrExists) { // or another process makes it
			return nil, err
		}
	}
	v, err := x.View(ctx, 0)
	if err != nil {
		return nil, err
	}
	return v, nil
}

// View fetches a generation, the newest one for 0.
func (x *Index) View(ctx context.Context, number uint64) (*View, error) {
	for try := 0; ; try++ {
		var g *generations.Generation
		var err error
		if number == 0 {
			g, err = x.x.Newest(ctx)
		} else {
			g, err = x.x.At(ctx, number)
		}
		if err != nil {
			return nil, x.about(err)
		}
		v, err := x.viewOf(ctx, g)
		// While it was fetched, a segment may have been merged into others and removed.
		if !errors.Is(err, fs.ErrNotExist) || number > 0 || try == 10 {
			return v, x.about(err)
		}
	}
}

// viewOf makes a view of a generation.
func (x *Index) viewOf(ctx context.Context, g *generations.Generation) (*View, error) {
	root, lock, err := x.cache.scratch()
	if err != nil {
		return nil, err
	}
	v := &View{Dir: filepath.Join(root, x.Name()), of: x, root: root, lock: lock, ends: map[string]func(){}}
	if err = os.Mkdir(v.Dir, 0o777); err == nil {
		err = v.show(ctx, g)
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// show makes the folder have a generation.
func (v *View) show(ctx context.Context, g *generations.Generation) error {
	for i := range g.Segments {
		s := &g.Segments[i]
		to := filepath.Join(v.Dir, s.Name)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		if err := v.of.cache.link(ctx, v.of.x.Store(), g, s, to); err != nil {
			return err
		}
		v.ends[s.Name] = v.of.follow(s, to)
	}
	manifest, err := segments.Numbered(g.Manifest, g.Number)
	if err != nil {
		return err
	}
	err = atomicfile.WriteFile(filepath.Join(v.Dir, index.SegmentsFile), func(f *atomicfile.File) error {
		_, err := f.Write(manifest)
		return err
	})
	if err != nil {
		return err
	}
	old := v.g
	v.g = g
	if old == nil {
		return nil
	}
	for i := range old.Segments {
		if name := old.Segments[i].Name; !g.Has(name) { // readers that have it open keep it
			os.RemoveAll(filepath.Join(v.Dir, name))
			v.forget(name)
		}
	}
	return nil
}

// set notes that the folder has a generation.
func (v *View) set(g *generations.Generation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.g = g
}

// replace makes the folder have a generation.
func (v *View) replace(ctx context.Context, g *generations.Generation) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.show(ctx, g)
}

// Address returns the address of the index.
func (v *View) Address() string { return v.of.address }

// Folder returns Dir.
func (v *View) Folder() string { return v.Dir }

// NewWriter returns a Writer of the index: see Index.NewWriter.
func (v *View) NewWriter(ctx context.Context, o segments.Options) (*segments.Writer, error) {
	return v.of.NewWriter(ctx, o)
}

// Generation returns what the folder has.
func (v *View) Generation() *generations.Generation {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.g
}

// Refresh makes the folder have the newest generation, and reports whether that is a newer one.
// Those who have the index in the folder open see it by their own Refresh.
func (v *View) Refresh(ctx context.Context) (changed bool, err error) {
	if err := given.Context(ctx); err != nil {
		return false, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for try := 0; ; try++ {
		g, err := v.of.x.Refresh(ctx, v.g)
		if g == nil || err != nil {
			return false, v.of.about(err)
		}
		if err = v.show(ctx, g); !errors.Is(err, fs.ErrNotExist) || try == 10 {
			return err == nil, v.of.about(err)
		}
	}
}

func (v *View) forget(segment string) {
	if end := v.ends[segment]; end != nil {
		end()
		delete(v.ends, segment)
	}
}

// Close removes the folder. What has the index open may still read it.
func (v *View) Close() error {
	v.mu.Lock()
	for name := range v.ends {
		v.forget(name)
	}
	v.mu.Unlock()
	return errors.Join(os.RemoveAll(v.root), lockfile.Release(v.lock))
}
