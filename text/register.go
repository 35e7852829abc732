package text

import "io"

// What few programs read, and what needs large libraries, registers itself when it is imported:
// package text/parquet reads tables, package text/encodings converts text that is not UTF-8.

// parquetMagic is the beginning of a Parquet table: its magic number, and the first byte of a page.
const parquetMagic = "PAR1\x15"

var (
	openParquet OpenParquet
	convert     Convert
)

// OpenParquet makes JSON lines of a table of the given size, one object per row. It calls read as
// the bytes of r are read.
type OpenParquet func(r io.ReaderAt, size int64, read func(n int64)) (io.ReadCloser, error)

// RegisterParquet is called by package text/parquet.
func RegisterParquet(open OpenParquet) { openParquet = open }

// Convert returns the canonical name of an encoding, in lower case, and a function that converts
// text in it to UTF-8.
type Convert func(name string) (canonical string, toUTF8 func(io.Reader) io.Reader, err error)

// RegisterEncodings is called by package text/encodings.
func RegisterEncodings(c Convert) { convert = c }
