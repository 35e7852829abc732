package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/given"
)

// Input is a named stream to merge.
type Input struct {
	Name string // what error messages call the stream, such as its file's name
	io.Reader
}

// Totals adds up the parts of a corpus.
type Totals struct {
	Tasks     int   `json:"tasks"`          // number of maps
	Documents int64 `json:"documents"`      // number of documents, or of points in job places
	Words     int64 `json:"words"`          // all tokens; 0 for job places
	Kept      int64 `json:"kept,omitempty"` // tokens in the vocabulary; only for job cooccur
}

// tally compares what stages report to have read and written.
type tally struct {
	job               Job
	tasks             map[string]bool
	maps              Totals
	mapped, read      half // records that maps wrote, and that reduces read
	reduced           half // records that reduces wrote
	reduces, mapTasks int
	points            *PointMap
	of                int          // number of parts of the files, if maps know it
	parts             map[int]bool // parts that were read
}

// half is one side of a transfer: the number of records and their checksum.
type half struct {
	records uint64
	sum     Sum
}

func (h *half) add(records uint64, sum Sum) { h.records, h.sum = h.records+records, h.sum+sum }

func (t *tally) end(e *End) error {
	if e.Job != t.job.String() {
		return fmt.Errorf("a stream of job %q among those of job %s: merge the output of one job only", e.Job, t.job)
	}
	if t.tasks[e.Task] {
		return fmt.Errorf("task %s comes twice: remove one of its outputs, as its records would count twice", e.Task)
	}
	t.tasks[e.Task] = true
	switch e.Stage {
	case "map":
		t.mapTasks++
		t.mapped.add(e.Records, e.Sum)
		t.maps.Tasks++
		t.maps.Documents += e.Documents
		t.maps.Words += e.Words
		t.maps.Kept += e.Kept
		if err := t.share(&e.Share); err != nil {
			return err
		}
		if t.points == nil {
			t.points = e.Map
		}
		if !reflect.DeepEqual(t.points, e.Map) {
			return errors.New("parts were made from different points: run all of them on the same files, with the same flags")
		}
	case "reduce":
		t.reduces++
		t.read.add(e.ReadRecords, e.ReadSum)
		t.reduced.add(e.Records, e.Sum)
	default:
		return fmt.Errorf("unknown stage %q of a stream: want map or reduce", e.Stage)
	}
	return nil
}

// share records which parts a map has read.
func (t *tally) share(s *Share) error {
	if t.parts == nil {
		t.parts, t.of = map[int]bool{}, s.Of
	}
	if s.Of != t.of {
		return fmt.Errorf("a map of %d parts among maps of %d: merge the output of one job only", s.Of, t.of)
	}
	for _, n := range s.Parts {
		if n < 0 || n >= t.of || t.parts[n] {
			return fmt.Errorf("part %d of %d comes twice or is out of range: its words would count twice", n, t.of)
		}
		t.parts[n] = true
	}
	return nil
}

// check compares the reports of stages with the records that were read here.
func (t *tally) check(got half) error {
	differ := func(what string, want, got half) error {
		if want == got {
			return nil
		}
		return fmt.Errorf("%s: %d records with checksum %016x were written, %d with %016x read: "+
			"the engine lost, changed or repeated some",
			what, want.records, uint64(want.sum), got.records, uint64(got.sum))
	}
	switch {
	case t.mapTasks == 0:
		return errors.New("no stream has the last record of a map: parts are missing")
	case t.of > 0 && len(t.parts) != t.of:
		return fmt.Errorf("only %d parts of %d: part %d is missing", len(t.parts), t.of, t.absent())
	case t.reduces == 0:
		return differ("between maps and merge", t.mapped, got)
	}
	return errors.Join(
		differ("between maps and reduces", t.mapped, t.read), differ("between reduces and merge", t.reduced, got))
}

// absent returns the first part that no map has read.
func (t *tally) absent() (n int) {
	for t.parts[n] {
		n++
	}
	return n
}

// merge calls fn with the sum of each key, in ascending order of keys, and checks that nothing is
// missing.
func merge(
	ctx context.Context, job Job, parts []Input, spill *Spill, fn func(key int64, a *adder) error,
) (Totals, error) {
	t, err := mergeTally(ctx, job, parts, spill, fn)
	if err != nil {
		return Totals{}, err
	}
	return t.maps, nil
}

