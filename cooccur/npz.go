package cooccur

import (
	"bufio"
	"io"
	"time"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/sections"
)

// npzEncoder writes what scipy.sparse.save_npz does: the arrays indices (int32),
// indptr (int64), format ("csr"), shape and data (float64). Rows give indices and
// data at once, an archive wants one after the other, and each array begins with
// its length: so both wait in temporary files beside the target until the end.
type npzEncoder struct {
	file          *atomicfile.File
	words         int
	indptr        []int64
	indices, data *spool
}

func newNPZEncoder(f *atomicfile.File, v *Vocabulary) (*npzEncoder, error) {
	e := &npzEncoder{file: f, words: v.Len(), indptr: make([]int64, 1, v.Len()+1)}
	var err error
	dir := ScratchDir(f.OS().Name())
	if e.indices, err = newSpool(dir); err != nil {
		return nil, err
	}
	if e.data, err = newSpool(dir); err != nil {
		e.indices.f.Close()
		return nil, err
	}
	return e, nil
}

func (e *npzEncoder) Rows(r *Rows) error {
	base := e.indptr[len(e.indptr)-1]
	for _, end := range r.Ends {
		e.indptr = append(e.indptr, base+int64(end))
	}
	if err := sections.Put(e.indices.w, r.Cols); err != nil {
		return err
	}
	return sections.Put(e.data.w, r.Values)
}

func (e *npzEncoder) close() error {
	entries := e.indptr[len(e.indptr)-1]
	z := npz.NewWriter(e.file)
	z.Date = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // as SciPy's
	z.Stream("indices", npz.Int32, entries, e.indices.copyTo)
	z.Int64s("indptr", e.indptr...)
	z.Text("format", "csr")
	z.Int64s("shape", int64(e.words), int64(e.words))
	z.Stream("data", npz.Float64, entries, e.data.copyTo)
	e.abort()
	return z.Close()
}

// abort closes the temporary files, which have no names any more.
func (e *npzEncoder) abort() {
	e.indices.f.Close()
	e.data.f.Close()
}

// spool is a temporary file without a name: written first, then read.
type spool struct {
	f *disk.File
	w *bufio.Writer
}

func newSpool(dir string) (*spool, error) {
	f, err := disk.Temp(dir)
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (s *spool) copyTo(to io.Writer) error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(to, s.f)
	return err
}
