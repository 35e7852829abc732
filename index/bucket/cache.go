package bucket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/lockfile"
	"github.com/collocate/collocate/internal/system"
)

// cache keeps segments on local disk. Processes share it: a segment appears there when it is whole,
// and views have links to its files, so it may be removed at any time.
//
//	segments/INDEX-SEGMENT/   the files of a segment
//	views/RANDOM/             a view, locked by its process
type cache struct {
	dir  string
	most int64

	// Files of more bytes are not fetched whole, but in blocks.
	whole, block int64

	grown atomic.Int64 // bytes fetched in blocks since there was last made room
}

const (
	defaultBytes   = 10 << 30
	cachedSegments = "segments"
	views          = "views"
	// atOnce is how many files are fetched or put at once.
	atOnce = 8
	// wholeBytes is the size up to which a file is fetched whole: one request then takes about as
	// long as the two or three that its end and the first blocks would.
	wholeBytes = 8 << 20
	// fetchTimeout bounds how long a query waits for blocks.
	fetchTimeout = 30 * time.Second
)

func newCache(o Options) (*cache, error) {
	if o.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no folder for the cache of indexes: %w", err)
		}
		o.Cache = filepath.Join(dir, "collocate")
	}
	for _, name := range []string{cachedSegments, views} {
		if err := os.MkdirAll(filepath.Join(o.Cache, name), 0o755); err != nil {
			return nil, err
		}
	}
	return &cache{dir: o.Cache, most: cmp.Or(o.CacheBytes, defaultBytes), whole: wholeBytes}, nil
}

// path is where a segment is in the cache.
func (c *cache) path(g *generations.Generation, name string) string {
	return filepath.Join(c.dir, cachedSegments, g.Index+"-"+name)
}

// link links a segment to a folder, after fetching it if the cache does not have it: files of up to
// wholeBytes whole, and the ends of larger ones.
func (c *cache) link(ctx context.Context, store generations.Store, g *generations.Generation,
	s *generations.Segment, to string) error {
	from := c.path(g, s.Name)
	for range 10 {
		if complete(from, s) {
			now := time.Now()
			os.Chtimes(from, now, now) // it was used now
			err := segments.LinkFiles(from, to)
			if err == nil {
				return nil
			}
			os.RemoveAll(to)
			if !errors.Is(err, fs.ErrNotExist) { // else another process made room
				return err
			}
			continue
		}
		if err := c.fetch(ctx, store, s, from); err != nil {
			return fmt.Errorf("fetch segment %s: %w", s.Name, err)
		}
	}
	return fmt.Errorf("%s is removed again and again: is the cache too small?", from)
}

// complete reports whether a folder has the files of a segment.
func complete(dir string, s *generations.Segment) bool {
	for _, f := range s.Files {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil || info.Size() != f.Size {
			return false
		}
	}
	return true
}

// fetch fetches a segment, after making room for it.
func (c *cache) fetch(ctx context.Context, store generations.Store, s *generations.Segment, to string) error {
	c.makeRoom(c.atFirst(s))
	temp, err := os.MkdirTemp(filepath.Dir(to), ".fetching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	err = each(ctx, s.Files, func(ctx context.Context, f generations.File) error {
		return c.fetchFile(ctx, store, s.Name, f, filepath.Join(temp, filepath.FromSlash(f.Name)))
	})
	if err != nil {
		return err
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(temp, to); err == nil || complete(to, s) { // or another process has it
		return nil
	}
	if err := os.RemoveAll(to); err != nil { // it is damaged
		return err
	}
	return os.Rename(temp, to)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fetchFile fetches a file, or its end.
func (c *cache) fetchFile(ctx context.Context, store generations.Store, segment string, f generations.File, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if c.inBlocks(&f) {
		return errors.Join(fetchEnd(ctx, store, segment, f, out), out.Close())
	}
	in, err := store.Open(ctx, generations.FileName(segment, f.Name), 0, 0)
	if err != nil {
		return errors.Join(err, out.Close())
	}
	defer in.Close()
	sum := crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, f.Size+1))
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if n != f.Size || sum.Sum32() != f.Checksum {
		return fmt.Errorf("%s: damaged: %d bytes with checksum %08x, want %d with %08x",
			f.Name, n, sum.Sum32(), f.Size, f.Checksum)
	}
	return nil
}

// each calls do for all files, a few at once, and returns the first error.
func each(ctx context.Context, files []generations.File, do func(context.Context, generations.File) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	free := make(chan struct{}, atOnce)
	for _, f := range files {
		free <- struct{}{}
		wait.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			if err := do(ctx, f); err != nil {
				cancel(err)
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// makeRoom removes segments that were not used for the longest time until the cache has room. Those
// in use keep their place on disk until their views are closed.
func (c *cache) makeRoom(bytes int64) {
	dir := filepath.Join(c.dir, cachedSegments)
	entries, _ := os.ReadDir(dir)
	type kept struct {
		path  string
		bytes int64
		used  time.Time
	}
	var list []kept
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		k := kept{path: filepath.Join(dir, e.Name()), used: info.ModTime()}
		if strings.HasPrefix(e.Name(), ".") {
			if time.Since(k.used) > 24*time.Hour { // left by a process that was killed
				os.RemoveAll(k.path)
			}
			continue
		}
		filepath.WalkDir(k.path, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				if info, err := e.Info(); err == nil {
					k.bytes += system.Allocated(info)
				}
			}
			return nil
		})
		bytes += k.bytes
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, k := range list {
		if bytes <= c.most {
			return
		}
		os.RemoveAll(k.path)
		bytes -= k.bytes
	}
}

// scratch makes a folder for a view, or for what is written, and removes those of processes that
// ended without doing so.
func (c *cache) scratch() (dir string, lock *os.File, err error) {
	in := filepath.Join(c.dir, views)
	entries, _ := os.ReadDir(in)
	for _, e := range entries {
		path := filepath.Join(in, e.Name())
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < time.Minute {
			continue // it may not be locked yet
		}
		if lock, err := lockfile.Take(path); err == nil {
			os.RemoveAll(path)
			lockfile.Release(lock)
		}
	}
	if dir, err = os.MkdirTemp(in, ""); err != nil {
		return "", nil, err
	}
	if lock, err = lockfile.Take(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, lock, nil
}
