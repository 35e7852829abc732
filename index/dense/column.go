package dense

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/internal/sections"
)

// Set holds the vectors of all vector fields of an index.
type Set struct{ columns []*Column }

// Column holds the vectors of one field.
type Column struct {
	field fields.Field
	docs  int
	count int // of rows: docs, unless documents have several
	file  *sections.File
	rows  []byte
	width int // of a row in bytes
	codes []int8
	has   []uint64
	// starts are the first row of each document and the number of rows, if documents have several.
	starts []uint32

	scales, rests, norms []float32
}

// Open reads the vectors of an index with the given schema and number of documents.
func Open(f *sections.File, s *fields.Schema, docs int) (*Set, error) {
	set := &Set{}
	for n, at := range s.Of(fields.Vector) {
		field := s.Fields[at]
		c, err := open(f, n, &field, docs)
		if err != nil {
			return nil, fmt.Errorf("vectors %s: %w", field.Name, err)
		}
		set.columns = append(set.columns, c)
	}
	return set, nil
}

// Column returns the vectors of a field, or nil if there is no such field.
func (s *Set) Column(name string) *Column {
	for _, c := range s.columns {
		if c.field.Name == name {
			return c
		}
	}
	return nil
}

func open(f *sections.File, n int, field *fields.Field, docs int) (*Column, error) {
	c := &Column{field: *field, docs: docs, count: docs, file: f, width: stride(field.Dim, size(field.Precision))}
	var broken error
	section := func(name string) []byte {
		b, err := f.Section(fmt.Sprintf("%d-%s", n, name))
		broken = errors.Join(broken, err)
		return b
	}
	floats := func(name string) []float32 {
		b := section(name)
		v, err := sections.View[float32](b)
		if err == nil {
			err = f.Check(b)
		}
		if err == nil && len(v) != c.count {
			err = fmt.Errorf("corrupted: %d %s of %d vectors", len(v), name, c.count)
		}
		broken = errors.Join(broken, err)
		return v
	}
	headBytes := section("head")
	if broken != nil {
		return nil, broken
	}
	if err := f.Check(headBytes); err != nil {
		return nil, err
	}
	head, err := sections.View[uint64](headBytes)
	if err != nil || len(head) != headSize {
		return nil, errors.New("corrupted: wrong length of the header")
	}
	if head[0] != uint64(field.Dim) || head[1] != uint64(field.Metric) ||
		head[2] != uint64(field.Precision) || head[3] != uint64(docs) {
		return nil, fmt.Errorf("corrupted: the header %v is not that of the schema", head)
	}
	if field.Many {
		starts := section("starts")
		if err := errors.Join(broken, f.Check(starts)); err != nil {
			return nil, err
		}
		if c.starts, err = sections.View[uint32](starts); err != nil {
			return nil, err
		}
		if c.count, err = countOf(c.starts, docs); err == nil && uint64(c.count) != head[4] {
			err = fmt.Errorf("corrupted: documents have %d vectors, and the header says %d", c.count, head[4])
		}
		if err != nil {
			return nil, err
		}
	}
	c.rows = section("rows")
	codes := section("codes")
	c.scales, c.rests, c.norms = floats("scales"), floats("rests"), floats("norms")
	has := section("has")
	if broken != nil {
		return nil, broken
	}
	if err := f.Check(has); err != nil {
		return nil, err
	}
	if c.has, err = sections.View[uint64](has); err != nil {
		return nil, err
	}
	if len(c.has) != 0 && len(c.has) != (docs+63)/64 {
		return nil, fmt.Errorf("corrupted: %d words for %d documents", len(c.has), docs)
	}
	if field.Precision == fields.Int8 {
		if len(codes) > 0 {
			return nil, errors.New("corrupted: codes of vectors of int8")
		}
		codes = c.rows
	}
	if len(c.rows) != c.count*c.width || len(codes) != c.count*stride(field.Dim, 1) {
		return nil, fmt.Errorf("corrupted: %d bytes of rows and %d of codes of %d vectors",
			len(c.rows), len(codes), c.count)
	}
	c.codes = bytesAsInts(codes)
	return c, nil
}

// countOf returns the number of rows, if starts are those of documents.
func countOf(starts []uint32, docs int) (int, error) {
	if len(starts) != docs+1 || starts[0] != 0 || !slices.IsSorted(starts) {
		return 0, fmt.Errorf("corrupted: %d first vectors of %d documents do not ascend from 0", len(starts), docs)
	}
	return int(starts[docs]), nil
}

func bytesAsInts(b []byte) []int8 {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

func intsAsBytes(v []int8) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// Field returns the field whose vectors the column holds.
func (c *Column) Field() *fields.Field { return &c.field }

// Docs returns the number of documents.
func (c *Column) Docs() int { return c.docs }

// Has reports whether a document has a vector.
func (c *Column) Has(doc int) bool { return len(c.has) == 0 || c.has[doc/64]>>(doc%64)&1 != 0 }

// All returns the bitmap of the documents that have a vector; nil means all.
func (c *Column) All() []uint64 { return c.has }

// Rows returns the numbers of the rows of some documents, from the first up to the last. The row of
// a document is its number, unless the field is Many.
func (c *Column) Rows(from, to int) (first, end int) {
	if c.starts == nil {
		return from, to
	}
	return int(c.starts[from]), int(c.starts[to])
}

// Doc returns the document of a row.
func (c *Column) Doc(row int) int {
	if c.starts == nil {
		return row
	}
	// The first of equal starts is of a document without vectors: search for the next start.
	at, _ := slices.BinarySearch(c.starts, uint32(row)+1)
	return at - 1
}

// row returns the bytes of a row.
func (c *Column) row(row int) []byte { return c.rows[row*c.width : (row+1)*c.width] }

// Vector returns the vector of a row, which is zero if the document has none, followed by zeros up
// to a multiple of 16 numbers. It uses buffer if the numbers must be converted, and is otherwise a
// part of the mapped file.
func (c *Column) Vector(at int, buffer []float32) ([]float32, error) {
	row := c.row(at)
	if err := c.file.Touch(row); err != nil {
		return nil, err
	}
	if c.field.Precision == fields.Float32 {
		return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(row))), len(row)/4), nil
	}
	return readRow(buffer[:0], row, Padded(c.field.Dim), c.field.Precision), nil
}

