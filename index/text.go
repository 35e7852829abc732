package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

const (
	// textBlock is the size of the blocks in which text, or stored fields, are compressed. Larger
	// blocks compress better, but a snippet needs the decompression of a whole one. Blocks of 4, 8,
	// 16 and 32 KiB of eLife paragraphs take 0.435, 0.371, 0.329 and 0.304 of the text's size, and
	// 14, 22, 32 and 56 microseconds to decompress.
	textBlock = 32 << 10
	// maxPending bounds the compressed text that waits in memory for earlier batches. Any more is
	// spilled to a temporary file. Blocking until the earlier batch arrives could last forever if
	// that batch fails.
	maxPending   = 64 << 20
	pendingShare = 16 // pending text takes at most one in this many bytes of the memory
)

// textWriter stores the documents' text in compressed blocks. Batches arrive in any order and are
// written in document order.
type textWriter struct {
	out *outFile
	enc *zstd.Encoder

	mu         sync.Mutex
	next       int // the batch to be written next
	pending    map[int]textBatch
	waiting    int // bytes pending in memory
	maxPending int
	spill      *disk.File // unnamed temporary file of pending batches beyond maxPending
	spilled    int64
	docs       uint32
	at         uint64
	first      []uint32 // first document of each block, and the end
	starts     []uint64
}

// textBatch is a compressed batch: its blocks one after the other, in memory or
// in the spill file.
type textBatch struct {
	blocks []packedBlock
	data   []byte
	at     int64 // offset in the spill file, if data is nil
}

type packedBlock struct{ docs, size int }

// textEncoder is shared by all writers: its tables take more than a megabyte, and initialising them
// for a small segment, with a few kilobytes of text, would be a waste.
var textEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true))
})

func newTextWriter(dir *atomicfile.Dir, file string, memory int64) (*textWriter, error) {
	out, err := createFile(dir, file)
	if err != nil {
		return nil, err
	}
	enc, err := textEncoder()
	if err == nil {
		err = out.Begin("blocks")
	}
	if err != nil {
		out.f.Abort()
		return nil, err
	}
	return &textWriter{out: out, enc: enc,
		maxPending: int(min(maxPending, memory/pendingShare)), pending: map[int]textBatch{}}, nil
}

// add stores the documents of a batch. It may be called concurrently. Each batch must be added
// exactly once.
func (t *textWriter) add(b *text.Batch) error {
	packed := t.pack(b.Docs)
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.Seq != t.next {
		return t.keep(b.Seq, packed)
	}
	for ok := true; ok; packed, ok = t.pending[t.next] {
		if err := t.write(packed); err != nil {
			return fmt.Errorf("store text: %w", err)
		}
		delete(t.pending, t.next)
		t.next++
	}
	return nil
}

// keep holds a batch until its turn.
func (t *textWriter) keep(seq int, p textBatch) (err error) {
	size := len(p.data)
	if t.waiting+size > t.maxPending {
		if t.spill == nil {
			if t.spill, err = disk.Temp(filepath.Dir(t.out.f.OS().Name())); err != nil {
				return err
			}
		}
		if _, err := t.spill.WriteAt(p.data, t.spilled); err != nil {
			return err
		}
		p.at, p.data = t.spilled, nil
		t.spilled += int64(size)
	} else {
		t.waiting += size
	}
	t.pending[seq] = p
	return nil
}

func (t *textWriter) write(p textBatch) error {
	size := 0
	for _, b := range p.blocks {
		t.first = append(t.first, t.docs)
		t.starts = append(t.starts, t.at)
		t.docs += uint32(b.docs)
		t.at += uint64(b.size)
		size += b.size
	}
	if p.data == nil && size > 0 {
		p.data = make([]byte, size)
		if _, err := t.spill.ReadAt(p.data, p.at); err != nil {
			return err
		}
	} else if _, kept := t.pending[t.next]; kept {
		t.waiting -= size
	}
	_, err := t.out.Write(p.data)
	return err
}

// pack compresses documents: a block is the lengths of its documents as
// uvarints, then their text.
func (t *textWriter) pack(docs []text.Document) (p textBatch) {
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
		before := len(p.data)
		p.data = t.enc.EncodeAll(raw, p.data)
		p.blocks = append(p.blocks, packedBlock{n, len(p.data) - before})
		docs = docs[n:]
	}
	return p
}

