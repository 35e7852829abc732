package weigh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/text"
)

// collection is a corpus in the papers' format: words are separated by blanks, documents by a
// newline, and the text begins with a newline. Documents without words are not in the text.
type collection struct {
	text   []byte
	docs   *documents
	filled []uint32 // numbers of the documents that have words
}

// The memory in bytes that the eight steps need for each word and for each byte of text.
const (
	heldPerWord = 48
	heldPerByte = 2
)

// prepare analyzes a corpus into a collection.
func prepare(ctx context.Context, j *job) (*collection, error) {
	type part struct {
		seq  int
		text []byte
	}
	type worker struct {
		parts         []part
		batches       []docBatch
		tokens, bytes int64
		tok           text.Tokens
	}
	workers := make([]worker, j.Threads)
	err := j.each(ctx, func(n int, b *text.Batch) error {
		w := &workers[n]
		d := newDocBatch(b.Seq, len(b.Docs))
		var out []byte
		words := 0
		for i := range b.Docs {
			doc := &b.Docs[i]
			if err := j.Analyzer.Analyze(doc.Text, &w.tok); err != nil {
				return fmt.Errorf("document %s: %w", doc.ID, err)
			}
			d.add(doc.ID, len(w.tok.Words))
			words += len(w.tok.Words)
			w.bytes += int64(len(doc.Text))
			for k := range w.tok.Words {
				out = append(out, w.tok.Word(k)...)
				out = append(out, ' ')
			}
			if len(w.tok.Words) > 0 {
				out[len(out)-1] = '\n'
			}
		}
		w.tokens += int64(words)
		w.parts = append(w.parts, part{b.Seq, out})
		w.batches = append(w.batches, d)
		return j.hold(heldPerWord*int64(words) + heldPerByte*int64(len(out)))
	})
	if err != nil {
		return nil, err
	}
	var (
		parts         []part
		list          []docBatch
		tokens, bytes int64
		size          = 1
	)
	for i := range workers {
		w := &workers[i]
		parts, list = append(parts, w.parts...), append(list, w.batches...)
		tokens, bytes = tokens+w.tokens, bytes+w.bytes
	}
	docs, err := newDocuments(list, tokens, bytes)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.seq, b.seq) })
	for _, p := range parts {
		size += len(p.text)
	}
	if size > math.MaxUint32 {
		return nil, fmt.Errorf("method %v holds at most 4 GiB of words: use method auto", j.Method)
	}
	c := &collection{docs: docs, text: append(make([]byte, 0, size), '\n')}
	for _, p := range parts {
		c.text = append(c.text, p.text...)
	}
	c.filled = par.Where[uint32](j.Threads, len(docs.lengths), func(d int) bool { return docs.lengths[d] > 0 })
	return c, nil
}

// begins reports whether a word begins at byte i: whether it is not a separator but the byte before
// it is.
func (c *collection) begins(i int) bool {
	return i > 0 && !separates(c.text[i]) && separates(c.text[i-1])
}

func separates(b byte) bool { return b == ' ' || b == '\n' }

// span returns the word that begins at byte start.
func (c *collection) span(start uint32) text.Span {
	end := start
	for !separates(c.text[end]) {
		end++
	}
	return text.Span{Start: start, End: end}
}

func (c *collection) word(s text.Span) []byte { return c.text[s.Start:s.End] }

var errSeparators = errors.New("the analyzer made words that are empty or contain blanks: use method auto")
