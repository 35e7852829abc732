package api

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/csr"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/given"
)

// OpenWhole opens an index as one without segments. Several segments, or one with deleted
// documents, are first merged into a temporary index, which close removes; note is told so. It lies
// beside the output path beside, whose disk should have room, or in the system's temporary folder
// for "".
func OpenWhole(ctx context.Context, dir, beside string, memory int64, note func(line string)) (
	r *index.Reader, close func() error, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, nil, err
	}
	r, err = index.Open(dir)
	if err == nil {
		return r, r.Close, nil
	}
	if !errors.Is(err, index.ErrSegments) {
		return nil, nil, err
	}
	g, err := segments.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer g.Close()
	if s := g.Segments(); len(s) == 1 && s[0].Live == nil {
		if r, err = index.OpenSegment(s[0].Dir()); err != nil {
			return nil, nil, err
		}
		return r, r.Close, nil
	}
	if beside != "" {
		beside = filepath.Dir(filepath.Clean(beside))
		for parent := filepath.Dir(beside); parent != beside; parent = filepath.Dir(parent) {
			if _, err := os.Stat(beside); err == nil {
				break
			}
			beside = parent
		}
	}
	temp, err := os.MkdirTemp(beside, ".collocate-whole-")
	if err != nil {
		return nil, nil, err
	}
	note(fmt.Sprintf("%s: merging %s into a temporary index, without %s", dir,
		counted(len(g.Segments()), "segment"), counted(g.Deleted(), "deleted document")))
	whole := filepath.Join(temp, "index")
	if err = MergeTo(ctx, g, whole, memory); err == nil {
		r, err = index.Open(whole)
	}
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(temp))
	}
	return r, func() error { return errors.Join(r.Close(), os.RemoveAll(temp)) }, nil
}

// ExportCIFF writes an index to a file in the Common Index File Format, compressed if its name ends
// with .gz or .zst.
func ExportCIFF(ctx context.Context, r *index.Reader, file string) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return atomicfile.WriteFile(file, func(f *atomicfile.File) error {
		w, err := packed(file, f)
		if err != nil {
			return err
		}
		return errors.Join(r.Export(ctx, w), w.Close())
	})
}

// ExportNPZ writes an index to a file as a matrix for SciPy. It returns the numbers of the matrix's
// columns and cells.
func ExportNPZ(ctx context.Context, r *index.Reader, file string, o csr.Options) (
	columns int, cells int64, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, 0, err
	}
	err = atomicfile.WriteFile(file, func(f *atomicfile.File) error {
		columns, cells, err = csr.Write(ctx, f, r, o)
		return err
	})
	return columns, cells, err
}

// packed returns a writer that compresses as the ending of the file's name says.
func packed(name string, w io.Writer) (io.WriteCloser, error) {
	switch filepath.Ext(name) {
	case ".gz":
		return gzip.NewWriter(w), nil
	case ".zst":
		return zstd.NewWriter(w)
	}
	return uncompressed{w}, nil
}

type uncompressed struct{ io.Writer }

func (uncompressed) Close() error { return nil }
