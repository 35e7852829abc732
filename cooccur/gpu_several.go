package cooccur

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/text"
)

// gpus are several devices that share the documents of a corpus. Each counts those that it gets;
// the host adds the counts up. Counts of words and sums of weights are whole numbers, so the result
// does not depend on which device got a document.
type gpus []*GPU

// openGPUs opens devices. A device that is named again is opened with a context of its own.
func openGPUs(first engine.Device, also []engine.Device) (all gpus, err error) {
	for _, d := range gpu.Several(first, also) {
		s, err := d.OpenSession(gpuStreams)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all = append(all, useGPU(s, d.Memory))
	}
	return all, nil
}

func (all gpus) close() error {
	var errs []error
	for _, g := range all {
		errs = append(errs, g.Close())
	}
	return errors.Join(errs...)
}

// onSeveral opens the devices and calls job with them.
func onSeveral(kind engine.Kind, first engine.Device, also []engine.Device, job func(gpus) error) (err error) {
	if err := gpu.CheckSeveral(kind, also); err != nil {
		return err
	}
	all, err := openGPUs(first, also)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, all.close()) }()
	return job(all)
}

// share divides a corpus into a part for each device, batch by batch, and calls job with each part,
// all at the same time. The first error ends all jobs.
func (all gpus) share(ctx context.Context, corpus *text.Corpus, job func(ctx context.Context, i int,
	part *text.Corpus) error) error {
	queues := make([]chan []text.Document, len(all))
	for i := range queues {
		queues[i] = make(chan []text.Document, 2)
	}
	var failed error // of reading; set before the queues are closed
	return gpu.Together(ctx, len(all)+1, func(ctx context.Context, i int) error {
		if i < len(all) {
			return job(ctx, i, &text.Corpus{Options: text.Options{Threads: corpus.Options.Threads,
				Memory: corpus.Options.Memory, MaxDocument: corpus.Options.MaxDocument, Log: corpus.Options.Log},
				Source: func(context.Context) iter.Seq2[[]text.Document, error] {
					return func(yield func([]text.Document, error) bool) {
						for docs := range queues[i] {
							if !yield(docs, nil) {
								return
							}
						}
						if failed != nil {
							yield(nil, failed)
						}
					}
				}})
		}
		failed = corpus.Batches(ctx, func(_ int, b *text.Batch) error {
			docs := make([]text.Document, len(b.Docs)) // a batch is reused, a part's documents must stay
			for i := range b.Docs {
				docs[i] = text.Document{ID: b.Docs[i].ID, Text: slices.Clone(b.Docs[i].Text)}
			}
			select {
			case queues[b.Seq%len(all)] <- docs:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		for _, queue := range queues {
			close(queue)
		}
		return failed
	})
}

// threads returns the threads of each device's job.
func (all gpus) threads(n int) int {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return max(1, n/len(all))
}

// countWords is CountWords: the counts of all devices are added up.
func (all gpus) countWords(ctx context.Context, corpus *text.Corpus, opt VocabularyOptions) (*Vocabulary, VocabularyStats, error) {
	parts, stats := make([]*Vocabulary, len(all)), make([]VocabularyStats, len(all))
	err := all.share(ctx, corpus, func(ctx context.Context, i int, part *text.Corpus) (err error) {
		parts[i], stats[i], err = all[i].CountWords(ctx, part, VocabularyOptions{Analyzer: opt.Analyzer,
			KeepUnk: opt.KeepUnk, Threads: all.threads(opt.Threads), Memory: opt.Memory})
		return err
	})
	if err != nil {
		return nil, VocabularyStats{}, err
	}
	v, sum, err := CountsOf(func(yield func([]byte, uint64) bool) {
		for _, part := range parts {
			for id := range part.Len() {
				if !yield(part.Word(id), part.Count(id)) {
					return
				}
			}
		}
	}, opt)
	for _, s := range stats {
		sum.Documents += s.Documents
	}
	sum.Engine = engine.GPU
	return v, sum, err
}

// matrix is Matrix: each device makes a matrix of its documents in whole numbers of units, and the
// rows are added up as they come.
func (all gpus) matrix(ctx context.Context, corpus *text.Corpus, v *Vocabulary, opt Options, sink Sink) (Stats, error) {
	opt.Engine = engine.GPU
	whole, err := partialJob(v, opt) // refuses what cannot be made in parts
	if err != nil {
		return Stats{}, err
	}
	if opt.Method == Paper {
		return Stats{}, errors.New("the paper's method runs on one device")
	}
	merge := newRowAdder(len(all), v.Len(), whole.one, sink)
	part := opt
	part.Threads, part.Memory = all.threads(opt.Threads), whole.Memory/int64(len(all))
	stats := make([]Stats, len(all))
	added := make(chan error, 1)
	err = all.share(ctx, corpus, func(ctx context.Context, i int, docs *text.Corpus) error {
		if i == 0 { // ends when all rows were passed on, or a device failed
			go func() { added <- merge.run(ctx) }()
		}
		j, err := newJob(v, part)
		if err != nil {
			return err
		}
		j.one = 1
		err = all[i].matrix(ctx, docs, j, wholeNumbers{merge.from[i]})
		stats[i] = j.stats
		return err
	})
	if e := <-added; err == nil || errors.Is(err, errAdder) {
		err = e
	}
	sum := Stats{Engine: engine.GPU, Entries: merge.entries}
	for _, s := range stats {
		sum.Documents, sum.Words, sum.Kept, sum.Runs = sum.Documents+s.Documents, sum.Words+s.Words,
			sum.Kept+s.Kept, sum.Runs+s.Runs
	}
	return sum, err
}

// make is Make. The corpus is read twice.
func (all gpus) make(ctx context.Context, corpus *text.Corpus, vocabulary VocabularyOptions,
	opt Options, begin func(*Vocabulary) (Sink, error)) (vs VocabularyStats, stats Stats, err error) {
	if _, err := partialJob(new(Vocabulary), opt); err != nil { // before anything is read
		return vs, stats, err
	}
	v, vs, err := all.countWords(ctx, corpus, vocabulary)
	if err != nil {
		return vs, stats, err
	}
	sink, err := begin(v)
	if err != nil {
		return vs, stats, err
	}
	stats, err = all.matrix(ctx, corpus, v, opt, sink)
	return vs, stats, err
}

// rowAdder adds the rows of partial matrices and passes the sums on.
type rowAdder struct {
	from    []*rowSource
	rows    int
	one     float64 // units in 1
	sink    Sink
	out     Rows
	entries int64
}

// rowSource is the sink of one partial matrix. It lends the rows to the adder.
type rowSource struct {
	lent    chan *Rows
	back    chan struct{}
	stopped chan struct{} // closed when the adder takes no more

	now   *Rows // being added; of the adder
	start int   // index of the row of now to be added next
}

var errAdder = errors.New("the rows of other devices could not be added")

// Rows lends rows until the adder is done with them.
func (s *rowSource) Rows(r *Rows) error {
	if len(r.Ends) == 0 {
		return nil
	}
	select {
	case s.lent <- r:
		<-s.back
		return nil
	case <-s.stopped:
		return errAdder
	}
}

func newRowAdder(parts, rows int, one float64, sink Sink) *rowAdder {
	a := &rowAdder{rows: rows, one: one, sink: sink}
	stopped := make(chan struct{})
	for range parts {
		a.from = append(a.from, &rowSource{lent: make(chan *Rows), back: make(chan struct{}), stopped: stopped})
	}
	return a
}

// addedAtOnce is the number of entries that are passed on together.
const addedAtOnce = 1 << 16

// run adds all rows. However it ends, it gives back what it was lent.
func (a *rowAdder) run(ctx context.Context) (err error) {
	defer func() {
		close(a.from[0].stopped)
		for _, s := range a.from {
			s.release()
		}
	}()
	for row := range a.rows {
		for _, s := range a.from {
			if err := s.next(ctx); err != nil {
				return err
			}
		}
		if err := a.add(row); err != nil {
			return err
		}
		if len(a.out.Cols) >= addedAtOnce || row+1 == a.rows {
			if err := a.sink.Rows(&a.out); err != nil {
				return err
			}
			a.entries += int64(len(a.out.Cols))
			a.out = Rows{First: row + 1, Ends: a.out.Ends[:0], Cols: a.out.Cols[:0], Values: a.out.Values[:0]}
		}
	}
	return nil
}

// next waits for rows if none are left.
func (s *rowSource) next(ctx context.Context) error {
	for s.now == nil || s.start == len(s.now.Ends) {
		s.release()
		select {
		case s.now = <-s.lent:
			s.start = 0
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (s *rowSource) release() {
	if s.now != nil {
		s.now = nil
		s.back <- struct{}{}
	}
}

// add adds up one row of all parts.
func (a *rowAdder) add(row int) error {
	var cols [][]uint32
	var values [][]float64
	for _, s := range a.from {
		if s.now.First+s.start != row {
			return fmt.Errorf("row %d came where row %d was expected", s.now.First+s.start, row)
		}
		c, v := s.now.Row(s.start)
		cols, values = append(cols, c), append(values, v)
		s.start++
	}
	for {
		least, found := uint32(0), false
		for _, c := range cols {
			if len(c) > 0 && (!found || c[0] < least) {
				least, found = c[0], true
			}
		}
		if !found {
			break
		}
		sum := 0.0
		for i, c := range cols {
			if len(c) > 0 && c[0] == least {
				sum += values[i][0]
				cols[i], values[i] = c[1:], values[i][1:]
			}
		}
		if sum >= 1<<53 {
			return fmt.Errorf("a sum of %g units: want sums below 2^53 on several devices", sum)
		}
		a.out.Cols, a.out.Values = append(a.out.Cols, least), append(a.out.Values, sum/a.one)
	}
	a.out.Ends = append(a.out.Ends, len(a.out.Cols))
	return nil
}
