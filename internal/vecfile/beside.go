package vecfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/text"
)

// Beside gives documents of a corpus the vectors of a .npy or .fvecs file beside it, which is
// mapped. It is a text.Beside.
type Beside struct {
	path  string
	field string // "" means the only one with vectors
	file  *mmap.File

	rows, dim int
	row       func(dst []float32, i int) ([]float32, error)

	ids   map[string]int // first rows by the IDs of documents; nil: rows are in the order of documents
	used  []atomic.Bool  // first rows of ids
	next  map[int]int    // the next row of the same document
	twice error          // the first ID with several rows
}

var _ text.Beside = (*Beside)(nil)

// OpenBeside opens a file of vectors for a field. ids, if it is not empty, is the path of a file
// with the ID of each row, one per line.
func OpenBeside(path, field, ids string) (*Beside, error) {
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	b := &Beside{path: path, field: field, file: file}
	err = mmap.Safely(func() error {
		switch {
		case strings.HasPrefix(string(file.Data[:min(6, len(file.Data))]), "\x93NUMPY"):
			return b.openArray()
		case strings.HasSuffix(path, ".fvecs"):
			return b.openFvecs()
		}
		return errors.New("want an array of NumPy (.npy), or a file .fvecs")
	})
	if err == nil && ids != "" {
		err = b.readIDs(ids)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return b, nil
}

// Close unmaps the file.
func (b *Beside) Close() error { return b.file.Close() }

func (b *Beside) openArray() error {
	a, err := npz.View(b.file.Data)
	if err != nil {
		return err
	}
	if len(a.Shape) != 2 {
		return fmt.Errorf("an array of shape %v: want a row for each document", a.Shape)
	}
	width := 0
	if b.rows, b.dim, width, err = shapeOf(a); err != nil {
		return err
	}
	b.row = func(dst []float32, i int) ([]float32, error) {
		return appendNumbers(dst, a.Data[i*b.dim*width:(i+1)*b.dim*width], width), nil
	}
	return nil
}

func (b *Beside) openFvecs() error {
	data := b.file.Data
	if len(data) < 4 {
		return errors.New("it has no vectors")
	}
	b.dim = int(int32(binary.LittleEndian.Uint32(data)))
	if b.dim < 1 || b.dim > fields.MaxDim {
		return fmt.Errorf("vector 1 has %d dimensions: want 1 to %d", b.dim, fields.MaxDim)
	}
	stride := 4 + 4*b.dim
	if b.rows = len(data) / stride; len(data)%stride != 0 {
		return fmt.Errorf("truncated: %d bytes are no whole number of vectors of %d dimensions", len(data), b.dim)
	}
	b.row = func(dst []float32, i int) ([]float32, error) {
		row := data[i*stride : (i+1)*stride]
		if dim := int32(binary.LittleEndian.Uint32(row)); int(dim) != b.dim {
			return dst, fmt.Errorf("vector %d has %d dimensions, and the first %d", i+1, dim, b.dim)
		}
		return appendNumbers(dst, row[4:], 4), nil
	}
	return nil
}

// readIDs reads the IDs of the rows.
func (b *Beside) readIDs(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b.ids, b.used, b.next = map[string]int{}, make([]atomic.Bool, b.rows), map[int]int{}
	last := map[int]int{} // rows by the first of the same document
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		id := strings.TrimSuffix(lines.Text(), "\r")
		if first, ok := b.ids[id]; ok {
			before, again := last[first]
			if !again {
				before = first
			}
			b.next[before], last[first] = n, n
			if b.twice == nil {
				b.twice = fmt.Errorf("%s: the ID %q is on the lines %d and %d", path, id, first+1, n+1)
			}
			continue
		}
		b.ids[id] = n
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if n != b.rows {
		return fmt.Errorf("%d rows, and %s has %d IDs", b.rows, path, n)
	}
	return nil
}

// Complete gives documents their vectors.
func (b *Beside) Complete(schema *fields.Schema, before int, docs []text.Document) error {
	err := mmap.Safely(func() error { return b.complete(schema, before, docs) })
	if err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	return nil
}

func (b *Beside) complete(schema *fields.Schema, before int, docs []text.Document) error {
	at, err := schema.VectorField(b.field)
	if err != nil {
		return err
	}
	f := &schema.Fields[at]
	if f.Dim != b.dim {
		return fmt.Errorf("its vectors have %d dimensions, and the field %q has %d", b.dim, f.Name, f.Dim)
	}
	if b.twice != nil && !f.Many {
		return fmt.Errorf("%w: declare the field %q many for several vectors of a document", b.twice, f.Name)
	}
	var row []float32
	for i := range docs {
		d, n := &docs[i], before+i
		if b.ids != nil {
			var ok bool
			if n, ok = b.ids[d.ID]; !ok && f.Optional {
				continue
			} else if !ok {
				return fmt.Errorf("it has no row for the document %q: add one, or declare the field %q optional",
					d.ID, f.Name)
			}
			b.used[n].Store(true)
		}
		switch {
		case n >= b.rows:
			return fmt.Errorf("it has %d rows, and the corpus more documents: %q is number %d", b.rows, d.ID, n+1)
		case at < len(d.Fields) && len(d.Fields[at]) > 0:
			return fmt.Errorf("the document %q has a vector of its own in the field %q: leave one of them out",
				d.ID, f.Name)
		}
		list := make([]fields.Values, max(len(d.Fields), at+1)) // passages share theirs
		copy(list, d.Fields)
		list[at] = nil
		for more := true; more; n, more = b.next[n] {
			if row, err = b.row(row[:0], n); err == nil {
				err = f.CheckVector(row)
			}
			if err != nil {
				return fmt.Errorf("row %d, of the document %q: %w", n+1, d.ID, err)
			}
			list[at] = append(list[at], fields.VectorValue(row))
		}
		d.Fields = list
	}
	return nil
}

// End reports rows that no document has.
func (b *Beside) End(docs int) error {
	if b.ids == nil {
		if docs != b.rows {
			return fmt.Errorf("%s: it has %d rows, and the corpus %d documents", b.path, b.rows, docs)
		}
		return nil
	}
	unused, first := 0, ""
	for id, n := range b.ids {
		if !b.used[n].Load() {
			if unused++; first == "" || n < b.ids[first] {
				first = id
			}
		}
	}
	if unused > 0 {
		return fmt.Errorf("%s: no document has the ID %q of row %d; %d of %d rows have no document", b.path,
			first, b.ids[first]+1, unused, b.rows)
	}
	return nil
}