func (t *textWriter) finish(docs int) error {
	t.closeSpill()
	if len(t.pending) > 0 || int(t.docs) != docs {
		return fmt.Errorf("index: the text of %d documents was stored, want %d", t.docs, docs)
	}
	if err := errors.Join(
		t.out.Section("block-docs", sections.Bytes(append(t.first, t.docs))),
		t.out.Section("block-starts", sections.Bytes(append(t.starts, t.at))),
	); err != nil {
		return err
	}
	return t.out.commit()
}

func (t *textWriter) abort() {
	t.closeSpill()
	t.out.f.Abort()
}

func (t *textWriter) closeSpill() {
	if t.spill != nil {
		t.spill.Close()
		t.spill = nil
	}
}

// textReader reads stored text.
type textReader struct {
	file   *sections.File
	docs   int
	blocks []byte
	first  []uint32
	starts []uint64
	cache  [textCache]textSlot
}

// textCache is the number of decompressed blocks in the cache, for 16 MB. Decompressing one takes
// 0.14 ms, and a page of ten results may need ten: most of the time of its snippets.
const textCache = 512

// textSlot caches a decompressed block. Its memory is reused for the next one, because blocks were
// a third of what a server allocated under load. So no part of raw may be used without the lock.
type textSlot struct {
	mu   sync.Mutex
	next int // number of the block plus 1; 0 if the slot is empty
	raw  []byte
}

func openText(f *sections.File, docs int) (*textReader, error) {
	t := &textReader{file: f, docs: docs}
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
	if len(t.first) == 0 || len(t.first) != len(t.starts) ||
		t.first[0] != 0 || int(t.first[len(t.first)-1]) != docs {
		return nil, fmt.Errorf("corrupted: the stored text is not that of %d documents", docs)
	}
	return t, nil
}

// unpacker is shared by all readers: creating one is slow, and it may be used by several goroutines
// at once.
var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(5<<30))
})

// get appends the text of a document to dst.
func (t *textReader) get(dst []byte, doc int) ([]byte, error) {
	if uint(doc) >= uint(t.docs) {
		return nil, fmt.Errorf("document %d: the index has %d", doc, t.docs)
	}
	b := sort.Search(len(t.first), func(i int) bool { return int(t.first[i]) > doc }) - 1
	slot := &t.cache[max(b, 0)%textCache]
	slot.mu.Lock()
	defer slot.mu.Unlock()
	raw := slot.raw
	if slot.next != b+1 {
		slot.next = 0
		var err error
		if raw, err = t.unpack(b, slot.raw[:0]); err != nil {
			return nil, err
		}
		if cap(raw) <= 2*textBlock { // huge documents are not cached
			slot.next, slot.raw = b+1, raw
		}
	}
	err := t.split(b, raw, func(d int, s []byte) error {
		if d == doc {
			dst = append(dst, s...)
		}
		return nil
	})
	return dst, err
}

// block calls fn with each document of a block of text.
func (t *textReader) block(b int, fn func(doc int, s []byte) error) error {
	raw, err := t.unpack(b, nil)
	if err != nil {
		return err
	}
	return t.split(b, raw, fn)
}

func badText(b int) error {
	return fmt.Errorf("corrupted: block %d of the stored text cannot be decoded", b)
}

// unpack decompresses a block and appends it to dst.
func (t *textReader) unpack(b int, dst []byte) ([]byte, error) {
	if b < 0 || b+1 >= len(t.starts) {
		return nil, badText(b)
	}
	from, to := t.starts[b], t.starts[b+1]
	if from > to || to > uint64(len(t.blocks)) {
		return nil, badText(b)
	}
	if err := t.file.Touch(t.blocks[from:to]); err != nil {
		return nil, err
	}
	dec, err := unpacker()
	if err != nil {
		return nil, err
	}
	raw, err := dec.DecodeAll(t.blocks[from:to], dst)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", badText(b), err)
	}
	return raw, nil
}

// split calls fn with each document of a decompressed block.
func (t *textReader) split(b int, raw []byte, fn func(doc int, s []byte) error) error {
	first, end := int(t.first[b]), int(t.first[b+1])
	if end > t.docs {
		return badText(b)
	}
	lengths, texts := byteReader{b: raw}, byteReader{b: raw}
	for d := first; d < end && !texts.bad; d++ {
		texts.uvarint()
	}
	for d := first; d < end; d++ {
		s := texts.bytes(lengths.uvarint())
		if texts.bad {
			return badText(b)
		}
		if err := fn(d, s); err != nil {
			return err
		}
	}
	return nil
}
