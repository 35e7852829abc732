package weigh

import (
	"fmt"
	"math"

	"github.com/collocate/collocate/text"
)

// inverter is one worker of Invert. It counts the words of its batches, and sorts the counts into a
// run whenever its share of the memory is full.
type inverter struct {
	analyzer text.Analyzer
	budget   int64
	maxWord  int
	tempDir  string

	table  *table
	log    pairLog
	places *positionLog // nil without positions
	marks  []mark       // where the batches are in the log
	tokens int64
	bytes  int64

	// Documents are counted one behind: tok has the words of a document that was just analyzed,
	// waiting those of the document before it. While waiting is counted, the slots for the first
	// words of tok are being prefetched.
	tok         text.Tokens
	waiting     text.Tokens
	tokKeys     *[lookahead]key // keys of the first words of tok
	waitingKeys *[lookahead]key // keys of the first words of waiting
	keysTable   *table          // the table that waitingKeys belong to

	docs *docStore
	file *spillFile
	runs []*run
	post []uint32 // memory for the postings of the next run that is spilled
}

func newInverter(o *InvertOptions, docs *docStore) *inverter {
	w := &inverter{
		analyzer:    o.Analyzer,
		docs:        docs,
		maxWord:     o.MaxWord,
		budget:      o.Memory / 8 * tableShare / int64(o.Threads),
		tempDir:     o.TempDir,
		table:       newTable(),
		waitingKeys: new([lookahead]key),
		tokKeys:     new([lookahead]key),
	}
	if o.Positions {
		w.places = &positionLog{}
	}
	w.table.placed = o.Positions
	return w
}

// mark returns the current ends of the logs, where the documents of batch seq from number first on
// will be added.
func (w *inverter) mark(seq, first int) mark {
	m := w.log.mark(seq, first)
	if w.places != nil {
		w.places.mark(&m)
	}
	return m
}

// add counts the words of a batch.
func (w *inverter) add(b *text.Batch) error {
	d := newDocBatch(b.Seq, len(b.Docs))
	m := w.mark(b.Seq, 0)
	for i := range b.Docs {
		doc := &b.Docs[i]
		w.tok.WantSource, w.tok.At = w.places != nil && len(doc.Breaks) > 0, w.tok.At[:0]
		if err := w.analyzer.Analyze(doc.Text, &w.tok); err != nil {
			return fmt.Errorf("%s: %w", b.Where(i), err)
		}
		if w.maxWord > 0 && len(w.tok.Bytes) > w.maxWord {
			if err := checkWords(&w.tok, w.maxWord); err != nil {
				return fmt.Errorf("%s: %w", b.Where(i), err)
			}
		}
		w.bytes += int64(len(doc.Text))
		length := w.tok.Total()
		w.tokens += int64(length)
		d.add(doc.ID, length)
		w.table.keysOf(w.tokKeys, w.tok.Bytes, w.tok.Words)
		made := w.table
		if i > 0 {
			if err := w.count(&b.Docs[i-1], &m); err != nil {
				return err
			}
		}
		w.tok.Exchange(&w.waiting)
		w.waitingKeys, w.tokKeys, w.keysTable = w.tokKeys, w.waitingKeys, made
	}
	if n := len(b.Docs); n > 0 {
		if err := w.count(&b.Docs[n-1], &m); err != nil {
			return err
		}
	}
	w.end(&m)
	return w.docs.add(d)
}

// count counts the words of the waiting document.
func (w *inverter) count(doc *text.Document, m *mark) error {
	tok := &w.waiting
	if w.log.pairs > 0 && w.table.len()+len(tok.Words) > maxWords {
		if err := w.spill(m); err != nil {
			return err
		}
	}
	if w.keysTable != w.table {
		w.table.keysOf(w.waitingKeys, tok.Bytes, tok.Words)
	}
	if len(tok.Counts) > 0 && w.places == nil {
		w.log.add(w.table.weigh(tok, w.waitingKeys))
	} else if w.places == nil && len(tok.Words) < bigCount {
		w.log.took(countInto(w.table, tok, w.waitingKeys, w.log.room(len(tok.Words))))
	} else {
		pairs := w.table.count(tok, w.waitingKeys)
		w.log.add(pairs)
		if w.places != nil {
			w.places.add(pairs, w.table.places, tok, doc.Breaks)
		}
	}
	if w.table.len() > maxWords {
		return fmt.Errorf("document %s: more than %d different words", doc.ID, maxWords)
	}
	m.docs++
	if len(doc.Text) > hugeDocument {
		tok.Trim()
		w.table.pairs, w.table.places = nil, nil
	}
	if w.full() {
		return w.spill(m)
	}
	return nil
}

