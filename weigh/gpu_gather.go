package weigh

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/collocate/collocate/text"
)

// gpuPart is a batch of documents as text for the device.
type gpuPart struct {
	seq     int
	text    []byte // nil when it is on the device
	bytes   int    // size of the text
	words   int
	longest int      // words of the longest document
	filled  []uint32 // the batch's documents that have words
}

// gatherer reads a corpus in parallel and passes it on batch by batch. Batches take turns among the
// queues, each of which passes on its own in order.
type gatherer struct {
	ready  <-chan struct{} // closed when failed may be called, and take of the queues
	failed func() error    // returns the error that prevents any work, or nil
	queues []*partQueue

	spare         sync.Pool // memory for text, as *[]byte
	mu            sync.Mutex
	held          int64 // bytes of text not yet copied
	batches       []docBatch
	tokens, bytes int64
}

// partQueue passes on every n-th batch, where n is the number of queues.
type partQueue struct {
	// take receives one part at a time. The function send may run while other parts are taken; the
	// memory of the text is reused afterwards.
	take func(p gpuPart) (send func() error, err error)

	mu      sync.Mutex
	waiting map[int]gpuPart // parts that wait for ready, or for earlier batches
	next    int             // next batch to be taken
	err     error           // first error, after which no part is taken
}

func newGatherer(ready <-chan struct{}, failed func() error,
	take ...func(p gpuPart) (send func() error, err error)) *gatherer {
	g := &gatherer{ready: ready, failed: failed}
	for i, f := range take {
		g.queues = append(g.queues, &partQueue{take: f, waiting: map[int]gpuPart{}, next: i})
	}
	return g
}

// mostHeld is the number of bytes of text that may wait for the device to open.
const mostHeld = 256 << 20

// mostWord is an exclusive bound on the length of a word; references have 24 bits for it.
const mostWord = 1 << 24

// gather reads a corpus.
func (g *gatherer) gather(ctx context.Context, each batches, analyzer text.Analyzer, threads int,
	visit func(worker int, b *text.Batch) error) (*documents, error) {
	toks := make([]text.Tokens, threads)
	plain := analyzer == plainAnalyzer
	err := each(ctx, func(n int, b *text.Batch) error {
		if visit != nil {
			if err := visit(n, b); err != nil {
				return err
			}
		}
		memory, _ := g.spare.Get().(*[]byte)
		if memory == nil {
			memory = new([]byte)
		}
		p, d, size, err := analyzePart(b, analyzer, plain, &toks[n], *memory)
		if err != nil {
			return err
		}
		return g.add(p, d, size)
	})
	if err != nil {
		return nil, err
	}
	<-g.ready
	for _, q := range g.queues {
		q.mu.Lock()
		err := g.drain(q)
		q.mu.Unlock()
		if err != nil {
			return nil, err
		}
		if len(q.waiting) > 0 {
			return nil, fmt.Errorf("weigh: batch %d of the corpus is missing", q.next)
		}
	}
	return newDocuments(g.batches, g.tokens, g.bytes)
}

// analyzePart converts a batch to text for the device. If plain is true, the analyzer is the one
// that appendPlain implements.
func analyzePart(b *text.Batch, analyzer text.Analyzer, plain bool, tok *text.Tokens,
	memory []byte) (p gpuPart, d docBatch, size int64, err error) {
	d = newDocBatch(b.Seq, len(b.Docs))
	p.seq = b.Seq
	room := 0
	for i := range b.Docs {
		room += len(b.Docs[i].Text) + 1
	}
	p.text = slices.Grow(memory[:0], room) // words are rarely longer than the text they are from
	for i := range b.Docs {
		doc := &b.Docs[i]
		size += int64(len(doc.Text))
		if plain {
			if out, words, ok := appendPlain(p.text, doc.Text); ok {
				p.text = out
				d.add(doc.ID, words)
				p.count(i, words)
				continue
			}
		}
		if err := analyzer.Analyze(doc.Text, tok); err != nil {
			return p, d, 0, fmt.Errorf("document %s: %w", doc.ID, err)
		}
		if len(tok.Counts) > 0 {
			return p, d, 0, fmt.Errorf("document %s: %w", doc.ID, errWeights)
		}
		d.add(doc.ID, len(tok.Words))
		if len(tok.Words) == 0 {
			continue
		}
		if len(tok.Bytes) >= mostWord {
			for _, w := range tok.Words {
				if w.End-w.Start >= mostWord {
					return p, d, 0, fmt.Errorf("document %s: a word of %d bytes: want less than %d on a GPU; use weigh.Options.Engine=multicore", doc.ID, w.End-w.Start, mostWord)
				}
			}
		}
		p.text = appendWords(p.text, tok)
		p.text[len(p.text)-1] = '\n'
		p.count(i, len(tok.Words))
	}
	// The device relies on separators alone, and trusts their number, so it is checked here.
	p.bytes = len(p.text)
	lines := bytes.Count(p.text, []byte{'\n'})
	if lines != len(p.filled) || lines+bytes.Count(p.text, []byte{' '}) != p.words ||
		bytes.IndexByte(p.text, '\t') >= 0 {
		return p, d, 0, errSeparators
	}
	return p, d, size, nil
}

