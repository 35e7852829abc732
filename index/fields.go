package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// fieldReader reads the fields of an index's documents.
type fieldReader struct {
	schema  *fields.Schema
	columns *columns.Set
	vectors *dense.Set
	stored  *textReader
	stamps  []fileStamp
	names   []string  // names of the text fields
	texts   []*Reader // index of each text field
}

// StoresText reports whether the text of documents can be assembled from stored fields.
func StoresText(s *fields.Schema) bool {
	return !s.Has(func(f *fields.Field) bool { return f.Type == fields.Text && f.Unstored })
}

func hasColumns(s *fields.Schema) bool {
	return s.Has(func(f *fields.Field) bool { return f.Type.HasColumn() })
}

func hasVectors(s *fields.Schema) bool { return len(s.Of(fields.Vector)) > 0 }

func (r *Reader) openSchema(f *sections.File) error {
	b, err := whole(f, "schema")
	if err != nil {
		return err
	}
	s, err := fields.ParseJSON(b)
	if err != nil {
		return fmt.Errorf("corrupted: the schema: %w", err)
	}
	for i := range s.Fields {
		s.Fields[i].Analyzer = text.Recorded(s.Fields[i].Analyzer, r.meta.analyzers())
	}
	r.fields = &fieldReader{schema: s}
	if b, err = whole(f, "fields"); err != nil {
		return err
	}
	r.fields.stamps, err = parseStamps(b)
	for _, i := range s.Indexed() {
		r.fields.names = append(r.fields.names, s.Fields[i].Name)
	}
	if err == nil && len(r.fields.stamps) != len(r.fields.names) {
		err = fmt.Errorf("corrupted: %d indexes of %d fields", len(r.fields.stamps), len(r.fields.names))
	}
	return err
}

func (r *Reader) openColumns(f *sections.File) (err error) {
	r.fields.columns, err = columns.Open(f, r.fields.schema, int(r.meta.docs))
	return err
}

func (r *Reader) openVectors(f *sections.File) (err error) {
	r.fields.vectors, err = dense.Open(f, r.fields.schema, int(r.meta.docs))
	return err
}

func (r *Reader) openStored(f *sections.File) (err error) {
	r.fields.stored, err = openText(f, int(r.meta.docs))
	return err
}

// openFields opens the indexes of the text fields, and checks that no file is missing.
func (r *Reader) openFields(load func(name string) (content, error)) error {
	s := r.fields.schema
	if hasColumns(s) != (r.fields.columns != nil) || hasVectors(s) != (r.fields.vectors != nil) ||
		s.Has(fields.IsStored) != (r.fields.stored != nil) {
		return r.named(schemaFile, errors.New("corrupted: the files do not belong to the schema"))
	}
	for i, name := range r.fields.names {
		folder := fieldsFolder + "/" + name
		sub := &Reader{dir: filepath.Join(r.dir, fieldsFolder, name), files: map[string]*sections.File{}, part: true}
		err := sub.open(func(file string) (content, error) { return load(folder + "/" + file) })
		if err != nil {
			return err
		}
		if sub.stamp != r.fields.stamps[i] || sub.meta.docs != r.meta.docs || sub.fields != nil {
			return sub.named(metaFile, errors.New("it belongs to another index"))
		}
		r.bytes += sub.bytes
		r.fields.texts = append(r.fields.texts, sub)
	}
	return nil
}

// Schema returns the schema of the documents' fields, or nil if they have none.
func (r *Reader) Schema() *fields.Schema {
	if r.fields == nil {
		return nil
	}
	return r.fields.schema
}

// Field returns the index of one text field, or nil if there is no such field. It is closed with r.
func (r *Reader) Field(name string) *Reader {
	if r.fields != nil {
		for i, n := range r.fields.names {
			if n == name {
				return r.fields.texts[i]
			}
		}
	}
	return nil
}

// Column returns the values of a keyword, number, date or geo field, or nil if there is no such
// field. The first call for a field verifies its checksums, and so does every call if the column is
// small (64 KB).
func (r *Reader) Column(name string) (*columns.Column, error) {
	if r.closed {
		return nil, ErrClosed
	}
	if r.fields == nil || r.fields.columns == nil {
		return nil, nil
	}
	return r.fields.columns.Column(name)
}

