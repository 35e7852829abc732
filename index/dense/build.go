package dense

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/float16"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

const (
	headSize = 8  // uint64
	rowAlign = 64 // bytes
)

// size returns the number of bytes of a number.
func size(p fields.Precision) int {
	return [...]int{fields.Float32: 4, fields.Float16: 2, fields.Int8: 1}[p]
}

// stride returns the bytes of a row of n numbers.
func stride(n, bytes int) int { return (n*bytes + rowAlign - 1) &^ (rowAlign - 1) }

// Builder makes the vectors of an index. Documents are added in batches, in any order and from
// several goroutines. Their vectors wait in a temporary file.
type Builder struct {
	schema *fields.Schema
	fields []int // numbers of the schema's vector fields
	dir    string
	bound  int64 // of resident pages of the file

	mu      sync.Mutex
	file    *scratch.File
	batches []*Batch
}

// NewBuilder returns a Builder for the vector fields of a schema. Its temporary file is in the
// folder dir, and at most about memory bytes of it are resident.
func NewBuilder(s *fields.Schema, dir string, memory int64) *Builder {
	return &Builder{schema: s, fields: s.Of(fields.Vector), dir: dir, bound: memory}
}

// Batch holds the vectors of consecutive documents.
type Batch struct {
	b      *Builder
	seq    int
	docs   int
	cols   []chunk
	pieces []piece
	buffer []float32
}

// chunk is a batch's part of a field.
type chunk struct {
	counts []uint32 // of vectors, by document
	rows   []byte   // of the vectors, not yet in the file
}

// piece is a part of the rows of a batch in the file, field by field.
type piece struct {
	at    int64
	sizes []int64
}

// flushBytes is how much of a batch is kept in memory.
const flushBytes = 1 << 20

// Batch starts the batch with the given number. Batches are numbered from 0 in the order of their
// documents.
func (b *Builder) Batch(seq int) *Batch {
	return &Batch{b: b, seq: seq, cols: make([]chunk, len(b.fields))}
}

// Add appends a document with the values of all fields of the schema.
func (t *Batch) Add(values []fields.Values) error {
	for i, at := range t.b.fields {
		f := &t.b.schema.Fields[at]
		var v fields.Values
		if at < len(values) {
			v = values[at]
		}
		var err error
		if t.buffer, err = Check(t.buffer[:0], f, v); err != nil {
			return err
		}
		c := &t.cols[i]
		c.counts = append(c.counts, uint32(len(t.buffer)/f.Dim))
		for row := range slices.Chunk(t.buffer, f.Dim) {
			c.rows = appendRow(c.rows, row, f.Precision)
		}
	}
	t.docs++
	return t.flush(flushBytes)
}

// Check appends a document's vectors of a field to dst; see fields.Field.ParseVectors.
func Check(dst []float32, f *fields.Field, v fields.Values) ([]float32, error) {
	dst, err := f.ParseVectors(dst, v)
	if err != nil {
		return dst, fmt.Errorf("field %q: %w", f.Name, err)
	}
	return dst, nil
}

// appendRow appends the bytes of a row.
func appendRow(dst []byte, v []float32, p fields.Precision) []byte {
	from := len(dst)
	for _, x := range v {
		switch p {
		case fields.Float16:
			dst = binary.LittleEndian.AppendUint16(dst, float16.From32(x))
		case fields.Int8:
			dst = append(dst, byte(int8(x)))
		default:
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return append(dst, make([]byte, from+stride(len(v), size(p))-len(dst))...)
}

// readRow appends the first n numbers of a row to dst.
func readRow(dst []float32, row []byte, n int, p fields.Precision) []float32 {
	for i := range n {
		switch p {
		case fields.Float16:
			dst = append(dst, float16.To32(binary.LittleEndian.Uint16(row[2*i:])))
		case fields.Int8:
			dst = append(dst, float32(int8(row[i])))
		default:
			dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:])))
		}
	}
	return dst
}

// flush writes the rows to the file if they have more than the given number of bytes.
func (t *Batch) flush(most int) error {
	n := 0
	for i := range t.cols {
		n += len(t.cols[i].rows)
	}
	if n <= most {
		return nil
	}
	b := t.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		f, err := scratch.Create(b.dir)
		if err != nil {
			return err
		}
		b.file = f
	}
	p := piece{at: b.file.Size()}
	for i := range t.cols {
		c := &t.cols[i]
		if _, err := b.file.Write(c.rows); err != nil {
			return err
		}
		p.sizes = append(p.sizes, int64(len(c.rows)))
		c.rows = c.rows[:0]
	}
	t.pieces = append(t.pieces, p)
	return nil
}

// From appends documents of another index with the same fields, in the given order.
func (t *Batch) From(s *Set, docs iter.Seq[uint32]) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if len(s.columns) != len(t.cols) {
		return fmt.Errorf("vectors: %d fields, want %d", len(s.columns), len(t.cols))
	}
	for d := range docs {
		for i, c := range s.columns {
			from, to := c.Rows(int(d), int(d)+1)
			if !c.Has(int(d)) {
				to = from
			}
			t.cols[i].counts = append(t.cols[i].counts, uint32(to-from))
			for ; from < to; from++ {
				row := c.row(from)
				if err := c.file.Check(row); err != nil {
					return err
				}
				t.cols[i].rows = append(t.cols[i].rows, row...)
			}
		}
		t.docs++
		if err := t.flush(flushBytes); err != nil {
			return err
		}
	}
	return nil
}

