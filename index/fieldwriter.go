package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// fieldWriter writes the fields of documents: columns, stored fields, and an index for each text
// field.
type fieldWriter struct {
	schema  *fields.Schema
	columns *columns.Builder // nil without columns
	vectors *dense.Builder   // nil without vectors
	stored  *textWriter      // nil without stored fields
	texts   []*fieldInverter
	share   int64 // memory for each inversion, in bytes
	stamps  []byte
}

// fieldInverter inverts one text field.
type fieldInverter struct {
	field    int // its number in the schema
	analyzer text.Analyzer
	inverter *weigh.Inverter
	docs     [][]text.Document // by worker
}

// columnShare is the share of the memory, one in this many bytes, for the values of columns. They
// are kept in memory until the end.
const columnShare = 3

// MemoryForFields returns the least BuildOptions.Memory for documents with fields whose texts have
// up to longest bytes, and whose columns take that many in all; see [columns.Batch.Bytes].
func MemoryForFields(s *fields.Schema, longest, columns int64) int64 {
	memory := text.MemoryFor(longest) * int64(len(s.Indexed())+1)
	return max(memory+memory/(columnShare-1), columns*columnShare) + columnShare*int64(len(s.Fields)+1)
}

// newFieldWriter returns a writer for the fields of a corpus.
func newFieldWriter(w *Writer, s *fields.Schema, o BuildOptions) (f *fieldWriter, err error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	// The stored schema names every analyzer, also where a field uses that of the index.
	s = s.With(slices.Clone(s.Fields))
	analyzers := make([]text.Analyzer, len(s.Fields))
	for i := range s.Fields {
		field := &s.Fields[i]
		if !field.Type.HasIndex() {
			continue
		}
		if field.Analyzer == "" {
			field.Analyzer = o.Analyzer.Name()
		}
		own := append([]text.Analyzer{o.Analyzer}, o.Analyzers...)
		if analyzers[i], err = text.ParseAnalyzer(field.Analyzer, own...); err != nil {
			return nil, fmt.Errorf("schema: field %q: %w", field.Name, err)
		}
		field.Analyzer = analyzers[i].Name() // a chain is stored in one form
	}
	if f, err = startFields(w, s); err != nil {
		return nil, err
	}
	texts := s.Indexed()
	f.share = w.memory
	if f.columns != nil {
		f.share -= w.memory / columnShare
	}
	f.share /= int64(len(texts) + 1)
	for _, i := range texts {
		f.texts = append(f.texts, &fieldInverter{
			field: i, analyzer: analyzers[i], docs: make([][]text.Document, o.Threads),
			inverter: weigh.NewInverter(weigh.InvertOptions{
				Analyzer: analyzers[i], Threads: o.Threads, Memory: f.share, TempDir: o.TempDir, MaxWord: MaxWord,
				Positions: o.Positions && !text.OfWeights(analyzers[i].Name()),
			}),
		})
	}
	return f, nil
}

// startFields starts the files of a schema, except for the indexes of text fields.
func startFields(w *Writer, s *fields.Schema) (*fieldWriter, error) {
	f := &fieldWriter{schema: s}
	if hasColumns(s) {
		f.columns = columns.NewBuilder(s, w.memory/columnShare)
	}
	if hasVectors(s) {
		f.vectors = dense.NewBuilder(s, w.tempDir, w.memory/columnShare)
	}
	if s.Has(fields.IsStored) {
		var err error
		if f.stored, err = newTextWriter(w.dir, storedFile, w.memory); err != nil {
			return nil, err
		}
	}
	if _, err := w.dir.Sub(fieldsFolder); err != nil {
		return nil, err
	}
	return f, nil
}

// add adds a batch of documents; see weigh.InvertOptions.Visit.
func (f *fieldWriter) add(worker int, b *text.Batch) error {
	if f.columns != nil {
		values := f.columns.Batch(b.Seq)
		for i := range b.Docs {
			if err := values.Add(b.Docs[i].Fields); err != nil {
				return fmt.Errorf("%s: %w", b.Where(i), err)
			}
		}
		if err := f.columns.Put(values); err != nil {
			return err
		}
	}
	if f.vectors != nil {
		values := f.vectors.Batch(b.Seq)
		for i := range b.Docs {
			if err := values.Add(b.Docs[i].Fields); err != nil {
				return fmt.Errorf("%s, %q: %w", b.Where(i), b.Docs[i].ID, err)
			}
		}
		if err := f.vectors.Put(values); err != nil {
			return err
		}
	}
	if f.stored != nil {
		records := make([]text.Document, len(b.Docs))
		for i := range b.Docs {
			records[i].Text = appendRecord(nil, f.schema, b.Docs[i].Fields)
		}
		if err := f.stored.add(&text.Batch{Seq: b.Seq, Docs: records}); err != nil {
			return err
		}
	}
	for _, t := range f.texts {
		docs := t.docs[worker][:0]
		for i := range b.Docs {
			var d text.Document
			if v := b.Docs[i].Fields; t.field < len(v) && len(v[t.field]) > 0 {
				d.Text = v[t.field][0]
				d.Breaks = breaksIn(b.Docs[i].Breaks, f.schema.TextAt(v, t.field), len(d.Text))
			}
			docs = append(docs, d)
		}
		t.docs[worker] = docs
		if err := t.inverter.Add(worker, b.Parts(docs)); err != nil {
			return fmt.Errorf("field %q: %w", f.schema.Fields[t.field].Name, err)
		}
	}
	return nil
}