// Vectors returns the vectors of a field, or nil if there is no such vector field.
func (r *Reader) Vectors(name string) (*dense.Column, error) {
	if r.closed {
		return nil, ErrClosed
	}
	if r.fields == nil || r.fields.vectors == nil {
		return nil, nil
	}
	return r.fields.vectors.Column(name), nil
}

// Stored returns the stored values of a document, one entry for each field of the schema. The entry
// of a field that is not stored, or has no value, is empty.
func (r *Reader) Stored(doc int) (values []fields.Values, err error) {
	if r.closed {
		return nil, ErrClosed
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if r.fields == nil || r.fields.stored == nil {
		return nil, fmt.Errorf("%s: the documents have no stored fields", r.dir)
	}
	record, err := r.fields.stored.get(nil, doc)
	if err != nil {
		return nil, err
	}
	return parseRecord(r.fields.schema, record)
}

var errRecord = errors.New("corrupted: the stored fields of a document cannot be decoded")

// appendRecord is the inverse of parseRecord.
func appendRecord(dst []byte, s *fields.Schema, values []fields.Values) []byte {
	for i := range s.Fields {
		if !fields.IsStored(&s.Fields[i]) {
			continue
		}
		var v fields.Values
		if i < len(values) {
			v = values[i]
		}
		dst = binary.AppendUvarint(dst, uint64(len(v)))
		for _, b := range v {
			dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
		}
	}
	return dst
}

func parseRecord(s *fields.Schema, record []byte) ([]fields.Values, error) {
	values := make([]fields.Values, len(s.Fields))
	b := byteReader{b: record}
	for i := range s.Fields {
		if !fields.IsStored(&s.Fields[i]) {
			continue
		}
		n := b.uvarint()
		if n > uint64(len(b.b)) {
			return nil, errRecord
		}
		for range n {
			values[i] = append(values[i], b.bytes(b.uvarint()))
		}
	}
	if b.bad || len(b.b) > 0 {
		return nil, errRecord
	}
	return values, nil
}

// text appends the text of a document to out: its text fields, joined as they were for indexing.
func (f *fieldReader) text(out []byte, doc int) ([]byte, error) {
	record, err := f.stored.get(nil, doc)
	if err != nil {
		return nil, err
	}
	values, err := parseRecord(f.schema, record)
	if err != nil {
		return nil, err
	}
	begin := len(out)
	for i := range f.schema.Fields {
		if f.schema.Fields[i].Type != fields.Text {
			continue
		}
		for _, v := range values[i] {
			if len(out) > begin {
				out = append(out, '\n')
			}
			out = append(out, v...)
		}
	}
	return out, nil
}

// checkFields checks columns, stored fields and the indexes of text fields.
func (r *Reader) checkFields(ctx context.Context, o CheckOptions) error {
	if r.fields == nil {
		return nil
	}
	in := func(file string, err error) error {
		if err == nil || ctx.Err() != nil || strings.HasPrefix(err.Error(), r.dir) {
			return err
		}
		return fmt.Errorf("%s: %w", filepath.Join(r.dir, file), err)
	}
	if c := r.fields.columns; c != nil {
		if err := c.Check(); err != nil {
			return in(columnsFile, err)
		}
	}
	if v := r.fields.vectors; v != nil {
		if err := v.Check(); err != nil {
			return in(vectorsFile, err)
		}
	}
	if t := r.fields.stored; t != nil {
		if err := checkText(ctx, t); err != nil {
			return in(storedFile, err)
		}
		for b := range len(t.first) - 1 {
			err := t.block(b, func(_ int, record []byte) error {
				_, err := parseRecord(r.fields.schema, record)
				return err
			})
			if err != nil {
				return in(storedFile, err)
			}
		}
	}
	for _, sub := range r.fields.texts {
		if err := sub.Check(ctx, CheckOptions{Threads: o.Threads}); err != nil {
			return err
		}
	}
	return nil
}