// Put adds a finished batch to the vectors.
func (b *Builder) Put(t *Batch) error {
	if err := t.flush(0); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.batches = append(b.batches, t)
	return nil
}

// Close removes the temporary file.
func (b *Builder) Close() error {
	if b == nil || b.file == nil {
		return nil
	}
	err := b.file.Close()
	b.file = nil
	return err
}

// Write writes the vectors. The batches must have the given number of documents in all.
func (b *Builder) Write(w *sections.Writer, docs int) (err error) {
	slices.SortFunc(b.batches, func(x, y *Batch) int { return cmp.Compare(x.seq, y.seq) })
	n := 0
	for i, t := range b.batches {
		if t.seq != i {
			return fmt.Errorf("vectors: batch %d is missing", i)
		}
		n += t.docs
	}
	if n != docs {
		return fmt.Errorf("vectors: those of %d documents, want %d", n, docs)
	}
	pages := &scratch.Pages{}
	if b.file != nil {
		if pages, err = b.file.Map(b.bound); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	for i, at := range b.fields {
		if err := b.column(w, i, &b.schema.Fields[at], docs, pages); err != nil {
			return err
		}
	}
	return nil
}

// rows yields the rows of a field: those of each document, and nil if a document has none and the
// field is not Many.
func (b *Builder) rows(i, width int, pages *scratch.Pages) iter.Seq[[]byte] {
	many := b.schema.Fields[b.fields[i]].Many
	return func(yield func([]byte) bool) {
		for _, t := range b.batches {
			var rest []byte
			pieces := t.pieces
			for _, n := range t.cols[i].counts {
				if n == 0 && !many && !yield(nil) {
					return
				}
				for range n {
					for len(rest) == 0 {
						p := pieces[0]
						pieces = pieces[1:]
						at := p.at
						for _, before := range p.sizes[:i] {
							at += before
						}
						rest = pages.Data[at : at+p.sizes[i]]
						pages.Touch(len(rest)/scratch.PageBytes + 1)
					}
					if !yield(rest[:width]) {
						return
					}
					rest = rest[width:]
				}
			}
		}
	}
}

// starts returns the first row of each document of a field that is Many, and the number of rows;
// and the bitmap of the documents that have a vector, nil if all do.
func (b *Builder) starts(i, docs int) (starts []uint32, has []uint64, err error) {
	has = make([]uint64, (docs+63)/64)
	many := b.schema.Fields[b.fields[i]].Many
	n, doc, some := uint64(0), 0, 0
	for _, t := range b.batches {
		for _, count := range t.cols[i].counts {
			if many {
				starts = append(starts, uint32(n))
			}
			if n += uint64(count); count > 0 {
				has[doc/64] |= 1 << (doc % 64)
				some++
			}
			doc++
		}
	}
	if many && n > math.MaxUint32 {
		return nil, nil, fmt.Errorf("%d vectors: an index has at most %d", n, uint32(math.MaxUint32))
	}
	if some == docs {
		has = nil
	}
	return append(starts, uint32(n)), has, nil
}

// column writes the sections of one field.
func (b *Builder) column(w *sections.Writer, i int, f *fields.Field, docs int, pages *scratch.Pages) error {
	name := func(s string) string { return fmt.Sprintf("%d-%s", i, s) }
	head := make([]uint64, headSize)
	head[0], head[1], head[2], head[3] = uint64(f.Dim), uint64(f.Metric), uint64(f.Precision), uint64(docs)
	starts, has, err := b.starts(i, docs)
	if err != nil {
		return fmt.Errorf("field %q: %w", f.Name, err)
	}
	rows := docs
	if f.Many {
		rows = int(starts[docs])
		head[4] = uint64(rows)
	}
	if err := errors.Join(w.Section(name("head"), sections.Bytes(head)), w.Begin(name("rows"))); err != nil {
		return err
	}
	width := stride(f.Dim, size(f.Precision))
	zero := make([]byte, width)
	for row := range b.rows(i, width, pages) {
		if row == nil {
			row = zero
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	if err := w.Begin(name("codes")); err != nil {
		return err
	}
	scales, rests, norms := make([]float32, 0, rows), make([]float32, 0, rows), make([]float32, 0, rows)
	codes := make([]int8, stride(f.Dim, 1))
	var v []float32
	for row := range b.rows(i, width, pages) {
		var c Codes
		switch {
		case row == nil:
			clear(codes)
		case f.Precision == fields.Int8:
			c = whole(bytesAsInts(row), f.Dim)
		default:
			v = readRow(v[:0], row, f.Dim, f.Precision)
			c = Quantize(codes[:f.Dim], v)
		}
		if f.Precision != fields.Int8 {
			if _, err := w.Write(intsAsBytes(codes)); err != nil {
				return err
			}
		}
		scales, rests, norms = append(scales, c.Scale), append(rests, c.Rest), append(norms, c.Norm)
	}
	err = errors.Join(put(w, name("scales"), scales), put(w, name("rests"), rests),
		put(w, name("norms"), norms), w.Section(name("has"), sections.Bytes(has)))
	if f.Many {
		err = errors.Join(err, w.Section(name("starts"), sections.Bytes(starts)))
	}
	return err
}

func put(w *sections.Writer, name string, v []float32) error {
	if err := w.Begin(name); err != nil {
		return err
	}
	return sections.Put(io.Writer(w), v)
}
