package bucket

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/lockfile"
)

// describe describes a segment in a folder, and puts its files into the store if told to.
func (x *Index) describe(ctx context.Context, from *segments.Segment, put bool) (s generations.Segment, err error) {
	s = generations.Segment{Name: from.Name, Docs: from.Docs(), Postings: from.Postings(), Tokens: from.Tokens()}
	for d := range from.Docs() {
		id, err := from.DocID(d)
		if err != nil {
			return s, err
		}
		if d == 0 || id < s.FirstID {
			s.FirstID = id
		}
		s.LastID = max(s.LastID, id)
	}
	if s.Files, err = filesOf(from.Dir()); err != nil {
		return s, err
	}
	for _, f := range s.Files {
		s.Bytes += f.Size
	}
	if !put {
		return s, nil
	}
	if err := x.x.Begin(ctx, s.Name); err != nil {
		return s, err
	}
	return s, each(ctx, s.Files, func(ctx context.Context, f generations.File) error {
		in, err := os.Open(filepath.Join(from.Dir(), filepath.FromSlash(f.Name)))
		if err != nil {
			return err
		}
		defer in.Close()
		if err := x.x.Store().Put(ctx, generations.FileName(s.Name, f.Name), in, f.Size); err != nil {
			return fmt.Errorf("put segment %s: %w", s.Name, err)
		}
		return nil
	})
}

// filesOf returns the files of a segment with their checksums.
func filesOf(dir string) (list []generations.File, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == lockfile.Name {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		sum := crc32.New(castagnoli)
		n, err := io.Copy(sum, in)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		list = append(list, generations.File{Name: filepath.ToSlash(name), Size: n, Checksum: sum.Sum32()})
		return nil
	})
	return list, err
}