// Padded returns a number of dimensions rounded up to a multiple of 16, the lanes of a sum.
func Padded(dim int) int { return (dim + lanesOfSum - 1) &^ (lanesOfSum - 1) }

// Stride returns the number of codes of a vector: of its dimensions, rounded up to a multiple of
// 64.
func Stride(dim int) int { return stride(dim, 1) }

// Norm returns the length of the vector of a row.
func (c *Column) Norm(row int) float32 { return c.norms[row] }

// Parts are the arrays of a column that searches go through.
type Parts struct {
	Codes                []int8    // Stride for each row
	Stride               int       // codes of a row, with the zeros after them
	Scales, Rests, Norms []float32 // of each row; see Codes
}

// Parts returns the arrays of the rows from a number on, up to another, whose checksums it verifies
// if that has not been done before.
func (c *Column) Parts(from, to int) (Parts, error) {
	width := stride(c.field.Dim, 1)
	p := Parts{c.codes[from*width : to*width], width, c.scales[from:to], c.rests[from:to], c.norms[from:to]}
	return p, c.file.Touch(intsAsBytes(p.Codes))
}

// Check returns an error if the vectors break a rule of the format. Checksums must have been
// verified before.
func (s *Set) Check() error {
	for _, c := range s.columns {
		if err := c.check(); err != nil {
			return fmt.Errorf("vectors %s: corrupted: %w", c.field.Name, err)
		}
	}
	return nil
}

func (c *Column) check() error {
	if tail := c.docs % 64; len(c.has) > 0 && tail > 0 && c.has[len(c.has)-1]>>tail != 0 {
		return errors.New("documents beyond the last have vectors")
	}
	var v []float32
	width := stride(c.field.Dim, 1)
	codes := make([]int8, width)
	for d := range c.docs {
		if from, to := c.Rows(d, d+1); c.starts != nil && (from < to) != c.Has(d) {
			return fmt.Errorf("document %d has %d vectors, and the bitmap says otherwise", d, to-from)
		}
	}
	for d := range c.count {
		v = readRow(v[:0], c.row(d), c.field.Dim, c.field.Precision)
		var want Codes
		clear(codes)
		if !c.Has(c.Doc(d)) {
			for _, x := range v {
				if math.Float32bits(x) != 0 {
					return fmt.Errorf("row %d has no vector, but numbers", d)
				}
			}
		} else if err := c.field.CheckVector(v); err != nil {
			return fmt.Errorf("row %d: %w", d, err)
		} else if c.field.Precision == fields.Int8 {
			want = whole(bytesAsInts(c.row(d)), c.field.Dim)
			copy(codes, bytesAsInts(c.row(d)))
		} else {
			want = Quantize(codes[:c.field.Dim], v)
		}
		if got := (Codes{c.scales[d], c.rests[d], c.norms[d]}); got != want {
			return fmt.Errorf("row %d has the codes %v, want %v", d, got, want)
		}
		if string(intsAsBytes(c.codes[d*width:(d+1)*width])) != string(intsAsBytes(codes)) {
			return fmt.Errorf("row %d has other codes than its vector", d)
		}
	}
	return nil
}

// RowBytes returns the bytes of the rows from a number on, up to another, as the package comment
// has them, and those of one row. Checksums are verified as in Parts.
func (c *Column) RowBytes(from, to int) (rows []byte, width int, err error) {
	rows = c.rows[from*c.width : to*c.width]
	return rows, c.width, c.file.Touch(rows)
}

// Generate makes vectors in memory alone, for measurements: vector writes that of a document, from
// several goroutines at once.
func Generate(f *fields.Field, docs int, vector func(doc int, v []float32)) *Column {
	width, codes := stride(f.Dim, size(f.Precision)), stride(f.Dim, 1)
	c := &Column{field: *f, docs: docs, count: docs, file: &sections.File{}, width: width,
		rows: make([]byte, docs*width), scales: make([]float32, docs), rests: make([]float32, docs),
		norms: make([]float32, docs)}
	if c.codes = bytesAsInts(c.rows); f.Precision != fields.Int8 {
		c.codes = make([]int8, docs*codes)
	}
	par.For(runtime.GOMAXPROCS(0), docs, 4096, func(_, from, to int) {
		v, row := make([]float32, f.Dim), make([]byte, 0, width)
		for d := from; d < to; d++ {
			vector(d, v)
			row = appendRow(row[:0], v, f.Precision)
			copy(c.row(d), row)
			var q Codes
			if f.Precision == fields.Int8 {
				q = whole(bytesAsInts(c.row(d)), f.Dim)
			} else {
				v = readRow(v[:0], row, f.Dim, f.Precision)
				q = Quantize(c.codes[d*codes:][:f.Dim], v)
			}
			c.scales[d], c.rests[d], c.norms[d] = q.Scale, q.Rest, q.Norm
		}
	})
	return c
}
