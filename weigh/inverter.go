package weigh

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/text"
)

// inverter is one worker of Invert: it counts the words of its batches and
// sorts them into a run whenever its share of the memory is full.
type inverter struct {
	analyzer text.Analyzer
	budget   int64
	tempDir  string

	table  *table
	log    pairLog
	marks  []mark // batches in the log
	tokens int64
	bytes  int64
	tok    text.Tokens

	docs []docBatch
	file *spillFile
	runs []*run
	post []uint64 // for the next run to be spilled
}

func newInverter(o *InvertOptions) *inverter {
	return &inverter{
		analyzer: o.Analyzer,
		budget:   o.Memory / int64(o.Threads),
		tempDir:  o.TempDir,
		table:    newTable(),
	}
}

// add counts the words of a batch.
func (w *inverter) add(b *text.Batch) error {
	d := newDocBatch(b.Seq, len(b.Docs))
	m := w.log.mark(b.Seq, 0)
	for i := range b.Docs {
		doc := &b.Docs[i]
		if err := w.analyzer.Analyze(doc.Text, &w.tok); err != nil {
			return fmt.Errorf("document %s: %w", doc.ID, err)
		}
		w.bytes += int64(len(doc.Text))
		w.tokens += int64(len(w.tok.Words))
		d.add(doc.ID, len(w.tok.Words))
		w.table.count(&w.tok)
		w.log.add(w.table.pairs)
		m.docs++
		if w.full() {
			w.marks = append(w.marks, m)
			if err := w.spill(); err != nil {
				return err
			}
			m = w.log.mark(b.Seq, i+1)
		}
	}
	if m.docs > 0 {
		w.marks = append(w.marks, m)
	}
	w.docs = append(w.docs, d)
	return nil
}

// full says whether sorting what is held now would use up the worker's memory.
func (w *inverter) full() bool {
	const perWord = 52 // of sortRun, besides the table
	t := w.table
	need := t.bytes() + w.log.bytes() + 8*int64(w.log.pairs) + perWord*int64(t.len())
	if t.len() > t.limit/8*7 { // about to be doubled
		need += 2 * slotBytes * int64(len(t.slots))
	}
	return need > w.budget || w.log.pairs > math.MaxInt32
}

// spill sorts what is held into a run on disk and starts anew.
func (w *inverter) spill() error {
	if w.file == nil {
		f, err := newSpillFile(w.tempDir)
		if err != nil {
			return err
		}
		w.file = f
	}
	r := sortRun(w.table, &w.log, w.marks, nil, w.post)
	w.post = r.post
	r, err := w.file.write(r)
	if err != nil {
		return err
	}
	r.marks = w.marks
	w.runs = append(w.runs, r)

	w.marks = nil
	w.log.reset()
	if w.table.bytes() > w.budget/2 {
		w.table = newTable() // a huge document made it so large
	} else {
		w.table.reset()
	}
	return nil
}

// finish is called when the number of each batch's first document is known.
// What is still held becomes a run in memory.
func (w *inverter) finish(base []uint32) {
	for _, r := range w.runs {
		for _, m := range r.marks {
			for i := range m.docs {
				r.docs = append(r.docs, base[m.seq]+uint32(m.first+i))
			}
		}
		r.marks = nil
	}
	w.post = nil
	if len(w.marks) > 0 {
		w.runs = append(w.runs, sortRun(w.table, &w.log, w.marks, base, nil))
	}
	w.table, w.log, w.marks = nil, pairLog{}, nil
}

func (w *inverter) close() {
	if w.file != nil {
		w.file.f.Close()
	}
}
