package cooccur

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/text"
)

// The multicore engine never makes a list of pairs. It keeps the corpus as IDs,
// sorts the places of each word together, and then makes the matrix row by row:
// for every place of the row's word it adds the neighbours to a dense row. Rows
// come out complete, sorted and in order, each worker making some of them.
//
// So memory does not grow with the window or the matrix: 8 bytes a word of text.
// What does not fit is done in chunks whose rows are spilled as sorted runs, and
// merged in the end.
//
// Measured as seconds of whole commands at window 2 and 10, one thread and two, on 50M
// generated words with 550,000 distinct ones: 7.9 and 5.0, 15.0 and 9.1 (GloVe 47
// and 79). As CPU seconds on 5M words: 1.5 and 2.8 (the hash table of the sequential
// engine 10 and 38). 10 GB of text, 1.8G words, at window 10 with --memory 4GB is
// four runs and took 3.98 GB and 670 CPU seconds.
func (j *job) multicore(ctx context.Context, corpus *text.Corpus, sink Sink) error {
	m := &multicore{job: j}
	if err := m.plan(); err != nil {
		return err
	}
	defer m.close()
	defer boundHeap(m.heap)()
	m.allocate()
	m.chunk.full = m.spillChunk
	words := j.vocab.lexicon()
	workers := make([]*reader, m.Threads)
	for i := range workers {
		workers[i] = &reader{job: j, words: words, scanner: newScanner(j.Analyzer),
			out: collector{chunk: &m.chunk, window: j.Window, size: m.blockSize}}
		defer workers[i].close()
	}
	withThreads := *corpus
	withThreads.Options.Threads = m.Threads
	err := withThreads.Batches(ctx, func(worker int, b *text.Batch) error { return workers[worker].batch(ctx, b) })
	if err != nil {
		return err
	}
	for _, w := range workers {
		if err := w.out.finish(ctx); err != nil {
			return err
		}
		j.stats.Documents += w.documents
		j.stats.Words += w.total
		j.stats.Kept += w.kept
	}
	if m.spill == nil { // all of it fitted in memory
		return m.rows(ctx, func(_ int, b *sumRows) error { return j.emit(b, sink) },
			func(b *sumRows) { b.finish(&j.units) })
	}
	if len(m.chunk.blocks) > 0 {
		if err := m.spillChunk(ctx); err != nil {
			return err
		}
	}
	m.chunk.drop()
	j.stats.Runs = len(m.spill.runs)
	return m.spill.merge(ctx, m.accs, m.buffers, int64(m.chunk.limit)*tokenBytes, sink)
}

type multicore struct {
	*job
	chunk     chunk
	blockSize int
	accs      []*accumulator
	buffers   []*sumRows
	spill     *spill
	heap      int64  // bytes planned for on Go's heap, besides the vocabulary
	heaviest  uint64 // bound on the occurrences of any word so far
}

// What is planned for besides the chunk: bytes for each word of the vocabulary.
const (
	bufferBytes = 4 + 8 + 8 // of a row that has all columns
	countBytes  = 4         // of a worker's counting sort
	tokenBytes  = 4 + 4     // of a word of text: its ID, and its place among those of its word
	minChunk    = 1 << 18   // below this the runs would be too many
	programFile = 24 << 20  // of the program's own file, which count as its memory, too
	// unitContexts is how many additions make a unit of work: long enough that
	// taking it costs nothing, short enough that its rows stay in the cache.
	unitContexts = 1 << 17
	unitRows     = 1 << 14
)

// plan divides the memory. With a large vocabulary and many threads the private
// arrays alone may be too much; then fewer threads work.
func (m *multicore) plan() error {
	words := int64(m.vocab.Len())
	shared := m.vocab.memory()
	var buffers int
	for ; ; m.Threads-- {
		// Workers that are ahead of the writer go on with the buffers of units to
		// come, of which there are fewer where they would take much of the memory.
		buffers = 2*m.Threads + 1
		if int64(buffers)*words*bufferBytes/2 > m.Memory/8 {
			buffers = m.Threads + 1
		}
		if m.Threads == 1 {
			buffers = 1
		}
		private := int64(m.Threads)*words*(accumulatorBytes+countBytes) + int64(buffers)*words*bufferBytes/2
		program := min(programFile, m.Memory/10)
		// The collector needs some room to be lazy in; the program and its readers hold some, too.
		m.heap = private + (shared+private)/4 + min((32+12*int64(m.Threads))<<20, m.Memory/4)
		tokens := (m.Memory - program - shared - m.heap) / tokenBytes
		if tokens >= minChunk {
			m.chunk.limit = int(min(tokens, 1<<32-1))
			break
		}
		if m.Threads == 1 {
			return fmt.Errorf("a vocabulary of %d words needs at least %v of memory, not %v: raise --memory or --min-count",
				words, bytesize.Size(program+shared+m.heap+tokenBytes*minChunk), bytesize.Size(m.Memory))
		}
	}
	// Small enough that the blocks the workers hold do not matter; large enough for
	// the halos of the largest window.
	m.blockSize = 1 << blockShift
	for m.blockSize > 1<<16 && m.blockSize >= 16*m.Window && m.blockSize*m.Threads > m.chunk.limit/8 {
		m.blockSize /= 2
	}
	if m.Options.chunkLimit > 0 {
		m.chunk.limit, m.blockSize = m.Options.chunkLimit, m.Options.blockSize
	}
	m.buffers = make([]*sumRows, buffers)
	return nil
}

