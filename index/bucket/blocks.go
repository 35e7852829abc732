package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/partial"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/system"
)

// A large file of a segment is in the cache as a file of its full size, of which only the end has
// been fetched. Readers map it. They verify the checksum of each page before they first use it, and
// where it is wrong the block of the page is fetched: see sections.Rest. What was never fetched
// takes no space on file systems with sparse files.

// inBlocks reports whether a file is fetched in blocks.
func (c *cache) inBlocks(f *generations.File) bool { return system.FillsMaps && f.Size > c.whole }

// atFirst is how many bytes of a segment are fetched at once.
func (c *cache) atFirst(s *generations.Segment) (bytes int64) {
	for i := range s.Files {
		if f := &s.Files[i]; c.inBlocks(f) {
			bytes += sections.EndBytes(f.Size)
		} else {
			bytes += f.Size
		}
	}
	return bytes
}

// fetchEnd makes a file of the full size that has only its end.
func fetchEnd(ctx context.Context, store generations.Store, segment string, f generations.File,
	out *os.File) error {
	if err := out.Truncate(f.Size); err != nil {
		return err
	}
	at := f.Size - sections.EndBytes(f.Size)
	b, err := readRange(ctx, store, segment, f.Name, at, f.Size)
	if err != nil {
		return err
	}
	_, err = out.WriteAt(b, at)
	return err
}

func readRange(ctx context.Context, store generations.Store, segment, file string,
	from, to int64) ([]byte, error) {
	in, err := store.Open(ctx, generations.FileName(segment, file), from, to-from)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := make([]byte, to-from)
	if _, err := io.ReadFull(in, b); err != nil {
		return nil, fmt.Errorf("%s: bytes %d to %d: %w", file, from, to-1, err)
	}
	return b, nil
}

// follow makes readers that open a segment in a folder fetch the blocks that they need, until end
// is called. Those that have it open go on.
func (x *Index) follow(s *generations.Segment, folder string) (end func()) {
	files := map[string]*generations.File{}
	for i := range s.Files {
		if f := &s.Files[i]; x.cache.inBlocks(f) {
			files[f.Name] = f
		}
	}
	if len(files) == 0 {
		return func() {}
	}
	return partial.Set(folder, func(name string) *sections.Rest {
		f := files[name]
		if f == nil {
			return nil
		}
		return x.rest(s.Name, f, filepath.Join(folder, filepath.FromSlash(name)))
	})
}

// rest returns what brings the rest of a file. The file stays open until nothing uses that.
func (x *Index) rest(segment string, f *generations.File, path string) *sections.Rest {
	r := &sections.Rest{Block: x.cache.block}
	file, openErr := os.OpenFile(path, os.O_WRONLY, 0)
	if openErr == nil {
		if info, err := file.Stat(); err == nil {
			r.Whole = system.Allocated(info) >= f.Size
		}
	}
	r.Fetch = func(from, to int64) ([]byte, error) {
		ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
		defer cancel()
		b, err := readRange(ctx, x.x.Store(), segment, f.Name, from, to)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("segment %s was removed from the store: its generation was superseded "+
				"longer ago than the grace period", segment)
		}
		if err != nil {
			return nil, x.elsewhere(err)
		}
		return b, nil
	}
	r.Keep = func(b []byte, at int64) error {
		if openErr != nil {
			return openErr
		}
		x.cache.grow(int64(len(b)))
		_, err := file.WriteAt(b, at)
		return err
	}
	return r
}

// grow notes that blocks are fetched, and makes room from time to time.
func (c *cache) grow(bytes int64) {
	if c.grown.Add(bytes) > c.most/16 {
		c.grown.Store(0)
		c.makeRoom(0)
	}
}

// Fill fetches what is still missing of what the view shows, first what every query needs, unless
// it is more than the cache keeps.
func (v *View) Fill(ctx context.Context) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	g := v.Generation()
	var bytes int64
	for i := range g.Segments {
		bytes += g.Segments[i].Bytes
	}
	if bytes > v.of.cache.most {
		return nil
	}
	r, err := segments.Open(v.Dir)
	if err != nil {
		return err
	}
	defer r.Close()
	for _, s := range r.Segments() {
		if v.whole(g, s.Name) {
			continue
		}
		if err := s.Verify(ctx); err != nil {
			return err
		}
	}
	return nil
}

// whole reports whether nothing is missing of a segment.
func (v *View) whole(g *generations.Generation, name string) bool {
	for i := range g.Segments {
		if g.Segments[i].Name != name {
			continue
		}
		for _, f := range g.Segments[i].Files {
			info, err := os.Stat(filepath.Join(v.Dir, name, filepath.FromSlash(f.Name)))
			if err != nil || system.Allocated(info) < f.Size {
				return false
			}
		}
	}
	return true
}
