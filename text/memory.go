package text

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"unicode/utf8"
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
				err = c.checkSource(docs)
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
				err = errors.Join(ctx.Err(), c.checkSource(docs))
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

// checkSource checks documents of a source like those of files.
func (c *Corpus) checkSource(docs []Document) error {
	most := c.Options.documentLimit()
	for i := range docs {
		if int64(len(docs[i].Text)) > most {
			return fmt.Errorf("document %s: %w", docs[i].ID, c.Options.errLong())
		}
		if c.Options.Encoding == UTF8 && !utf8.Valid(docs[i].Text) {
			return fmt.Errorf("document %s: not UTF-8", docs[i].ID)
		}
	}
	return nil
}