// hugeDocument is the size in bytes from which a document's buffers are freed after it is counted.
const hugeDocument = 1 << 20

// checkWords returns an error if a word is too long.
func checkWords(tok *text.Tokens, most int) error {
	for _, s := range tok.Words {
		if n := int(s.End - s.Start); n > most {
			return fmt.Errorf("a word of %d bytes: want at most %d", n, most)
		}
	}
	return nil
}

// full reports whether the table and the logs must be sorted now: because sorting them would use up
// the worker's memory, or because a run cannot hold more.
func (w *inverter) full() bool {
	if w.places != nil && w.places.full() || w.log.pairs > math.MaxInt32 || w.table.stamp == maxDocs {
		return true
	}
	need := w.need()
	// Documents of few distinct words fill the logs first. Kept for the next run, this memory would
	// leave it none for words, so that each document became a run.
	if need > w.budget && w.kept() > w.budget/8 {
		w.log.free, w.post = nil, nil
		if w.places != nil {
			w.places.release()
		}
		need = w.need()
	}
	return need > w.budget
}

// kept returns the bytes of memory that the run before used, and this one does not.
func (w *inverter) kept() int64 {
	kept := 4 * (int64(len(w.log.free))*chunkLen + int64(max(0, cap(w.post)-w.log.pairs)))
	if w.places != nil {
		kept += 2 * int64(len(w.places.free)) * positionChunk
	}
	return kept
}

// need returns the memory in bytes that sorting the table and the logs would take, with what is
// kept for the next run.
func (w *inverter) need() int64 {
	const perWord = 48 // bytes that sortRun needs besides the table, the postings and the words
	t := w.table
	need := t.bytes() + w.log.bytes() + 4*int64(max(w.log.pairs, cap(w.post))) + int64(len(t.words)) +
		perWord*int64(t.len())
	if t.len() > t.limit/8*7 { // the table is about to be doubled
		need += 2 * slotBytes * int64(len(t.slots))
	}
	if w.places != nil {
		need += w.places.need()
	}
	return need
}

// end adds a mark to w.marks, unless it covers no documents.
func (w *inverter) end(m *mark) {
	if m.docs > 0 {
		w.marks = append(w.marks, *m)
	}
}

// spill sorts all that was counted, up to the last document of m, into a run on disk, and empties
// the table and the logs. Then m becomes the mark of the documents that follow.
func (w *inverter) spill(m *mark) error {
	w.end(m)
	if w.file == nil {
		f, err := newSpillFile(w.tempDir)
		if err != nil {
			return err
		}
		w.file = f
	}
	r := sortRun(w.table, &w.log, w.marks, w.post, w.places)
	w.post = r.post
	r, err := w.file.write(r)
	if err != nil {
		return err
	}
	r.marks = w.marks
	w.runs = append(w.runs, r)

	w.marks = nil
	w.log.reset()
	if w.places != nil {
		w.places.reset()
	}
	if w.table.bytes() > w.budget/2 {
		w.table = newTable() // a huge document made it so large
		w.table.placed = w.places != nil
	} else {
		w.table.reset()
	}
	*m = w.mark(m.seq, m.first+m.docs)
	return nil
}

// finish sorts what is left into a run in memory, and numbers the documents of all runs. base has
// the number of each batch's first document.
func (w *inverter) finish(base []uint32) {
	if len(w.marks) > 0 {
		r := sortRun(w.table, &w.log, w.marks, nil, w.places)
		r.marks = w.marks
		w.runs = append(w.runs, r)
	}
	for _, r := range w.runs {
		r.number(base)
	}
	w.table, w.log, w.marks, w.post, w.places = nil, pairLog{}, nil, nil, nil
}

func (w *inverter) close() {
	if w.file != nil {
		w.file.f.Close()
	}
}
