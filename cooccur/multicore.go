package cooccur

import (
	"context"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/text"
)

// The multicore engine never lists pairs. It keeps the corpus as IDs and collects the places of
// each word by a counting sort. Then it computes the matrix row by row: for every place of the
// row's word it adds the neighbours to a dense row. Workers compute different rows; each row comes
// out complete and sorted.
//
// So memory does not depend on the window or the matrix: it is 8 bytes per word of text. A larger
// corpus is processed in chunks, whose rows are spilled as sorted runs and merged at the end.
//
// Seconds of whole commands on 50M generated words, 550,000 of them distinct: at window 2, 7.9 with
// one thread and 5.0 with two (GloVe 47); at window 10, 15.0 and 9.1 (GloVe 79). CPU seconds on 5M
// words at windows 2 and 10: 1.5 and 2.8 (the hash table of the sequential engine: 10 and 38). 10
// GB of text, 1.8G words, at window 10 with --memory 4GB needed four runs, 3.98 GB and 670 CPU
// seconds.
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
	if m.spill == nil { // everything fits in memory
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

// Constants of plan, in bytes unless they say otherwise.
const (
	bufferBytes = 4 + 8 + 8 // per word of the vocabulary: a row with all columns
	countBytes  = 4         // per word of the vocabulary: a worker's counting sort
	tokenBytes  = 4 + 4     // per word of text: its ID, and its place
	minChunk    = 1 << 18   // words of text; smaller chunks would make too many runs
	programFile = 24 << 20  // the mapped executable, which counts as memory, too
	// unitContexts is the number of additions in a unit of work: enough that scheduling costs
	// nothing, few enough that its rows stay in the cache.
	unitContexts = 1 << 17
	unitRows     = 1 << 14
)

// plan divides the memory. With a large vocabulary and many threads, the private arrays of the
// threads alone may exceed it; then fewer threads are used.
func (m *multicore) plan() error {
	words := int64(m.vocab.Len())
	shared := m.vocab.memory()
	var buffers int
	for ; ; m.Threads-- {
		// Extra buffers let workers run ahead of the writer. There are fewer of them if they would
		// take too much memory.
		buffers = 2*m.Threads + 1
		if int64(buffers)*words*bufferBytes/2 > m.Memory/8 {
			buffers = m.Threads + 1
		}
		if m.Threads == 1 {
			buffers = 1
		}
		private := int64(m.Threads)*words*(accumulatorBytes+countBytes) + int64(buffers)*words*bufferBytes/2
		program := min(programFile, m.Memory/10)
		// Leave slack for the garbage collector, the program and its readers.
		m.heap = private + (shared+private)/4 + min((32+12*int64(m.Threads))<<20, m.Memory/4)
		tokens := (m.Memory - program - shared - m.heap) / tokenBytes
		if tokens >= minChunk {
			m.chunk.limit = int(min(tokens, 1<<32-1))
			break
		}
		if m.Threads == 1 {
			return fmt.Errorf("a vocabulary of %d words needs at least %v of memory, not %v: raise cooccur.Options.Memory or cooccur.VocabularyOptions.MinCount",
				words, bytesize.Size(program+shared+m.heap+tokenBytes*minChunk), bytesize.Size(m.Memory))
		}
	}
	// Blocks are small enough that those the workers hold do not matter, and large enough for the
	// halos of the largest window.
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

// allocate allocates what was planned. It is called once the heap is bounded.
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

// spillChunk writes the rows of the chunk as a run and empties the chunk.
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

// rows computes all rows of the chunk in units of work and passes them to consume in order. The
// workers call prepare before that.
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

// cuts divides the rows into units. It returns the first row of each unit, and the end.
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

// checkSums returns an error if a cell could overflow, whatever the neighbours are.
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
	border := func() error { // of a field, or the end of the document
		if err := r.checkWhole(r.kept - before); err != nil {
			return err
		}
		room, err := r.out.room(ctx, 1)
		if err != nil {
			return err
		}
		_ = append(room, 0)
		r.out.n++
		before = r.kept
		return nil
	}
	if r.sample != nil {
		start = r.sample.document(b.Seq, i)
	}
	err := r.scanner.scan(&b.Docs[i], func(keys []wordKey, buf []byte) error {
		if len(keys) == 0 {
			return border()
		}
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
	return border()
}

// emit passes finished rows to the sink.
func (j *job) emit(b *sumRows, sink Sink) error {
	j.stats.Entries += int64(len(b.cols))
	return sink.Rows(&b.rows)
}
