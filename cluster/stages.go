package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Job names a job that can be done in parts.
type Job int

// The jobs, with the functions that compute the same on one machine.
const (
	Vocab   Job = iota // a vocabulary: cooccur.CountWords
	Cooccur            // a co-occurrence matrix: cooccur.Matrix
	Weigh              // the weights of all words: weigh.Weigh
	Index              // an index in shards: index.Build and index.JoinShard
	Places             // co-location patterns: coloc.Mine
)

var jobNames = choice.New[Job]("job", "vocab", "cooccur", "weigh", "index", "places")

func (j Job) String() string { return jobNames.Of(j) }

// MarshalText returns the name, for JSON.
func (j Job) MarshalText() ([]byte, error) { return jobNames.Text(j) }

// UnmarshalText is the inverse of MarshalText.
func (j *Job) UnmarshalText(name []byte) error { return jobNames.Set(j, string(name)) }

// ParseJob returns the job with the given name.
func ParseJob(name string) (Job, error) { return jobNames.Parse(name) }

func (j Job) kind() byte {
	switch j {
	case Vocab:
		return kindWords
	case Cooccur:
		return kindCells
	case Places:
		return kindClasses
	}
	return kindFiles
}

// newTask returns a unique name for a task.
func newTask() string {
	b := make([]byte, 8)
	rand.Read(b)
	host, _ := os.Hostname()
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(b))
}

// MapWords counts the words of a part of a corpus. It writes its records to out or, if spill is not
// nil, to a file there, whose ranges it names in out.
func MapWords(
	ctx context.Context, corpus *text.Corpus, share Share, opt cooccur.VocabularyOptions, spill *Spill,
	out io.Writer,
) (End, error) {
	if err := given.Context(ctx); err != nil {
		return End{}, err
	}
	opt.MinCount, opt.MaxSize, opt.KeepUnk = 0, 0, true // applied to the whole corpus, by MergeWords
	v, stats, err := cooccur.CountWords(ctx, corpus, opt)
	if err != nil {
		return End{}, err
	}
	w := newWriter(out, Vocab.String(), "map", newTask())
	w.end.Documents, w.end.Words, w.end.Share = stats.Documents, stats.Words, share
	if err := w.spillTo(ctx, spill, wordBuckets); err != nil {
		return End{}, err
	}
	defer w.abort()
	list := make([]count, v.Len())
	for id := range list {
		list[id] = count{v.Word(id), v.Count(id)}
	}
	if err := w.writeCounts(kindWords, list); err != nil {
		return End{}, err
	}
	err = w.Close()
	return w.end, err
}

// writeCounts writes counts, in any order, as records of buckets.
func (w *writer) writeCounts(kind byte, all []count) error {
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

// MapPairs counts the word pairs of a part of a corpus. Its output is like that of MapWords.
func MapPairs(
	ctx context.Context, corpus *text.Corpus, share Share, v *cooccur.Vocabulary, opt cooccur.Options,
	spill *Spill, out io.Writer,
) (End, error) {
	if err := given.Context(ctx); err != nil {
		return End{}, err
	}
	w := newWriter(out, Cooccur.String(), "map", newTask())
	if err := w.spillTo(ctx, spill, blockOf(int64(max(1, v.Len())-1))+1); err != nil {
		return End{}, err
	}
	defer w.abort()
	cells := &cellWriter{to: w}
	stats, err := cooccur.Partial(ctx, corpus, v, opt, cells)
	if err == nil {
		err = cells.flush()
	}
	if err != nil {
		return End{}, err
	}
	w.end.Share = share
	w.end.Documents, w.end.Words, w.end.Kept = stats.Documents, stats.Words, stats.Kept
	err = w.Close()
	return w.end, err
}

// cellWriter writes blocks of rows as records.
type cellWriter struct {
	to    *writer
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

// flush writes the current block.
func (c *cellWriter) flush() error {
	if len(c.cells.cols) == 0 {
		return nil
	}
	c.data = c.cells.appendTo(c.data[:0])
	c.cells.cols, c.cells.sums = c.cells.cols[:0], c.cells.sums[:0]
	return c.to.Write(kindCells, c.block, c.data)
}

// Reduce adds up records with the same key. Records must come in ascending order of keys. If they
// name files of a spill, the sums go to another file there.
func Reduce(ctx context.Context, job Job, in io.Reader, spill *Spill, out io.Writer) (End, error) {
	if err := given.Context(ctx); err != nil {
		return End{}, err
	}
	r := newReader(in, "standard input")
	w := newWriter(out, job.String(), "reduce", newTask())
	m := merger{
		job: job, spill: spill, streams: []stream{&lineStream{r: r, job: job}},
		passed: func(e *End) error { return w.pass(e) },
	}
	if err := w.spillTo(ctx, spill, 0); err != nil {
		return End{}, err
	}
	defer w.abort()
	w.bucket = func(int64) int64 { return m.bucket }
	err := m.each(ctx, func(key int64, a *adder) error { return w.Write(a.kind, key, a.payload()) })
	if err != nil {
		return End{}, err
	}
	w.end.ReadRecords, w.end.ReadSum = r.Records, r.Sum
	err = w.Close()
	return w.end, err
}
