package cooccur

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/sections"
)

// npzEncoder writes what scipy.sparse.save_npz does: the arrays indices (int32), indptr (int64),
// format ("csr"), shape and data (float64). It adds arrays that SciPy ignores: words (bytes: each
// word and a newline), counts (int64) and about (JSON: window, side, weighting, and a description
// of the corpus). Rows supply indices and data together, but the archive stores one array after the
// other, each preceded by its length. So both are kept in temporary files beside the target until
// the end.
type npzEncoder struct {
	file          *atomicfile.File
	vocab         *Vocabulary
	opt           Options
	indptr        []int64
	indices, data *spool
}

func newNPZEncoder(f *atomicfile.File, v *Vocabulary, opt Options) (*npzEncoder, error) {
	e := &npzEncoder{file: f, vocab: v, opt: opt, indptr: make([]int64, 1, v.Len()+1)}
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

func (e *npzEncoder) close(about Corpus) error {
	entries, words := e.indptr[len(e.indptr)-1], int64(e.vocab.Len())
	z := npz.NewWriter(e.file)
	z.Date = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) // as SciPy does
	z.Stream("indices", npz.Int32, entries, e.indices.copyTo)
	z.Int64s("indptr", e.indptr...)
	z.Text("format", "csr")
	z.Int64s("shape", words, words)
	z.Stream("data", npz.Float64, entries, e.data.copyTo)
	z.Bytes("words", e.vocab.lines())
	counts := make([]int64, words)
	for i := range counts {
		counts[i] = int64(e.vocab.Count(i))
	}
	z.Int64s("counts", counts...)
	note, err := json.Marshal(newNote(e.opt, about))
	if err != nil {
		return err
	}
	z.Text("about", string(note))
	e.abort()
	return z.Close()
}

// abort closes the temporary files. They are unnamed, so that removes them.
func (e *npzEncoder) abort() {
	e.indices.f.Close()
	e.data.f.Close()
}

// spool is an unnamed temporary file that is first written, then read.
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
