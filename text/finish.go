package text

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/collocate/collocate/fields"
)

// finishedAtOnce is how many documents All passes to Options.Finish at a time.
const finishedAtOnce = 32

// Beside completes documents with what is in files beside the corpus.
type Beside interface {
	// Complete completes documents that follow so many others of the corpus, as Options.Finish
	// does and before it. It is called concurrently.
	Complete(schema *fields.Schema, before int, docs []Document) error
	// End is called when all documents have been read, with their number. Its error is that of the
	// corpus.
	End(docs int) error
}

// counter numbers the documents of batches.
type counter struct {
	mu    sync.Mutex
	seq   int // of the next batch
	docs  int // before it
	turns map[int]chan struct{}
}

// before returns the number of documents before a batch. It waits for all batches before, which
// have been or will be passed on as well.
func (c *counter) before(ctx context.Context, b *Batch) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.seq < b.Seq {
		turn := make(chan struct{})
		c.turns[b.Seq] = turn
		c.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
		}
		c.mu.Lock()
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	n := c.docs
	c.seq, c.docs = b.Seq+1, n+len(b.Docs)
	if turn, ok := c.turns[c.seq]; ok {
		close(turn)
		delete(c.turns, c.seq)
	}
	return n, nil
}

// complete completes documents that follow so many others.
func (o *Options) complete(ctx context.Context, before int, docs []Document) error {
	if o.Beside != nil {
		if err := o.Beside.Complete(o.Schema, before, docs); err != nil {
			return err
		}
	}
	if o.Finish == nil {
		return nil
	}
	return o.Finish(ctx, o.Schema, docs)
}

// finishing calls read with fn for batches that are not finished yet.
func (c *Corpus) finishing(ctx context.Context, fn func(worker int, b *Batch) error,
	read func(fn func(worker int, b *Batch) error) error) error {
	o := &c.Options
	if o.Finish == nil && o.Beside == nil {
		return read(fn)
	}
	count := &counter{turns: map[int]chan struct{}{}}
	err := read(func(worker int, b *Batch) error {
		before := 0
		if o.Beside != nil {
			var err error
			if before, err = count.before(ctx, b); err != nil {
				return err
			}
		}
		finished := *b
		finished.Docs = slices.Clone(b.Docs)
		if err := o.complete(ctx, before, finished.Docs); err != nil {
			return err
		}
		return fn(worker, &finished)
	})
	if err == nil && o.Beside != nil {
		err = o.Beside.End(count.docs)
	}
	return err
}

// finishedAll finishes documents that are valid until the next one.
func (c *Corpus) finishedAll(ctx context.Context, docs iter.Seq2[Document, error]) iter.Seq2[Document, error] {
	o := &c.Options
	if o.Finish == nil && o.Beside == nil {
		return docs
	}
	return func(yield func(Document, error) bool) {
		var list []Document
		before := 0
		pass := func() bool {
			if err := o.complete(ctx, before, list); err != nil {
				yield(Document{}, err)
				return false
			}
			for _, d := range list {
				if !yield(d, nil) {
					return false
				}
			}
			before, list = before+len(list), list[:0]
			return true
		}
		for d, err := range docs {
			if err != nil {
				yield(Document{}, err)
				return
			}
			if list = append(list, d.Clone()); len(list) == finishedAtOnce && !pass() {
				return
			}
		}
		if !pass() || o.Beside == nil {
			return
		}
		if err := o.Beside.End(before); err != nil {
			yield(Document{}, err)
		}
	}
}

// Clone returns a copy that stays valid.
func (d Document) Clone() Document {
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
