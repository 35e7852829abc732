package segments

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/given"
)

// Backup writes this generation to the folder dir, complete or not at all, and verifies all
// checksums of what it reads. Writers may add, delete and merge meanwhile. The folder must not
// exist, be empty, or be an index that nobody changes, such as an older backup, which is replaced.
// It must not lie in the folder of the index, nor the other way round.
//
// The result is an index like any other. To restore it, put it, or a Backup of it, in the place of
// the index.
func (g *Reader) Backup(ctx context.Context, dir string) error {
	if g.closed {
		return index.ErrClosed
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	if err := apart(g.dir, dir); err != nil {
		return err
	}
	of := map[string]*index.Reader{}
	for _, s := range g.segments {
		of[s.Name] = s.Reader
	}
	return index.Copy(ctx, dir, of, func(to string) error {
		if g.m == nil {
			return index.WriteRoot(to, g.root)
		}
		return g.m.write(to)
	})
}

// apart returns an error if one of two folders is or contains the other.
func apart(source, dest string) error {
	a, err := real(source)
	if err != nil {
		return err
	}
	b, err := real(dest)
	if err != nil {
		return err
	}
	for _, p := range [][2]string{{a, b}, {b, a}} {
		for dir := p[0]; ; dir = filepath.Dir(dir) {
			if dir == p[1] {
				return fmt.Errorf("a backup of %s cannot be written to %s: name a folder outside it", source, dest)
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// real returns an absolute path without links; the last part of it need not exist.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(path); err == nil {
		return filepath.EvalSymlinks(path)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}
