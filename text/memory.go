package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
)

// sourceGroup is a batch of documents in memory.
type sourceGroup struct {
	seq  int
	docs []Document
}

// sourceBatches is Batches for documents of Corpus.Source: each slice is a batch.
func (c *Corpus) sourceBatches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	parent := ctx
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	threads := c.Options.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	groups := make(chan sourceGroup) // unbuffered: in memory are the groups being processed and the next one
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(groups)
		seq := 0
		var read int64
		for docs, err := range c.Source(ctx) {
			if err == nil {
				docs, err = c.checkSource(docs)
			}
			if err != nil {
				fail(err)
				return
			}
			if len(docs) == 0 {
				continue
			}
			for i := range docs {
				read += int64(len(docs[i].Text))
			}
			if c.Options.Progress != nil {
				c.Options.Progress(read, 0)
			}
			select {
			case groups <- sourceGroup{seq, docs}:
				seq++
			case <-ctx.Done():
				return
			}
		}
	})
	for worker := range threads {
		wg.Go(func() {
			for g := range groups {
				if ctx.Err() != nil {
					continue
				}
				if err := fn(worker, &Batch{Seq: g.seq, Docs: g.docs}); err != nil {
					fail(err)
				}
			}
		})
	}
	wg.Wait()
	if err := parent.Err(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// sourceAll is All for documents of Corpus.Source.
func (c *Corpus) sourceAll(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for docs, err := range c.Source(ctx) {
			if err == nil {
				docs, err = c.checkSource(docs)
				err = errors.Join(ctx.Err(), err)
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			for _, d := range docs {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// checkSource checks documents of a source like those of files, and completes those with fields.
// The slice is the program's: it is not changed.
func (c *Corpus) checkSource(docs []Document) ([]Document, error) {
	most := c.Options.documentLimit()
	if c.Options.Schema != nil {
		docs = slices.Clone(docs)
	}
	for i := range docs {
		d := &docs[i]
		if err := d.Complete(c.Options.Schema); err != nil {
			return nil, err
		}
		if int64(len(d.Text)) > most {
			return nil, fmt.Errorf("document %s: %w", d.ID, c.Options.errLong())
		}
		if c.Options.Encoding == UTF8 && !utf8.Valid(d.Text) {
			return nil, fmt.Errorf("document %s: not UTF-8", d.ID)
		}
	}
	return docs, nil
}

// Complete derives Text and Breaks from Fields, in the order of the schema. It is an error if there
// is a schema but no Fields, or Fields but no schema (nil), or if Text is given and is another text
// than that of Fields. Breaks that are given are kept; those between fields are added.
func (d *Document) Complete(schema *fields.Schema) error {
	switch {
	case schema == nil && len(d.Fields) > 0:
		return fmt.Errorf("document %q: it has fields, but there is no schema", d.ID)
	case schema == nil:
		return nil
	case len(d.Fields) == 0:
		return fmt.Errorf("document %q: want the values of its fields: see Values of the schema", d.ID)
	case len(d.Fields) > len(schema.Fields):
		return fmt.Errorf("document %q: %d fields: want %d, as in the schema", d.ID, len(d.Fields),
			len(schema.Fields))
	}
	for i, values := range d.Fields {
		if schema.Fields[i].Type == fields.Text && len(values) > 1 {
			return fmt.Errorf("document %q: field %q: %d texts: want one", d.ID,
				schema.Fields[i].Name, len(values))
		}
	}
	text := schema.Text(d.Fields)
	if len(d.Text) > 0 && !bytes.Equal(d.Text, text) {
		return fmt.Errorf("document %q: its Text is not that of its text fields, joined by newlines: "+
			"leave Text empty, or add a text field for it to the schema", d.ID)
	}
	if len(d.Text) == 0 {
		d.Text = text
	}
	breaks := d.Breaks
	for i, values := range d.Fields {
		if schema.Fields[i].Type != fields.Text || len(values) == 0 {
			continue
		}
		at := uint32(schema.TextAt(d.Fields, i))
		if k, ok := slices.BinarySearch(breaks, at); at > 0 && !ok {
			breaks = slices.Insert(slices.Clip(breaks), k, at)
		}
	}
	d.Breaks = breaks
	return nil
}