// breaksIn returns the breaks of a document that are inside one of its fields, relative to the
// field's first byte.
func breaksIn(breaks []uint32, from, size int) (list []uint32) {
	for _, b := range breaks {
		if at := int(b) - from; at > 0 && at < size {
			list = append(list, uint32(at))
		}
	}
	return list
}

// finish writes the indexes of the text fields.
func (f *fieldWriter) finish(ctx context.Context, w *Writer, o BuildOptions) error {
	for _, t := range f.texts {
		v, err := t.inverter.Finish(ctx)
		if err != nil {
			return err
		}
		err = f.writeText(w, f.schema.Fields[t.field].Name, func(sub *Writer) error {
			return sub.addInversion(ctx, v,
				BuildOptions{Analyzer: t.analyzer, Threads: o.Threads, numbered: true,
					Positions: o.Positions && !text.OfWeights(t.analyzer.Name())})
		})
		if err := errors.Join(err, v.Close()); err != nil {
			return err
		}
	}
	return nil
}

// writeText writes the index of a text field. The function add writes its words.
func (f *fieldWriter) writeText(w *Writer, name string, add func(sub *Writer) error) error {
	dir, err := w.dir.Sub(fieldsFolder + "/" + name)
	if err != nil {
		return err
	}
	sub := &Writer{dir: dir}
	defer sub.Abort()
	sub.setMemory(w.memory, w.tempDir)
	if err := add(sub); err != nil {
		return err
	}
	if err := sub.Commit(); err != nil {
		return err
	}
	m, err := mmap.Open(dir.Path(metaFile))
	if err != nil {
		return err
	}
	f.stamps = stampOf(metaFile, m.Data).append(f.stamps)
	return m.Close()
}

// files returns the names of the files, without those in subfolders.
func (f *fieldWriter) files() []string {
	names := []string{schemaFile}
	if f.columns != nil {
		names = append(names, columnsFile)
	}
	if f.vectors != nil {
		names = append(names, vectorsFile)
	}
	if f.stored != nil {
		names = append(names, storedFile)
	}
	return names
}

// commit completes the files.
func (f *fieldWriter) commit(w *Writer) error {
	docs := int(w.meta.docs)
	out, err := createFile(w.dir, schemaFile)
	if err != nil {
		return err
	}
	if err := errors.Join(out.Section("schema", f.schema.JSON()), out.Section("fields", f.stamps)); err != nil {
		out.f.Abort()
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	if f.columns != nil {
		if out, err = createFile(w.dir, columnsFile); err != nil {
			return err
		}
		if err := f.columns.Write(out.Writer, docs); err != nil {
			out.f.Abort()
			return err
		}
		if err := out.commit(); err != nil {
			return err
		}
	}
	if f.vectors != nil {
		if out, err = createFile(w.dir, vectorsFile); err != nil {
			return err
		}
		if err := errors.Join(f.vectors.Write(out.Writer, docs), f.vectors.Close()); err != nil {
			out.f.Abort()
			return err
		}
		if err := out.commit(); err != nil {
			return err
		}
	}
	if f.stored != nil {
		if err := f.stored.finish(docs); err != nil {
			return err
		}
	}
	folder, err := w.dir.Sub(fieldsFolder)
	if err != nil {
		return err
	}
	return folder.Commit() // the names of the text fields' folders are on disk, too
}

func (f *fieldWriter) abort() {
	f.vectors.Close()
	if f.stored != nil {
		f.stored.abort()
	}
	for _, t := range f.texts {
		t.inverter.Close()
	}
}

// rewriteFields writes the fields of documents in another order: see rewrite.
func (r *Reader) rewriteFields(ctx context.Context, w *Writer, order, place []uint32, o ReorderOptions) (err error) {
	if w.fields, err = startFields(w, r.fields.schema); err != nil {
		return err
	}
	if b := w.fields.columns; b != nil {
		values := b.Batch(0)
		if err := errors.Join(values.From(r.fields.columns, slices.Values(order)), b.Put(values)); err != nil {
			return err
		}
	}
	if b := w.fields.vectors; b != nil {
		values := b.Batch(0)
		if err := errors.Join(values.From(r.fields.vectors, slices.Values(order)), b.Put(values)); err != nil {
			return err
		}
	}
	if t := r.fields.stored; t != nil {
		if err := rewriteText(ctx, t, w, w.fields.stored, place, o.textBucket); err != nil {
			return err
		}
	}
	for i, sub := range r.fields.texts {
		err := w.fields.writeText(w, r.fields.names[i],
			func(to *Writer) error { return sub.rewrite(ctx, to, order, nil, o) })
		if err != nil {
			return err
		}
	}
	return nil
}
