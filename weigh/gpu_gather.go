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
	bytes   int    // of it
	words   int
	longest int
	filled  []uint32 // which of the batch's documents have words
}

// gatherer hands out a corpus batch by batch, in order.
type gatherer struct {
	ready  <-chan struct{} // closed when the others may be called
	failed func() error    // why nothing can be done
	// take takes one part at a time. What it returns may run while others are taken; the text is
	// used again afterwards.
	take func(p gpuPart) (send func() error, err error)

	mu            sync.Mutex
	waiting       map[int]gpuPart // for ready, or for the batches before them
	held          int64           // bytes of their text
	next          int             // batch to be taken
	err           error           // why nothing more is taken
	spare         sync.Pool       // of *[]byte
	batches       []docBatch
	tokens, bytes int64
}

// mostHeld is how much text may wait for the device.
const mostHeld = 256 << 20

// mostWord is more than any word's length, of which references have 24 bits.
const mostWord = 1 << 24

// gather reads a corpus.
func (g *gatherer) gather(ctx context.Context, each batches, analyzer text.Analyzer, threads int,
	visit func(worker int, b *text.Batch) error) (*documents, error) {
	toks := make([]text.Tokens, threads)
	g.waiting = map[int]gpuPart{}
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
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.drain(); err != nil {
		return nil, err
	}
	if len(g.waiting) > 0 {
		return nil, fmt.Errorf("weigh: batch %d of the corpus is missing", g.next)
	}
	return newDocuments(g.batches, g.tokens, g.bytes)
}

// analyzePart makes a batch's text for the device. Plain is for words between blanks.
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
		d.add(doc.ID, len(tok.Words))
		if len(tok.Words) == 0 {
			continue
		}
		if len(tok.Bytes) >= mostWord {
			for _, w := range tok.Words {
				if w.End-w.Start >= mostWord {
					return p, d, 0, fmt.Errorf("document %s: a word of %d bytes: want less than %d on a GPU; use --engine multicore", doc.ID, w.End-w.Start, mostWord)
				}
			}
		}
		p.text = appendWords(p.text, tok)
		p.text[len(p.text)-1] = '\n'
		p.count(i, len(tok.Words))
	}
	// The device goes by separators alone, and trusts their number.
	p.bytes = len(p.text)
	lines := bytes.Count(p.text, []byte{'\n'})
	if lines != len(p.filled) || lines+bytes.Count(p.text, []byte{' '}) != p.words ||
		bytes.IndexByte(p.text, '\t') >= 0 {
		return p, d, 0, errSeparators
	}
	return p, d, size, nil
}

// count notes a document with the given number of words.
func (p *gpuPart) count(doc, words int) {
	p.words += words
	p.longest = max(p.longest, words)
	p.filled = append(p.filled, uint32(doc))
}

// appendWords appends the words, each with a blank behind it. Words that are one byte
// apart, as most are, are copied together, which takes a third of the time.
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
	defer g.mu.Unlock()
	g.batches = append(g.batches, d)
	g.bytes += size
	g.tokens += int64(p.words)
	g.waiting[p.seq] = p
	g.held += int64(len(p.text))
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

// drain takes the parts whose turn it is. It is called with the lock, and gives it away while their
// text is sent, so that several workers do that at once and the others find words.
func (g *gatherer) drain() error {
	if g.err == nil {
		g.err = g.failed()
	}
	for g.err == nil {
		p, ok := g.waiting[g.next]
		if !ok {
			break
		}
		delete(g.waiting, g.next)
		g.next++
		send := func() error { return nil }
		if p.words > 0 {
			if send, g.err = g.take(p); g.err != nil {
				break
			}
		}
		g.mu.Unlock()
		size := int64(len(p.text))
		err := send()
		g.spare.Put(&p.text)
		g.mu.Lock()
		g.held -= size
		if g.err == nil {
			g.err = err
		}
	}
	return g.err
}

// gpuSize is what a chunk's memory depends on.
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

// numbersOf are the corpus's numbers of the documents in a chunk's parts; nil if
// these are 0, 1, 2 and so on.
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

// numberParts adds the documents in a chunk's parts.
func numberParts(n *numbering, parts []gpuPart, d *documents) {
	for i := range parts {
		base := d.base[parts[i].seq]
		for _, k := range parts[i].filled {
			n.add(base+k, 1)
		}
	}
	n.finish()
}
