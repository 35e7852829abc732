package text

import (
	"context"
	"io"
	"iter"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

func (c *Corpus) stdin() io.Reader {
	if c.Stdin != nil {
		return c.Stdin
	}
	return os.Stdin
}

// start returns the feeder and the list of its files.
func (c *Corpus) start(ctx context.Context) (*feeder, []input, error) {
	inputs, err := c.inputs()
	if err != nil {
		return nil, nil, err
	}
	f := &feeder{ctx: ctx, corpus: c, tell: func(int64) {}, large: make(chan struct{}, 1)}
	if progress := c.Options.Progress; progress != nil {
		var total int64
		for _, in := range inputs {
			if !in.regular {
				total = 0
				break
			}
			total += in.size
		}
		var done atomic.Int64
		f.tell = func(n int64) { progress(done.Add(n), total) }
	}
	return f, inputs, nil
}

// all reads and parses in the caller's goroutine.
func (c *Corpus) all(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		ctx, done := context.WithCancel(ctx)
		defer done()
		f, inputs, err := c.start(ctx)
		if err != nil {
			yield(Document{}, err)
			return
		}
		var (
			p    parser
			pos  position
			free []byte
		)
		f.buffer = func() []byte {
			b := free
			free = nil
			return b
		}
		asked := true // the caller still wants documents
		f.emit = func(t *task) error {
			defer f.release(t, func(b []byte) { free = b })
			if err := ctx.Err(); err != nil {
				return err
			}
			groups, err := p.read(t, f.tell)
			if err != nil {
				return pos.place(err)
			}
			for _, pieces := range groups {
				p.parse(pieces)
				if pos, err = p.number(pos); err != nil {
					return err
				}
				for _, d := range p.docs {
					if asked = yield(d, nil); !asked {
						return errStopped
					}
				}
			}
			return nil
		}
		err = f.run(inputs)
		if err == nil {
			err = pos.endCorpus()
		}
		if err != nil && asked {
			yield(Document{}, err)
		}
	}
}

// batches starts one goroutine that cuts the corpus into tasks, and workers that turn tasks into
// batches. Each task waits for the numbers of documents and batches of the one before; since tasks
// are taken in order and report these before fn is called, that wait is short.
func (c *Corpus) batches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	parent := ctx
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	f, inputs, err := c.start(ctx)
	if err != nil {
		return err
	}
	threads := c.Options.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	tasks := make(chan *task, threads)
	free := make(chan []byte, 2*threads+1)
	f.buffer = func() []byte {
		select {
		case b := <-free:
			return b
		default:
			return nil
		}
	}
	recycle := func(b []byte) {
		select {
		case free <- b:
		default:
		}
	}
	link := make(chan position, 1)
	link <- position{}
	f.emit = func(t *task) error {
		next := make(chan position, 1)
		t.in, t.out = link, next
		link = next
		select {
		case tasks <- t:
			return nil
		case <-ctx.Done():
			f.release(t, recycle)
			return ctx.Err()
		}
	}

	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(tasks)
		if err := f.run(inputs); err != nil {
			fail(err)
		}
	})
	for worker := range threads {
		wg.Go(func() {
			var p parser
			for t := range tasks {
				if ctx.Err() == nil {
					if err := p.batch(ctx, t, worker, f.tell, fn); err != nil {
						fail(err)
					}
				}
				f.release(t, recycle)
			}
		})
	}
	wg.Wait()
	if err := parent.Err(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	end := <-link
	return end.endCorpus()
}

// batch turns a task into a batch, or several if it has very many documents, and calls fn. An error
// in the text is returned only after all tasks before have succeeded, so that the first error in
// the corpus is the one reported.
func (p *parser) batch(ctx context.Context, t *task, worker int, tell func(int64), fn func(int, *Batch) error) error {
	groups, err := p.read(t, tell)
	if err == nil {
		p.parse(groups[0])
	}
	var pos position
	select {
	case pos = <-t.in:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err != nil {
		return pos.place(err)
	}
	told := false
	if len(groups) > 1 {
		if after, ok := pos.afterLines(groups); ok {
			t.out <- after
			told = true
		}
	}
	for i, pieces := range groups {
		if i > 0 {
			p.parse(pieces)
		}
		before := pos
		if pos, err = p.number(pos); err != nil {
			return err
		}
		if i == len(groups)-1 && !told {
			t.out <- pos
		}
		if len(p.docs) == 0 {
			continue
		}
		if err := fn(worker, &Batch{Seq: before.seq, Docs: p.docs, parser: p, before: before}); err != nil {
			return err
		}
	}
	return nil
}

// release frees the buffers and files of a task.
func (f *feeder) release(t *task, recycle func([]byte)) {
	if t.large {
		<-f.large
	}
	for _, p := range t.pieces {
		if cap(p.data) >= chunkSize && cap(p.data) <= 4*chunkSize {
			recycle(p.data)
		}
		p.src.release()
	}
}