func mergeTally(
	ctx context.Context, job Job, parts []Input, spill *Spill, fn func(key int64, a *adder) error,
) (*tally, error) {
	t := &tally{job: job, tasks: map[string]bool{}}
	m := merger{job: job, spill: spill, passed: t.end}
	var readers []*reader
	for _, p := range parts {
		r := newReader(p, p.Name)
		readers = append(readers, r)
		m.streams = append(m.streams, &lineStream{r: r, job: job})
	}
	if err := m.each(ctx, fn); err != nil {
		return nil, err
	}
	var got half
	for _, r := range readers {
		got.add(r.Records, r.Sum)
	}
	return t, t.check(got)
}

// MergeWords combines the streams of a corpus's parts into its vocabulary. The spill is that of the
// earlier stages, or nil.
func MergeWords(
	ctx context.Context, parts []Input, spill *Spill, opt cooccur.VocabularyOptions,
) (*cooccur.Vocabulary, cooccur.VocabularyStats, error) {
	if err := given.Context(ctx); err != nil {
		return nil, cooccur.VocabularyStats{}, err
	}
	var totals Totals
	var failed error
	counts := iter.Seq2[[]byte, uint64](func(yield func([]byte, uint64) bool) {
		enough := errors.New("enough")
		totals, failed = merge(ctx, Vocab, parts, spill, func(_ int64, a *adder) error {
			for _, c := range a.words {
				if !yield(c.word, c.n) {
					return enough
				}
			}
			return nil
		})
	})
	v, stats, err := cooccur.CountsOf(counts, opt)
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, stats, err
	}
	stats.Documents = totals.Documents
	if stats.Words != totals.Words {
		return nil, stats, fmt.Errorf("the counts of all words add up to %d, but the parts have %d words",
			stats.Words, totals.Words)
	}
	return v, stats, nil
}

// MergePairs combines the streams of a corpus's parts into its co-occurrence matrix, which it
// writes to sink. If ofCorpus says that the vocabulary is that of the corpus, all occurrences of
// its words must be in the parts. The spill is that of the earlier stages, or nil.
func MergePairs(
	ctx context.Context, parts []Input, spill *Spill, v *cooccur.Vocabulary, ofCorpus bool, opt cooccur.Options,
	sink cooccur.Sink,
) (cooccur.Stats, error) {
	if err := given.Context(ctx); err != nil {
		return cooccur.Stats{}, err
	}
	one, err := cooccur.Units(opt)
	if err != nil {
		return cooccur.Stats{}, err
	}
	stats := cooccur.Stats{}
	rows, next := &cooccur.Rows{}, 0
	upTo := func(row int) error { // rows without cells, and the pending ones
		for next < row {
			rows.Ends = append(rows.Ends, len(rows.Cols))
			next++
		}
		if len(rows.Ends) == 0 || len(rows.Cols) < 1<<14 && row < v.Len() && len(rows.Ends) < 1<<12 {
			return nil
		}
		err := sink.Rows(rows)
		*rows = cooccur.Rows{First: next, Ends: rows.Ends[:0], Cols: rows.Cols[:0], Values: rows.Values[:0]}
		return err
	}
	totals, err := merge(ctx, Cooccur, parts, spill, func(key int64, a *adder) error {
		first, _ := blockRows(key)
		for i, cell := range a.cells.cols {
			row, col := first+int64(cell>>32), uint32(cell)
			if row >= int64(v.Len()) || int64(col) >= int64(v.Len()) {
				return fmt.Errorf("row %d and column %d of a vocabulary of %d words: want the vocabulary that the maps had",
					row, col, v.Len())
			}
			if int(row) > next || i == 0 {
				if err := upTo(int(row)); err != nil {
					return err
				}
			}
			rows.Cols = append(rows.Cols, col)
			rows.Values = append(rows.Values, float64(a.cells.sums[i])/one)
		}
		stats.Entries += int64(len(a.cells.cols))
		return nil
	})
	if err == nil {
		err = upTo(v.Len())
	}
	if err != nil {
		return stats, err
	}
	if len(rows.Ends) > 0 {
		if err := sink.Rows(rows); err != nil {
			return stats, err
		}
	}
	if total := v.Total(); ofCorpus && uint64(totals.Kept) != total {
		return stats, fmt.Errorf("the parts have %d words of the vocabulary, whose counts add up to %d: "+
			"parts are missing, or it is of another corpus (cluster.MergePairs.ofCorpus)", totals.Kept, total)
	}
	stats.Documents, stats.Words, stats.Kept = totals.Documents, totals.Words, totals.Kept
	return stats, nil
}
