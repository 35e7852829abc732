package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

const (
	// textBlock is how much text is compressed together. Larger blocks compress
	// better, but a snippet costs the decompression of a whole one.
	textBlock = 32 << 10
	// maxPending bounds the compressed text that waits for a batch before it.
	maxPending = 64 << 20
)

// textWriter stores the documents' text in compressed blocks, in document order
// although batches come in any order.
type textWriter struct {
	out  *outFile
	enc  *zstd.Encoder
	mu   sync.Mutex
	turn sync.Cond

	next    int // the batch that is to be written next
	pending map[int][]packedText
	waiting int // bytes pending
	failed  error
	docs    uint32
	at      uint64
	first   []uint32 // first document of each block, and the end
	starts  []uint64
}

type packedText struct {
	docs int
	data []byte
}

func newTextWriter(dir *atomicfile.Dir) (*textWriter, error) {
	out, err := createFile(dir, textFile)
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true))
	if err == nil {
		err = out.Begin("blocks")
	}
	if err != nil {
		out.f.Abort()
		return nil, err
	}
	t := &textWriter{out: out, enc: enc, pending: map[int][]packedText{}}
	t.turn.L = &t.mu
	return t, nil
}

// add stores the documents of a batch. It may be called concurrently, but each
// batch once, and all of them in the end.
func (t *textWriter) add(b *text.Batch) error {
	packed := t.pack(b.Docs)
	size := 0
	for _, p := range packed {
		size += len(p.data)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for b.Seq != t.next && t.waiting > maxPending && t.failed == nil {
		t.turn.Wait()
	}
	t.pending[b.Seq] = packed
	t.waiting += size
	for t.failed == nil {
		list, ok := t.pending[t.next]
		if !ok {
			break
		}
		delete(t.pending, t.next)
		t.next++
		for _, p := range list {
			t.waiting -= len(p.data)
			if err := t.write(p); err != nil {
				t.failed = err
				break
			}
		}
		t.turn.Broadcast()
	}
	return t.failed
}

// stop lets waiting calls of add return: some batch will never come.
func (t *textWriter) stop(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil {
		t.failed = err
	}
	t.turn.Broadcast()
}

func (t *textWriter) write(p packedText) error {
	t.first = append(t.first, t.docs)
	t.starts = append(t.starts, t.at)
	t.docs += uint32(p.docs)
	t.at += uint64(len(p.data))
	_, err := t.out.Write(p.data)
	return err
}

// pack compresses documents: a block is the lengths of its documents as
// uvarints, then their text.
func (t *textWriter) pack(docs []text.Document) (list []packedText) {
	var raw []byte
	for len(docs) > 0 {
		n, size := 0, 0
		for n < len(docs) && (n == 0 || size+len(docs[n].Text) <= textBlock) {
			size += len(docs[n].Text)
			n++
		}
		raw = raw[:0]
		for _, d := range docs[:n] {
			raw = binary.AppendUvarint(raw, uint64(len(d.Text)))
		}
		for _, d := range docs[:n] {
			raw = append(raw, d.Text...)
		}
		list = append(list, packedText{n, t.enc.EncodeAll(raw, nil)})
		docs = docs[n:]
	}
	return list
}

func (t *textWriter) finish(docs int) error {
	if t.failed != nil {
		return t.failed
	}
	if len(t.pending) > 0 || int(t.docs) != docs {
		return fmt.Errorf("index: the text of %d documents of %d was stored", t.docs, docs)
	}
	if err := errors.Join(
		t.out.Section("block-docs", sections.Bytes(append(t.first, t.docs))),
		t.out.Section("block-starts", sections.Bytes(append(t.starts, t.at))),
	); err != nil {
		return err
	}
	return t.out.commit()
}

func (t *textWriter) abort() { t.out.f.Abort() }

// textReader gives the stored text back.
type textReader struct {
	docs   int
	blocks []byte
	first  []uint32
	starts []uint64
	dec    *zstd.Decoder
}

func openText(f *sections.File, docs int) (*textReader, error) {
	t := &textReader{docs: docs}
	var err error
	if t.blocks, err = f.Section("blocks"); err != nil {
		return nil, err
	}
	if t.first, err = view[uint32](f, "block-docs"); err != nil {
		return nil, err
	}
	if t.starts, err = view[uint64](f, "block-starts"); err != nil {
		return nil, err
	}
	if len(t.first) == 0 || len(t.first) != len(t.starts) || int(t.first[len(t.first)-1]) != docs {
		return nil, fmt.Errorf("corrupted: the text is not that of %d documents", docs)
	}
	t.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(5<<30))
	return t, err
}

func (t *textReader) get(doc int) ([]byte, error) {
	if uint(doc) >= uint(t.docs) {
		return nil, fmt.Errorf("document %d is not one of the index's %d", doc, t.docs)
	}
	b := sort.Search(len(t.first), func(i int) bool { return int(t.first[i]) > doc }) - 1
	bad := fmt.Errorf("corrupted: the text of document %d does not decode", doc)
	if b < 0 || b+1 >= len(t.starts) {
		return nil, bad
	}
	from, to := t.starts[b], t.starts[b+1]
	if from > to || to > uint64(len(t.blocks)) {
		return nil, bad
	}
	raw, err := t.dec.DecodeAll(t.blocks[from:to], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", bad, err)
	}
	r := byteReader{b: raw}
	var before, length uint64
	for d := int(t.first[b]); d < int(t.first[b+1]) && !r.bad; d++ {
		n := r.uvarint()
		if n > uint64(len(raw)) {
			return nil, bad
		}
		if d < doc {
			before += n
		} else if d == doc {
			length = n
		}
	}
	r.bytes(before)
	s := r.bytes(length)
	if r.bad {
		return nil, bad
	}
	return s, nil
}
