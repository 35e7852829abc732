package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// BuildOptions say how to index a corpus. Only Analyzer must be given.
type BuildOptions struct {
	Analyzer text.Analyzer
	// StoreText keeps the documents' text, for snippets.
	StoreText bool
	// Threads, 0 for GOMAXPROCS. The index does not depend on it.
	Threads int
	// Memory bounds the working memory in bytes, 0 for 2 GB; see weigh.InvertOptions.
	Memory int64
	// TempDir is where what does not fit into memory goes; "" for the folder that
	// the index is made in.
	TempDir string
	// Progress is told how much of the text, in bytes, has been written, once all
	// of it has been read (text.Options.Progress tells about that).
	Progress func(done, total int64)
}

// Build indexes a corpus in the folder dir: see Create for what may be there.
func Build(ctx context.Context, dir string, c *text.Corpus, o BuildOptions) (err error) {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.TempDir == "" {
		o.TempDir = filepath.Dir(filepath.Clean(dir))
	}
	if o.Analyzer == nil {
		return errors.New("index: no analyzer given")
	}
	w, err := Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()

	invert := weigh.InvertOptions{Analyzer: o.Analyzer, Threads: o.Threads, Memory: o.Memory, TempDir: o.TempDir}
	if o.StoreText {
		if w.text, err = newTextWriter(w.dir); err != nil {
			return err
		}
		invert.Visit = func(_ int, b *text.Batch) error { return w.text.add(b) }
	}
	v, err := weigh.Invert(ctx, c, invert)
	if err != nil {
		return err
	}
	defer v.Close()
	err = w.SetDocuments(Documents{Analyzer: o.Analyzer.Name(), Lengths: v.Lengths(), ID: v.ID})
	if err != nil {
		return err
	}
	if err := w.addParts(ctx, v, o); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return w.Commit()
}

// tokensPerPart is how many words of the corpus a part should hold: some
// megabytes of lists.
const tokensPerPart = 4 << 20

// addParts encodes parts of the vocabulary at the same time and writes them in order.
func (w *Writer) addParts(ctx context.Context, v *weigh.Inversion, o BuildOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := v.Parts(ctx, int(v.Tokens()/tokensPerPart)+4*o.Threads)

	// Worker i takes the part that nobody has; at most Threads parts are finished
	// or under way beyond the one being written.
	results := make([]chan partResult, len(parts))
	for i := range results {
		results[i] = make(chan partResult, 1)
	}
	tickets := make(chan struct{}, o.Threads+1)
	var next atomic.Int64
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range min(o.Threads, len(parts)) {
		wg.Go(func() {
			for {
				select {
				case tickets <- struct{}{}:
				case <-ctx.Done():
					return
				}
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				results[i] <- w.encodePart(parts[i])
			}
		})
	}
	var done float64 // share of the words
	for i := range results {
		var r partResult
		select {
		case r = <-results[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.err != nil {
			return r.err
		}
		for _, c := range r.chunks {
			if err := w.write(c); err != nil {
				return err
			}
			done += float64(c.occurrences()) / float64(v.Tokens())
		}
		if o.Progress != nil {
			o.Progress(int64(done*float64(v.TextBytes())), v.TextBytes())
		}
		<-tickets
	}
	return nil
}

type partResult struct {
	chunks []*chunk
	err    error
}

func (w *Writer) encodePart(part iter.Seq2[weigh.Term, error]) (r partResult) {
	e := newEncoder(w.lengths, func(c *chunk) error {
		done := *c
		r.chunks = append(r.chunks, &done)
		*c = chunk{}
		return nil
	})
	for t, err := range part {
		if err != nil {
			return partResult{err: err}
		}
		if err := e.add(t.Word, t.Docs, t.TFs); err != nil {
			return partResult{err: err}
		}
	}
	if err := e.end(); err != nil {
		return partResult{err: err}
	}
	if err := e.flush(); err != nil {
		return partResult{err: err}
	}
	return r
}