// allocate makes what was planned for, once the heap is bound to the plan.
func (m *multicore) allocate() {
	for range m.Threads {
		m.accs = append(m.accs, newAccumulator(m.job))
	}
	for i := range m.buffers {
		m.buffers[i] = new(sumRows)
	}
}

func (m *multicore) close() {
	m.chunk.drop()
	if m.spill != nil {
		m.spill.close()
	}
}

// spillChunk writes the rows of the chunk as a run and makes room for the next.
func (m *multicore) spillChunk(ctx context.Context) error {
	if m.spill == nil {
		s, err := newSpill(m.job)
		if err != nil {
			return err
		}
		m.spill = s
	}
	m.spill.begin()
	if err := m.rows(ctx, m.spill.write, m.spill.encode); err != nil {
		return err
	}
	m.chunk.drop()
	return nil
}

// rows makes all rows of the chunk in units of work and hands them to consume in
// order; prepare is called before that, from the workers.
func (m *multicore) rows(ctx context.Context, consume func(int, *sumRows) error, prepare func(*sumRows)) error {
	starts, at, err := m.chunk.occurrences(m.vocab.Len(), m.Threads)
	if err != nil {
		return err
	}
	defer at.free()
	if err := m.checkSums(starts); err != nil {
		return err
	}
	cuts := m.cuts(starts)
	g := newGatherer(m.job, m.chunk.blocks, at.words)
	return ordered(ctx, len(cuts)-1, m.Threads, m.buffers, func(worker, unit int, b *sumRows) error {
		b.reset(cuts[unit])
		m.accs[worker].ahead = 0
		for row := cuts[unit]; row < cuts[unit+1]; row++ {
			g.row(m.accs[worker], b, int(starts[row]), int(starts[row+1]))
		}
		prepare(b)
		return nil
	}, func(unit int, b *sumRows) error {
		m.progress("making rows", tokenBytes*int64(starts[cuts[unit+1]]), tokenBytes*int64(len(at.words)))
		return consume(unit, b)
	})
}

// cuts divides the rows into units: row numbers, first to last + 1.
func (m *multicore) cuts(starts []uint32) []int {
	cuts := []int{0}
	contexts, perWord := 0, 2*m.Window
	for row := range m.vocab.Len() {
		contexts += int(starts[row+1]-starts[row]) * perWord
		if contexts >= unitContexts || row+1-cuts[len(cuts)-1] >= unitRows {
			cuts = append(cuts, row+1)
			contexts = 0
		}
	}
	if n := m.vocab.Len(); cuts[len(cuts)-1] < n {
		cuts = append(cuts, n)
	}
	return cuts
}

// checkSums makes sure that no cell can overflow, whatever the neighbours are.
func (m *multicore) checkSums(starts []uint32) error {
	most, word := uint32(0), 0
	for row := range m.vocab.Len() {
		if n := starts[row+1] - starts[row]; n > most {
			most, word = n, row
		}
	}
	m.heaviest += uint64(most)
	return m.checkCount(word, m.heaviest)
}

// reader turns a worker's batches into IDs.
type reader struct {
	*job
	words                  *lexicon
	scanner                *scanner
	out                    collector
	documents, total, kept int64
}

func (r *reader) close() {
	r.out.ids.free()
	r.out.ids = nil
}

func (r *reader) batch(ctx context.Context, b *text.Batch) error {
	for i := range b.Docs {
		if err := r.document(ctx, b, i); err != nil {
			return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
		}
	}
	r.documents += int64(len(b.Docs))
	return nil
}

func (r *reader) document(ctx context.Context, b *text.Batch, i int) error {
	seen, start, before := 0, uint64(0), r.kept
	if r.sample != nil {
		start = r.sample.document(b.Seq, i)
	}
	err := r.scanner.scan(b.Docs[i].Text, func(keys []wordKey, buf []byte) error {
		room, err := r.out.room(ctx, len(keys)+1)
		if err != nil {
			return err
		}
		ids := r.words.appendAll(room, keys, buf)
		r.total += int64(len(keys))
		if r.sample != nil {
			kept := ids[:0]
			for _, id := range ids {
				if r.sample.keeps(start, seen, id-1) {
					kept = append(kept, id)
				}
				seen++
			}
			ids = kept
		}
		r.kept += int64(len(ids))
		r.out.n += len(ids)
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.checkWhole(r.kept - before); err != nil {
		return err
	}
	if room, err := r.out.room(ctx, 1); err != nil {
		return err
	} else {
		_ = append(room, 0)
	}
	r.out.n++
	return nil
}

// emit gives finished rows to the sink.
func (j *job) emit(b *sumRows, sink Sink) error {
	j.stats.Entries += int64(len(b.cols))
	return sink.Rows(&b.rows)
}
