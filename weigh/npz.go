package weigh

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/collocate/collocate/internal/sections"
)

// writeNPZ writes what scipy.sparse.load_npz reads as a CSR matrix with a row
// for each word and a column for each document: a ZIP archive, nothing
// compressed, of NumPy arrays
//
//	format.npy   the bytes "csr"
//	shape.npy    int64: words, documents
//	data.npy     float32: the weights
//	indices.npy  int32: the documents
//	indptr.npy   int64: where each word's weights begin, and the end
//
// and for the names of rows and columns, which SciPy passes over,
//
//	terms.npy, term_ends.npy   uint8: all words; int64: where each ends
//	ids.npy, id_ends.npy       the same for the documents' IDs
func (w *Weights) writeNPZ(ctx context.Context, to io.Writer) (Counts, error) {
	var words []byte
	var ends []int64
	starts := []int64{0}
	counts, err := w.each(ctx, func(t Weighted, begins bool) error {
		if begins {
			words = append(words, t.Word...)
			ends = append(ends, int64(len(words)))
			starts = append(starts, starts[len(starts)-1]+int64(t.DF))
		}
		return nil
	})
	if err != nil {
		return counts, err
	}
	if starts[len(starts)-1] != counts.Pairs {
		return counts, errChanged
	}
	z := npz{zip: zip.NewWriter(to)}
	z.array("format", "|S3", "()", []byte("csr"))
	z.array("shape", "<i8", "(2,)", sections.Bytes([]int64{counts.Terms, int64(w.Docs())}))
	z.vector("indptr", "<i8", len(starts), sections.Bytes(starts))
	z.stream("indices", "<i4", counts.Pairs, func(out io.Writer) error {
		_, err := w.each(ctx, func(t Weighted, _ bool) error { return writeNumbers(out, t.Docs) })
		return err
	})
	z.stream("data", "<f4", counts.Pairs, func(out io.Writer) error {
		_, err := w.each(ctx, func(t Weighted, _ bool) error { return writeNumbers(out, t.Weights) })
		return err
	})
	z.vector("terms", "|u1", len(words), words)
	z.vector("term_ends", "<i8", len(ends), sections.Bytes(ends))
	var ids []byte
	idEnds := make([]int64, w.Docs())
	for i := range idEnds {
		ids = append(ids, w.ID(i)...)
		idEnds[i] = int64(len(ids))
	}
	z.vector("ids", "|u1", len(ids), ids)
	z.vector("id_ends", "<i8", len(idEnds), sections.Bytes(idEnds))
	if z.err != nil {
		return counts, z.err
	}
	return counts, z.zip.Close()
}

func writeNumbers[T sections.Number](out io.Writer, v []T) error {
	_, err := out.Write(sections.Bytes(v))
	return err
}

// npz writes NumPy arrays into an archive and keeps the first error.
type npz struct {
	zip *zip.Writer
	err error
}

func (z *npz) vector(name, kind string, n int, data []byte) {
	z.array(name, kind, fmt.Sprintf("(%d,)", n), data)
}

func (z *npz) array(name, kind, shape string, data []byte) {
	z.write(name, kind, shape, func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

func (z *npz) stream(name, kind string, n int64, fill func(io.Writer) error) {
	z.write(name, kind, fmt.Sprintf("(%d,)", n), fill)
}

// write adds an array: the magic "\x93NUMPY", version 1.0, the length of
// the header as uint16, the header, padded with blanks so that the data begins at
// a multiple of 64, and the data.
func (z *npz) write(name, kind, shape string, fill func(io.Writer) error) {
	if z.err != nil {
		return
	}
	f, err := z.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		z.err = err
		return
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", kind, shape)
	const before = 10 // magic, version, length
	size := (before + len(header) + 1 + 63) / 64 * 64
	header += strings.Repeat(" ", size-before-len(header)-1) + "\n"
	out := bufio.NewWriterSize(f, 1<<16)
	out.WriteString("\x93NUMPY\x01\x00")
	out.Write([]byte{byte(len(header)), byte(len(header) >> 8)})
	out.WriteString(header)
	if err := fill(out); err != nil {
		z.err = err
		return
	}
	z.err = out.Flush()
}
