package weigh

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/collocate/collocate/text"
)

// gpuPart is a batch of documents as text for the device.
type gpuPart struct {
	seq     int
	text    []byte
	words   int
	longest int
	filled  []uint32 // which of the batch's documents have words
}

// gatherer collects batches into chunks.
type gatherer struct {
	ready  <-chan struct{} // closed when the others may be called
	failed func() error    // why nothing can be done
	fits   func(bytes, words, docs int) bool
	full   func(parts []gpuPart) error // gets a chunk that is full; may be called by any worker, one at a time

	mu            sync.Mutex
	waiting       []gpuPart // for ready
	held          int64     // bytes of their text
	parts         []gpuPart
	size          gpuSize
	batches       []docBatch
	tokens, bytes int64
}

// mostHeld is how much text may wait for the device.
const mostHeld = 256 << 20

// gpuSize is what a chunk's memory depends on.
type gpuSize struct{ bytes, words, docs int }

func (s gpuSize) plus(p *gpuPart) gpuSize {
	return gpuSize{s.bytes + len(p.text), s.words + p.words, s.docs + len(p.filled)}
}

// gather reads a corpus. What is left in parts at the end is the last chunk, the only
// one if full was never called.
func (g *gatherer) gather(ctx context.Context, each batches, analyzer text.Analyzer, threads int, visit func(worker int, b *text.Batch) error) (*documents, error) {
	toks := make([]text.Tokens, threads)
	err := each(ctx, func(n int, b *text.Batch) error {
		if visit != nil {
			if err := visit(n, b); err != nil {
				return err
			}
		}
		p, d, size, err := analyzePart(b, analyzer, &toks[n])
		if err != nil {
			return err
		}
		return g.add(p, d, size)
	})
	if err != nil {
		return nil, err
	}
	<-g.ready
	if err := g.drain(); err != nil {
		return nil, err
	}
	return newDocuments(g.batches, g.tokens, g.bytes)
}

// analyzePart makes a batch's text for the device.
func analyzePart(b *text.Batch, analyzer text.Analyzer, tok *text.Tokens) (p gpuPart, d docBatch, size int64, err error) {
	d = newDocBatch(b.Seq, len(b.Docs))
	p.seq = b.Seq
	for i := range b.Docs {
		doc := &b.Docs[i]
		if err := analyzer.Analyze(doc.Text, tok); err != nil {
			return p, d, 0, fmt.Errorf("document %s: %w", doc.ID, err)
		}
		size += int64(len(doc.Text))
		d.add(doc.ID, len(tok.Words))
		if len(tok.Words) == 0 {
			continue
		}
		if p.text == nil {
			p.text = make([]byte, 0, len(doc.Text)*min(len(b.Docs), 16)+len(doc.Text)/4)
		}
		for k := range tok.Words {
			p.text = append(p.text, tok.Word(k)...)
			p.text = append(p.text, ' ')
		}
		p.text[len(p.text)-1] = '\n'
		p.words += len(tok.Words)
		p.longest = max(p.longest, len(tok.Words))
		p.filled = append(p.filled, uint32(i))
	}
	// The device goes by separators alone, and trusts their number.
	lines := bytes.Count(p.text, []byte{'\n'})
	if lines != len(p.filled) || lines+bytes.Count(p.text, []byte{' '}) != p.words || bytes.IndexByte(p.text, '\t') >= 0 {
		return p, d, 0, errSeparators
	}
	return p, d, size, nil
}

func (g *gatherer) add(p gpuPart, d docBatch, size int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.batches = append(g.batches, d)
	g.bytes += size
	g.tokens += int64(p.words)
	if p.words > 0 {
		g.waiting = append(g.waiting, p)
		g.held += int64(len(p.text))
	}
	if g.held > mostHeld {
		<-g.ready
	}
	select {
	case <-g.ready:
		return g.drain()
	default:
		return nil
	}
}

// drain puts parts that waited into chunks.
func (g *gatherer) drain() error {
	if err := g.failed(); err != nil {
		return err
	}
	for _, p := range g.waiting {
		if next := g.size.plus(&p); len(g.parts) > 0 && !g.fits(next.bytes, next.words, next.docs) {
			if err := g.flush(); err != nil {
				return err
			}
		}
		g.parts = append(g.parts, p)
		g.size = g.size.plus(&p)
	}
	g.waiting, g.held = g.waiting[:0], 0
	return nil
}

func (g *gatherer) flush() error {
	parts := g.parts
	g.parts, g.size = nil, gpuSize{}
	return g.full(parts)
}

// newChunk puts parts together, in the corpus's order.
func newChunk(parts []gpuPart) *gpuChunk {
	slices.SortFunc(parts, func(a, b gpuPart) int { return cmp.Compare(a.seq, b.seq) })
	c := &gpuChunk{}
	for i := range parts {
		p := &parts[i]
		c.parts = append(c.parts, p.text)
		c.bytes += len(p.text)
		c.words += p.words
		c.docs += len(p.filled)
		c.longest = max(c.longest, p.longest)
	}
	return c
}

// numbersOf are the corpus's numbers of the documents in a chunk's parts, which are
// in order; nil if these are 0, 1, 2 and so on.
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