// count records a document with the given number of words.
func (p *gpuPart) count(doc, words int) {
	p.words += words
	p.longest = max(p.longest, words)
	p.filled = append(p.filled, uint32(doc))
}

// appendWords appends the words, each followed by a blank. Words that are one byte apart, as most
// are, are copied together, which takes a third of the time.
func appendWords(dst []byte, tok *text.Tokens) []byte {
	w := tok.Words
	for k := 0; k < len(w); {
		j := k
		for j+1 < len(w) && w[j+1].Start == w[j].End+1 {
			j++
		}
		base := len(dst) - int(w[k].Start)
		dst = append(dst, tok.Bytes[w[k].Start:w[j].End]...)
		dst = append(dst, ' ')
		for ; k < j; k++ {
			dst[base+int(w[k].End)] = ' '
		}
		k++
	}
	return dst
}

func (g *gatherer) add(p gpuPart, d docBatch, size int64) error {
	g.mu.Lock()
	g.batches = append(g.batches, d)
	g.bytes += size
	g.tokens += int64(p.words)
	g.held += int64(len(p.text))
	tooMuch := g.held > mostHeld
	g.mu.Unlock()
	q := g.queues[p.seq%len(g.queues)]
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[p.seq] = p
	if tooMuch {
		<-g.ready
	}
	select {
	case <-g.ready:
		return g.drain(q)
	default:
		return nil
	}
}

// drain takes the parts of a queue whose turn it is. It is called with the queue's lock held, and
// releases it while text is sent, so that several workers can send at once while others tokenise.
func (g *gatherer) drain(q *partQueue) error {
	if q.err == nil {
		q.err = g.failed()
	}
	for q.err == nil {
		p, ok := q.waiting[q.next]
		if !ok {
			break
		}
		delete(q.waiting, q.next)
		q.next += len(g.queues)
		send := func() error { return nil }
		if p.words > 0 {
			if send, q.err = q.take(p); q.err != nil {
				break
			}
		}
		q.mu.Unlock()
		size := int64(len(p.text))
		err := send()
		g.spare.Put(&p.text)
		g.mu.Lock()
		g.held -= size
		g.mu.Unlock()
		q.mu.Lock()
		if q.err == nil {
			q.err = err
		}
	}
	return q.err
}

// gpuSize holds the counts that determine a chunk's memory.
type gpuSize struct{ bytes, words, docs, longest int }

func (s gpuSize) plus(p *gpuPart) gpuSize {
	return gpuSize{s.bytes + p.bytes, s.words + p.words, s.docs + len(p.filled), max(s.longest, p.longest)}
}

func sizeOf(parts []gpuPart) (s gpuSize) {
	for i := range parts {
		s = s.plus(&parts[i])
	}
	return s
}

// numbersOf returns the corpus numbers of the documents in a chunk's parts, or nil if these are 0,
// 1, 2 and so on.
func numbersOf(parts []gpuPart, d *documents) []uint32 {
	var list []uint32
	plain := true
	for i := range parts {
		base := d.base[parts[i].seq]
		for _, k := range parts[i].filled {
			plain = plain && int(base+k) == len(list)
			list = append(list, base+k)
		}
	}
	if plain {
		return nil
	}
	return list
}

// numberParts adds the documents of a chunk's parts to n.
func numberParts(n *numbering, parts []gpuPart, d *documents) {
	for i := range parts {
		base := d.base[parts[i].seq]
		for _, k := range parts[i].filled {
			n.add(base+k, 1)
		}
	}
	n.finish()
}
