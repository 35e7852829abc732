// Package csr answers the question: what does an index look like to SciPy?
//
// Write makes a file that scipy.sparse.load_npz reads as a CSR matrix with a row for each document
// and a column for each word, in the orders of the index: in a cell is how often the document has
// the word, or the weight of the token. Beside the arrays of the matrix, whose data are int32, it
// has the names of rows and columns, which SciPy ignores:
//
//	terms.npy, term_ends.npy   uint8: all words, one after the other; int64: where each ends
//	ids.npy, id_ends.npy       the same for the documents' IDs
//
// Documents {"id":"x","vector":{"b":2}} and {"id":"y","vector":{"a":3,"b":1}} have indptr 0 1 3,
// indices 1 0 1, data 2 3 1, terms ab, term_ends 1 2, ids xy and id_ends 1 2.
//
// Experimental: it may change with any version; package collocate says what may not.
package csr

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/npz"
	"github.com/collocate/collocate/internal/sections"
)

// Options say what Write writes.
type Options struct {
	Field  string // a field with an index of its own; "" means the text
	Memory int64  // for the cells of the rows that are made at a time, in bytes; 0 means 1 GB
}

const (
	usualMemory = 1 << 30
	cellBytes   = 4
)

// matrix is what is written.
type matrix struct {
	ctx    context.Context
	words  *index.Reader
	ends   []int64 // of each row
	memory int64
}

// Write writes the matrix of an index. It returns the numbers of its columns and of its cells that
// are not 0.
func Write(ctx context.Context, to io.Writer, r *index.Reader, o Options) (columns int, cells int64, err error) {
	if err := given.Context(ctx); err != nil {
		return 0, 0, err
	}
	m := matrix{ctx: ctx, words: r, memory: o.Memory, ends: make([]int64, r.Docs())}
	if m.memory <= 0 {
		m.memory = usualMemory
	}
	if o.Field != "" {
		if m.words = r.Field(o.Field); m.words == nil {
			return 0, 0, fmt.Errorf("export: the index has no words of a field %q: want %s", o.Field, indexed(r))
		}
	}
	var terms []byte
	var termEnds []int64
	err = m.each(0, r.Docs(), func(w *index.Word, _ int) {
		terms = append(terms, w.Text...)
		termEnds = append(termEnds, int64(len(terms)))
	}, func(doc, _ int, _ uint32) { m.ends[doc]++ })
	if err != nil {
		return 0, 0, err
	}
	for i := range m.ends {
		cells += m.ends[i]
		m.ends[i] = cells
	}
	z := npz.NewWriter(to)
	z.Text("format", "csr")
	z.Int64s("shape", int64(r.Docs()), int64(len(termEnds)))
	z.Stream("indptr", npz.Int64, int64(r.Docs())+1, func(to io.Writer) error {
		if err := sections.Put(to, []int64{0}); err != nil {
			return err
		}
		return sections.Put(to, m.ends)
	})
	z.Stream("indices", npz.Int32, cells, func(to io.Writer) error {
		return m.rows(to, func(column int, _ uint32) int32 { return int32(column) })
	})
	z.Stream("data", npz.Int32, cells, func(to io.Writer) error {
		return m.rows(to, func(_ int, weight uint32) int32 { return int32(weight) })
	})
	z.Bytes("terms", terms)
	z.Int64s("term_ends", termEnds...)
	var ids []byte
	idEnds := make([]int64, r.Docs())
	for doc := range idEnds {
		if ids, err = r.AppendDocID(ids, doc); err != nil {
			return 0, 0, err
		}
		idEnds[doc] = int64(len(ids))
	}
	z.Bytes("ids", ids)
	z.Int64s("id_ends", idEnds...)
	return len(termEnds), cells, z.Close()
}

// indexed lists the fields that can be written.
func indexed(r *index.Reader) string {
	names := []string{"none, as it has no fields"}
	if s := r.Schema(); s != nil {
		names = s.Names(func(f *fields.Field) bool { return f.Type.HasIndex() })
	}
	return strings.Join(names, ", ")
}

// each calls word for each word with its column, and cell for its cells in some rows.
func (m *matrix) each(from, to int, word func(w *index.Word, column int),
	cell func(doc, column int, weight uint32)) error {
	var c index.Cursor
	column := 0
	for w, err := range m.words.Words() {
		if err == nil {
			err = m.ctx.Err()
		}
		if err == nil && word != nil {
			word(&w, column)
		}
		if err == nil {
			err = m.words.Open(w.Term, &c)
		}
		if err != nil {
			return fmt.Errorf("export: word %q: %w", w.Text, err)
		}
		for doc := c.Seek(uint32(from)); int(doc) < to; doc = c.Next() {
			weight := c.TF()
			if weight > math.MaxInt32 {
				return fmt.Errorf("export: word %q: frequency %d: want at most %d", w.Text, weight, math.MaxInt32)
			}
			cell(int(doc), column, weight)
		}
		if err := c.Err(); err != nil {
			return fmt.Errorf("export: word %q: %w", w.Text, err)
		}
		column++
	}
	return nil
}

// rows writes a number for each cell, row by row: as many rows at a time as fit in memory.
func (m *matrix) rows(to io.Writer, of func(column int, weight uint32) int32) error {
	start := func(doc int) int64 {
		if doc == 0 {
			return 0
		}
		return m.ends[doc-1]
	}
	var values []int32
	var next []int64
	for from := 0; from < len(m.ends); {
		end := from + 1
		for end < len(m.ends) && (m.ends[end]-start(from))*cellBytes+int64(end-from)*8 <= m.memory {
			end++
		}
		values = append(values[:0], make([]int32, m.ends[end-1]-start(from))...)
		next = next[:0]
		for doc := from; doc < end; doc++ {
			next = append(next, start(doc)-start(from))
		}
		err := m.each(from, end, nil, func(doc, column int, weight uint32) {
			values[next[doc-from]] = of(column, weight)
			next[doc-from]++
		})
		if err == nil {
			err = sections.Put(to, values)
		}
		if err != nil {
			return err
		}
		from = end
	}
	return nil
}
