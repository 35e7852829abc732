package thesisbench

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search"
)

// changedHere says beside the tables what our engines do otherwise than the thesis.
const changedHere = `What differs from the thesis' pseudocode. On cores, our WAND moves one list to
the pivot where Algorithm 4 moves all that are before it, and our MaxScore stops scoring a document
that cannot win any more where Algorithm 5 scores it in full. On a GPU both are as in the thesis,
but a block's first k answers are collected and sorted into a heap, where the thesis inserts them
one by one, and a launch merges up to 64 lists of answers, where the thesis merges two (the table
"4.5 Blocks of threads" has both). A partition ends when the ranges of all its lists do; in the
thesis it ends when the pivot, or the first essential list, is past the end of its own range. Only
the last point changes a result, and only where answers are lost anyway. The columns "as written"
are the pseudocode itself, on cores; its times are means of up to 3 runs of a query.`

// asWritten has what the thesis' pseudocode takes and finds, for a class of queries.
type asWritten struct {
	ms    float64 // one core
	exact float64 // recall of one core
	// Recall of adjusted partitions, 10 in a row, policy local, by size: of the exact result, and
	// of what the same algorithm finds on one core.
	cut, own [2]float64
}

// Bounds of the time of measuring a query as written.
const (
	writtenRuns   = 3
	writtenEnough = 200 * time.Millisecond
)

// asWritten measures an algorithm as written on all classes. It returns nil for an index with
// several segments, deleted documents or fields, which the plain algorithms do not know.
func (b *bench) asWritten(p part) ([]asWritten, error) {
	if !plain(b.s) {
		b.Say("not measured as written: the index has several segments, deleted documents or fields")
		return nil, nil
	}
	out := make([]asWritten, len(b.classes))
	for i, c := range b.classes {
		var times []float64
		for _, r := range c.queries {
			m, err := newPaperMatch(b.s, r, b.K)
			if err != nil {
				return nil, err
			}
			m.mode = p.mode
			begin, n := time.Now(), 0
			for n < min(b.Runs, writtenRuns) && (n == 0 || time.Since(begin) < writtenEnough) {
				m.sequential(p.algorithm)
				n++
			}
			times = append(times, time.Since(begin).Seconds()*1e3/float64(n))
			if err := b.ctx.Err(); err != nil {
				return nil, err
			}
		}
		all, err := b.writtenAnswers(c, p)
		if err != nil {
			return nil, err
		}
		w := asWritten{ms: trimmed(times)}
		for _, a := range all {
			n := float64(len(all))
			w.exact += a.exact / n
			for j := range w.cut {
				w.cut[j], w.own[j] = w.cut[j]+a.cut[j]/n, w.own[j]+a.own[j]/n
			}
		}
		out[i] = w
	}
	return out, nil
}

// writtenAnswers returns the recall of each query of a class, with all threads.
func (b *bench) writtenAnswers(c class, p part) ([]asWritten, error) {
	exact := make([]*search.Result, len(c.queries))
	for i, r := range c.queries {
		var err error
		if exact[i], err = b.exactOf(r, p.mode); err != nil {
			return nil, err
		}
	}
	out, errs := make([]asWritten, len(c.queries)), make([]error, len(c.queries))
	var next atomic.Int64
	par.Do(min(b.Threads, len(c.queries)), func(int) {
		for i := int(next.Add(1)) - 1; i < len(c.queries) && b.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			m, err := newPaperMatch(b.s, c.queries[i], b.K)
			if errs[i] = err; err != nil {
				continue
			}
			m.mode = p.mode
			alone := m.sequential(p.algorithm)
			out[i].exact = search.Recall(alone, exact[i].Hits)
			for j, size := range thesisSizes {
				hits := m.parallel(p.algorithm, search.Adjusted, size, 10)
				out[i].cut[j] = search.Recall(hits, exact[i].Hits)
				out[i].own[j] = search.Recall(hits, alone)
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, b.ctx.Err()
}

// cell returns a cell of what was measured as written, which is empty if nothing was.
func cell(written []asWritten, class int, of func(w asWritten) string) string {
	if written == nil {
		return ""
	}
	return of(written[class])
}

// writtenRecall makes a second form of table 5.5, 5.8, 5.11 or 5.14.
func (b *bench) writtenRecall(s section, written []asWritten) report.Table {
	had := thesisSingle[s.part]
	t := report.Table{Name: "table-" + s.recall + "-as-written",
		Title: fmt.Sprintf("Table %s: recall of %v with %v as written, adjusted partitions, ten in a row, policy local: of the exact result, and of what the algorithm as written finds on one core, which the thesis compares with",
			s.recall, s.algorithm, s.mode),
		Header: []string{"size"}}
	for _, c := range b.classes {
		t.Header = append(t.Header, c.name+": of exact", "of one core", "thesis")
	}
	for j, size := range thesisSizes {
		line := []string{strconv.Itoa(size)}
		for i := range b.classes {
			line = append(line, cell(written, i, func(w asWritten) string { return recall(w.cut[j]) }),
				cell(written, i, func(w asWritten) string { return recall(w.own[j]) }), recall(had.recall[0][i][0]))
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
