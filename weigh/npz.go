package weigh

import (
	"context"
	"errors"
	"io"

	"github.com/collocate/collocate/internal/sections"
)

// NPZWriter writes the arrays of one file. Types are NumPy's names of them. It keeps the first
// error, which Close returns.
type NPZWriter interface {
	Text(name, s string)
	Bytes(name string, b []byte)
	Int64s(name string, v ...int64)
	Stream(name, of string, n int64, fill func(to io.Writer) error)
	Close() error
}

// newNPZ makes a writer, if package weigh/npz was imported.
var newNPZ func(to io.Writer) NPZWriter

// RegisterNPZ is called by package weigh/npz.
func RegisterNPZ(writer func(to io.Writer) NPZWriter) { newNPZ = writer }

// writeNPZ writes what scipy.sparse.load_npz reads as a CSR matrix with a row
// for each word and a column for each document, the arrays
//
//	format.npy   the bytes "csr"
//	shape.npy    int64: words, documents
//	data.npy     float32: the weights
//	indices.npy  int32: the documents
//	indptr.npy   int64: where each word's weights begin, and the end
//
// and for the names of rows and columns, which SciPy ignores,
//
//	terms.npy, term_ends.npy   uint8: all words; int64: where each ends
//	ids.npy, id_ends.npy       the same for the documents' IDs
func (w *Weights) writeNPZ(ctx context.Context, to io.Writer) (Counts, error) {
	if newNPZ == nil {
		return Counts{}, errors.New("to write NPZ, import github.com/collocate/collocate/weigh/npz")
	}
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
	z := newNPZ(to)
	z.Text("format", "csr")
	z.Int64s("shape", counts.Terms, int64(w.Docs()))
	z.Int64s("indptr", starts...)
	z.Stream("indices", "<i4", counts.Pairs, func(out io.Writer) error {
		_, err := w.each(ctx, func(t Weighted, _ bool) error { return sections.Put(out, t.Docs) })
		return err
	})
	z.Stream("data", "<f4", counts.Pairs, func(out io.Writer) error {
		_, err := w.each(ctx, func(t Weighted, _ bool) error { return sections.Put(out, t.Weights) })
		return err
	})
	z.Bytes("terms", words)
	z.Int64s("term_ends", ends...)
	z.Stream("ids", "|u1", w.docs.idBytes(), w.docs.putIDs)
	z.Stream("id_ends", "<i8", int64(w.Docs()), w.docs.putIDEnds)
	return counts, z.Close()
}
