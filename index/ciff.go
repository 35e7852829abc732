package index

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
)

// The Common Index File Format (CIFF) is how Anserini, PISA, Terrier, OldDog and
// others exchange indexes. It is a sequence of protocol buffers, each preceded by its
// length as a uvarint: one Header, num_postings_lists PostingsLists, and num_docs DocRecords.
//
//	Header        1 version int32 (1), 2 num_postings_lists int32, 3 num_docs int32,
//	              4 total_postings_lists int32, 5 total_docs int32,
//	              6 total_terms_in_collection int64, 7 average_doclength double,
//	              8 description string
//	PostingsList  1 term string, 2 df int64, 3 cf int64, 4 postings, repeated
//	Posting       1 docid int32, the first absolute, others as gap to the one before; 2 tf int32
//	DocRecord     1 docid int32, 2 collection_docid string, 3 doclength int32
const ciffVersion = 1

const ciffDescription = "Collocate index; analyzer "

// Export writes the index as a CIFF file.
func (r *Reader) Export(ctx context.Context, w io.Writer) (err error) {
	if r.closed {
		return ErrClosed
	}
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if r.Pruned() {
		return fmt.Errorf("export %s: the index is pruned, and CIFF cannot store the statistics before pruning: export the index it was made from", r.dir)
	}
	if err := r.unlessPart("export"); err != nil {
		return err
	}
	if err := r.touchLengths(); err != nil {
		return err
	}
	if r.meta.terms > math.MaxInt32 {
		return fmt.Errorf("export: CIFF holds at most %d words, the index has %d", math.MaxInt32, r.meta.terms)
	}
	e := ciffWriter{w: bufio.NewWriterSize(w, 1<<20)}
	mean := float64(r.meta.tokens) / float64(max(r.meta.docs, 1))
	e.begin()
	e.number(1, ciffVersion)
	e.number(2, r.meta.terms)
	e.number(3, r.meta.docs)
	e.number(4, r.meta.terms)
	e.number(5, r.meta.docs)
	e.number(6, r.meta.tokens)
	if mean != 0 {
		e.b = appendTag(e.b, 7, fixed64)
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(mean))
	}
	if err := errors.Join(e.text(8, ciffDescription+r.analyzer), e.end()); err != nil {
		return err
	}
	var c Cursor
	n := 0
	for word, err := range r.Words() {
		if err != nil {
			return err
		}
		if err := e.list(word, r, &c); err != nil {
			return fmt.Errorf("export: word %q: %w", word.Text, err)
		}
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for d := range r.Docs() {
		length := r.Length(d)
		id, err := r.DocID(d)
		if err != nil {
			return err
		}
		e.begin()
		e.number(1, uint64(d))
		err = e.text(2, id)
		e.number(3, uint64(length))
		if length > math.MaxInt32 {
			err = errors.New("longer than CIFF can represent")
		}
		if err := errors.Join(err, e.end()); err != nil {
			return fmt.Errorf("export: document %q: %w", id, err)
		}
	}
	return e.w.Flush()
}

// ciffWriter writes messages. As usual in protocol buffers, zero values are omitted.
type ciffWriter struct {
	w *bufio.Writer
	b []byte
}

func (e *ciffWriter) begin() { e.b = e.b[:0] }

func (e *ciffWriter) number(field int, v uint64) {
	if v != 0 {
		e.b = appendTag(e.b, field, varint)
		e.b = binary.AppendUvarint(e.b, v)
	}
}

func (e *ciffWriter) text(field int, s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not UTF-8, as CIFF requires")
	}
	if s != "" {
		e.b = appendTag(e.b, field, lengthy)
		e.b = append(binary.AppendUvarint(e.b, uint64(len(s))), s...)
	}
	return nil
}

func (e *ciffWriter) end() error {
	var size [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(size[:], uint64(len(e.b)))
	if _, err := e.w.Write(size[:n]); err != nil {
		return err
	}
	_, err := e.w.Write(e.b)
	return err
}

// list writes a PostingsList. The length comes first, so the list is decoded twice: that takes no
// memory, however long the list is.
func (e *ciffWriter) list(w Word, r *Reader, c *Cursor) error {
	e.begin()
	if err := e.text(1, string(w.Text)); err != nil {
		return err
	}
	e.number(2, uint64(w.Term.DF))
	e.number(3, w.Term.CF)
	size := len(e.b)
	var posting []byte
	each := func(do func([]byte) error) error {
		if err := r.Open(w.Term, c); err != nil {
			return err
		}
		prev := uint32(0)
		for d := c.Doc(); d != End; d = c.Next() {
			var head [2]byte // tag and length; a posting is shorter than 128 bytes
			p := append(posting[:0], head[:]...)
			if gap := d - prev; gap != 0 {
				p = appendTag(p, 1, varint)
				p = binary.AppendUvarint(p, uint64(gap))
			}
			p = appendTag(p, 2, varint)
			p = binary.AppendUvarint(p, uint64(c.TF()))
			p[0], p[1] = 4<<3|byte(lengthy), byte(len(p)-2)
			posting = p
			if c.TF() > math.MaxInt32 {
				return fmt.Errorf("frequency %d is larger than CIFF can represent", c.TF())
			}
			if err := do(p); err != nil {
				return err
			}
			prev = d
		}
		return c.Err()
	}
	if err := each(func(p []byte) error { size += len(p); return nil }); err != nil {
		return err
	}
	var n [binary.MaxVarintLen64]byte
	if _, err := e.w.Write(n[:binary.PutUvarint(n[:], uint64(size))]); err != nil {
		return err
	}
	if _, err := e.w.Write(e.b); err != nil {
		return err
	}
	return each(func(p []byte) error { _, err := e.w.Write(p); return err })
}

// ciffAnalyzer returns the analyzer that Export wrote into the description, or "".
func ciffAnalyzer(description string) string {
	name, ok := strings.CutPrefix(description, ciffDescription)
	if !ok {
		return ""
	}
	return name
}
