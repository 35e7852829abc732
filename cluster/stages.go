package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// Job is a job that can be done in parts.
type Job string

// The jobs.
const (
	Vocab   Job = "vocab"   // cooccur.CountWords
	Cooccur Job = "cooccur" // cooccur.Matrix
	Weigh   Job = "weigh"   // weigh.Weigh
	Index   Job = "index"   // index.Build and index.JoinShard
	Places  Job = "places"  // coloc.Mine
)

// ParseJob knows the jobs that count words: the others have commands of their own.
func ParseJob(name string) (Job, error) {
	if job := Job(name); job == Vocab || job == Cooccur {
		return job, nil
	}
	return "", fmt.Errorf("unknown job %q: want vocab, cooccur, weigh, index or places", name)
}

func (j Job) kind() byte {
	switch j {
	case Vocab:
		return Words
	case Cooccur:
		return Cells
	case Places:
		return Classes
	}
	return Files
}

// newTask is a name that no other task has.
func newTask() string {
	b := make([]byte, 8)
	rand.Read(b)
	host, _ := os.Hostname()
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(b))
}

// MapWords counts the words of a part of a corpus.
func MapWords(ctx context.Context, corpus *text.Corpus, opt cooccur.VocabularyOptions, out io.Writer) (End, error) {
	opt.MinCount, opt.MaxSize, opt.KeepUnk = 0, 0, true // of the whole, which Merge knows
	v, stats, err := cooccur.CountWords(ctx, corpus, opt)
	if err != nil {
		return End{}, err
	}
	w := NewWriter(out, string(Vocab), "map", newTask())
	w.end.Documents, w.end.Words = stats.Documents, stats.Words
	list := make([]count, v.Len())
	for id := range list {
		list[id] = count{v.Word(id), v.Count(id)}
	}
	if err := w.writeCounts(Words, list); err != nil {
		return End{}, err
	}
	err = w.Close()
	return w.end, err
}

// writeCounts writes counts, which are in any order, by buckets.
func (w *Writer) writeCounts(kind byte, all []count) error {
	buckets := make([][]count, wordBuckets)
	for _, c := range all {
		b := bucketOf(c.word)
		buckets[b] = append(buckets[b], c)
	}
	var raw []byte
	for key, list := range buckets {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b count) int { return bytes.Compare(a.word, b.word) })
		raw = appendCounts(raw[:0], list)
		if err := w.Write(kind, int64(key), raw); err != nil {
			return err
		}
	}
	return nil
}

// MapPairs counts the pairs of words of a part of a corpus.
func MapPairs(
	ctx context.Context, corpus *text.Corpus, v *cooccur.Vocabulary, opt cooccur.Options, out io.Writer,
) (End, error) {
	w := NewWriter(out, string(Cooccur), "map", newTask())
	cells := &cellWriter{to: w}
	stats, err := cooccur.Partial(ctx, corpus, v, opt, cells)
	if err == nil {
		err = cells.flush()
	}
	if err != nil {
		return End{}, err
	}
	w.end.Documents, w.end.Words, w.end.Kept = stats.Documents, stats.Words, stats.Kept
	err = w.Close()
	return w.end, err
}

// cellWriter writes blocks of rows as records.
type cellWriter struct {
	to    *Writer
	block int64
	cells cells
	data  []byte
}

// Rows implements cooccur.Sink.
func (c *cellWriter) Rows(r *cooccur.Rows) error {
	for i := range r.Ends {
		row := int64(r.First + i)
		if block := blockOf(row); block != c.block {
			if err := c.flush(); err != nil {
				return err
			}
			c.block = block
		}
		first, _ := blockRows(c.block)
		cols, values := r.Row(i)
		for k, col := range cols {
			c.cells.cols = append(c.cells.cols, uint64(row-first)<<32|uint64(col))
			c.cells.sums = append(c.cells.sums, uint64(values[k]))
		}
	}
	return nil
}

// flush writes the block at hand.
func (c *cellWriter) flush() error {
	if len(c.cells.cols) == 0 {
		return nil
	}
	c.data = c.cells.appendTo(c.data[:0])
	c.cells.cols, c.cells.sums = c.cells.cols[:0], c.cells.sums[:0]
	return c.to.Write(Cells, c.block, c.data)
}

// Reduce adds up records with the same key, which come by rising key.
func Reduce(ctx context.Context, job Job, in io.Reader, out io.Writer) (End, error) {
	r := NewReader(in, "standard input")
	w := NewWriter(out, string(job), "reduce", newTask())
	m := merger{job: job, streams: []*stream{{r: r}}, passed: func(e *End) error { return w.pass(e) }}
	err := m.each(ctx, func(key int64, a *adder) error { return w.Write(a.kind, key, a.payload()) })
	if err != nil {
		return End{}, err
	}
	w.end.ReadRecords, w.end.ReadSum = r.Records, r.Sum
	err = w.Close()
	return w.end, err
}

// stream is one of several that are merged.
type stream struct {
	r     *Reader
	now   Record
	next  int64 // the least key that may come
	ended bool
}

func (s *stream) step(job Job) error {
	now, err := s.r.Next()
	switch {
	case errors.Is(err, io.EOF):
		s.ended = true
		return nil
	case err != nil:
		return err
	case now.Kind != job.kind():
		return s.r.fault(fmt.Errorf("a record %c, which is not of job %s", now.Kind, job))
	case now.Key < s.next:
		return s.r.fault(fmt.Errorf("key %d comes after %d: want records by rising key", now.Key, s.next))
	}
	s.now, s.next = now, now.Key
	return nil
}

// merger merges streams of records by rising key.
type merger struct {
	job     Job
	streams []*stream
	passed  func(*End) error // is told of ends
}

// each calls fn with the sum of all records of a key, for each key. Streams are few, so the least
// key is found by looking at all.
func (m *merger) each(ctx context.Context, fn func(key int64, a *adder) error) error {
	for _, s := range m.streams {
		if err := s.step(m.job); err != nil {
			return err
		}
	}
	var a adder
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key, any := int64(0), false
		for _, s := range m.streams {
			if !s.ended && (!any || s.now.Key < key) {
				key, any = s.now.Key, true
			}
		}
		if !any {
			break
		}
		a.begin(m.job.kind())
		for _, s := range m.streams {
			for !s.ended && s.now.Key == key {
				if err := a.add(&s.now); err != nil {
					return s.r.fault(err)
				}
				if err := s.step(m.job); err != nil {
					return err
				}
			}
		}
		if err := fn(key, &a); err != nil {
			return err
		}
	}
	for _, s := range m.streams {
		for i := range s.r.Ends {
			if err := m.passed(&s.r.Ends[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
