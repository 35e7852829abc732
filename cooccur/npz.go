package cooccur

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/sections"
)

// npzEncoder writes what scipy.sparse.save_npz does: a zip archive of .npy arrays,
// not compressed: indices (int32), indptr (int64), format ("csr"), shape and data
// (float64). Rows give indices and data at once, a zip wants one after the other,
// and each array begins with its length: so both wait in temporary files beside
// the target until the end.
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
	if _, err := e.indices.Write(sections.Bytes(r.Cols)); err != nil {
		return err
	}
	_, err := e.data.Write(sections.Bytes(r.Values))
	return err
}

func (e *npzEncoder) close() error {
	entries := e.indptr[len(e.indptr)-1]
	z := zip.NewWriter(e.file)
	shape := []int64{int64(e.words), int64(e.words)}
	for _, a := range []struct {
		name, dtype, shape string
		content            io.Reader
	}{
		{"indices", "<i4", fmt.Sprintf("(%d,)", entries), e.indices},
		{"indptr", "<i8", fmt.Sprintf("(%d,)", len(e.indptr)), strings.NewReader(string(sections.Bytes(e.indptr)))},
		{"format", "|S3", "()", strings.NewReader("csr")},
		{"shape", "<i8", "(2,)", strings.NewReader(string(sections.Bytes(shape)))},
		{"data", "<f8", fmt.Sprintf("(%d,)", entries), e.data},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: a.name + ".npy", Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		if _, err := w.Write(npyHeader(a.dtype, a.shape)); err != nil {
			return err
		}
		if _, err := io.Copy(w, a.content); err != nil {
			return err
		}
	}
	e.abort()
	return z.Close()
}

// abort closes the temporary files, which have no names any more.
func (e *npzEncoder) abort() {
	e.indices.f.Close()
	e.data.f.Close()
}

// npyHeader is the start of an .npy file of version 1: magic, the length of the
// dictionary, and the dictionary, padded to a multiple of 64 bytes.
func npyHeader(dtype, shape string) []byte {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
	pad := 63 - (10+len(dict))%64
	dict += strings.Repeat(" ", pad) + "\n"
	return append([]byte{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, byte(len(dict)), byte(len(dict) >> 8)}, dict...)
}

// spool is a temporary file without a name: written first, then read.
type spool struct {
	f       *os.File
	w       *bufio.Writer
	reading bool
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, ".collocate-spool-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("make a temporary file: %w", err)
	}
	return &spool{f: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (s *spool) Write(p []byte) (int, error) { return s.w.Write(p) }

func (s *spool) Read(p []byte) (int, error) {
	if !s.reading {
		if err := s.w.Flush(); err != nil {
			return 0, err
		}
		if _, err := s.f.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
		s.reading = true
	}
	return s.f.Read(p)
}
