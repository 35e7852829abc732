package text

import (
	"bytes"
	"context"
	"iter"
	"slices"

	"github.com/collocate/collocate/fields"
)

// finishedAtOnce is how many documents All passes to Options.Finish at a time.
const finishedAtOnce = 32

// finishing returns fn for batches that are not finished yet.
func (c *Corpus) finishing(ctx context.Context, fn func(worker int, b *Batch) error) func(worker int, b *Batch) error {
	finish := c.Options.Finish
	if finish == nil {
		return fn
	}
	return func(worker int, b *Batch) error {
		finished := *b
		finished.Docs = slices.Clone(b.Docs)
		if err := finish(ctx, c.Options.Schema, finished.Docs); err != nil {
			return err
		}
		return fn(worker, &finished)
	}
}

// finishedAll finishes documents that are valid until the next one.
func (c *Corpus) finishedAll(ctx context.Context, docs iter.Seq2[Document, error]) iter.Seq2[Document, error] {
	finish := c.Options.Finish
	if finish == nil {
		return docs
	}
	return func(yield func(Document, error) bool) {
		var list []Document
		pass := func() bool {
			if err := finish(ctx, c.Options.Schema, list); err != nil {
				yield(Document{}, err)
				return false
			}
			for _, d := range list {
				if !yield(d, nil) {
					return false
				}
			}
			list = list[:0]
			return true
		}
		for d, err := range docs {
			if err != nil {
				yield(Document{}, err)
				return
			}
			if list = append(list, d.clone()); len(list) == finishedAtOnce && !pass() {
				return
			}
		}
		if len(list) > 0 {
			pass()
		}
	}
}

// clone returns a copy that stays valid.
func (d Document) clone() Document {
	d.Text, d.Breaks, d.Headings = bytes.Clone(d.Text), slices.Clone(d.Breaks), slices.Clone(d.Headings)
	list := make([]fields.Values, len(d.Fields))
	for i, values := range d.Fields {
		for _, v := range values {
			list[i] = append(list[i], bytes.Clone(v))
		}
	}
	if d.Fields != nil {
		d.Fields = list
	}
	return d
}
