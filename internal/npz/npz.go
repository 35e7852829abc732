// Package npz writes and reads NumPy's archives of arrays. numpy.load reads them, and
// scipy.sparse.load_npz if the arrays are those of a sparse matrix.
//
// An archive is a ZIP file without compression, with a file NAME.npy for each array: the magic
// "\x93NUMPY", version 1.0, the length of the header as uint16, the header, and the numbers,
// little-endian. The header is a Python dictionary, padded with blanks and a newline so that the
// numbers begin at a multiple of 64. For the vector (7) of int32 the header has 118 characters:
//
//	93 'NUMPY' 01 00 76 00
//	{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }  ...blanks...  \n
//	07 00 00 00
//
// The file NAME.npy then has 132 bytes.
package npz

import (
	"archive/zip"
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/collocate/collocate/internal/sections"
)

// Type is NumPy's name for the type of an array's elements.
type Type string

// The types of arrays that Stream writes.
const (
	Uint8   Type = "|u1"
	Int32   Type = "<i4"
	Int64   Type = "<i8"
	Float32 Type = "<f4"
	Float64 Type = "<f8"
)

// Writer writes an archive, array by array. It keeps the first error, which Close returns.
type Writer struct {
	// Date is the time at which the arrays were made, according to the archive; NumPy itself always
	// writes 1980. The zero value writes none.
	Date time.Time

	zip *zip.Writer
	err error
}

// NewWriter starts an archive.
func NewWriter(to io.Writer) *Writer { return &Writer{zip: zip.NewWriter(to)} }

// Text writes a string as a zero-dimensional array.
func (w *Writer) Text(name, s string) {
	w.array(name, Type(fmt.Sprintf("|S%d", len(s))), "()", func(to io.Writer) error {
		_, err := io.WriteString(to, s)
		return err
	})
}

// Bytes writes a vector of bytes.
func (w *Writer) Bytes(name string, b []byte) {
	w.Stream(name, Uint8, int64(len(b)), func(to io.Writer) error { return sections.Put(to, b) })
}

// Int64s writes a vector of integers.
func (w *Writer) Int64s(name string, v ...int64) {
	w.Stream(name, Int64, int64(len(v)), func(to io.Writer) error { return sections.Put(to, v) })
}

// Stream writes a vector of n elements, which fill writes in any number of parts with sections.Put:
// so arrays need not fit in memory.
func (w *Writer) Stream(name string, t Type, n int64, fill func(to io.Writer) error) {
	w.array(name, t, fmt.Sprintf("(%d,)", n), fill)
}

func (w *Writer) array(name string, t Type, shape string, fill func(to io.Writer) error) {
	if w.err != nil {
		return
	}
	f, err := w.zip.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store, Modified: w.Date})
	if err != nil {
		w.err = err
		return
	}
	out := bufio.NewWriterSize(f, 1<<16)
	out.WriteString(header(t, shape)) // a bufio.Writer keeps its error for Flush
	if err := fill(out); err != nil {
		w.err = err
		return
	}
	w.err = out.Flush()
}

// WriteFloats writes a .npy file of rows of numbers.
func WriteFloats(to io.Writer, rows, columns int, values []float32) error {
	if _, err := io.WriteString(to, header(Float32, fmt.Sprintf("(%d, %d)", rows, columns))); err != nil {
		return err
	}
	return sections.Put(to, values)
}

// header returns the bytes before an array's numbers.
func header(t Type, shape string) string {
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", t, shape)
	const before = len("\x93NUMPY\x01\x00??") // ?? is the length
	dict += strings.Repeat(" ", 63-(before+len(dict))%64) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(dict)), byte(len(dict) >> 8)}) + dict
}

// Close ends the archive.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	return w.zip.Close()
}
