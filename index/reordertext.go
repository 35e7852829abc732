package index

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/text"
)

// textBucket is the approximate amount of compressed text that is sorted in memory at a time. It is
// about four times as large when decompressed. There are at most maxTextBuckets buckets, because
// each is an open file with a buffer; more text makes them larger.
const (
	textBucket      = 32 << 20
	textBucketShare = 32 // a bucket takes at most one in this many bytes of the memory
	maxTextBuckets  = 256
)

// textBucketFor returns the bucket size for a memory bound.
func textBucketFor(memory int64) int {
	return min(textBucket, max(1<<20, int(memory/textBucketShare)))
}

// rewriteText writes the text of the documents, or their stored fields, in the new order. It is a
// bucket sort: blocks are decompressed once, in their order, each document goes to the file of its
// bucket, and the buckets are sorted one by one.
func rewriteText(ctx context.Context, t *textReader, w *Writer, to *textWriter, place []uint32,
	bucket int) (err error) {
	if len(place) == 0 {
		return nil
	}
	n := min(len(t.blocks)/bucket+1, maxTextBuckets)
	perBucket := (len(place) + n - 1) / n
	buckets := make([]*textBucketFile, (len(place)+perBucket-1)/perBucket)
	defer func() {
		for _, b := range buckets {
			if b != nil {
				b.f.Close()
			}
		}
	}()
	for i := range buckets {
		if buckets[i], err = newTextBucket(w.dir.Path("")); err != nil {
			return err
		}
	}
	for b := range len(t.first) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := t.block(b, func(doc int, s []byte) error {
			p := place[doc]
			return buckets[int(p)/perBucket].add(p, s)
		})
		if err != nil {
			return err
		}
	}
	for i, b := range buckets {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := i * perBucket
		docs, err := b.sorted(from, min(perBucket, len(place)-from))
		if err != nil {
			return err
		}
		if err := to.add(&text.Batch{Seq: i, Docs: docs}); err != nil {
			return err
		}
	}
	return nil
}

// textBucketFile holds the text of some documents. Each record is the document and the length as
// uint32, then the text.
type textBucketFile struct {
	f    *disk.File
	w    *bufio.Writer
	size int64
}

// newTextBucket makes a bucket in an unnamed temporary file in a folder.
func newTextBucket(dir string) (*textBucketFile, error) {
	f, err := disk.Temp(dir)
	if err != nil {
		return nil, err
	}
	return &textBucketFile{f: f, w: bufio.NewWriterSize(f, 1<<16)}, nil
}

func (b *textBucketFile) add(doc uint32, s []byte) error {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], doc)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(s)))
	b.w.Write(head[:]) // a bufio.Writer repeats its error in the next call
	b.size += int64(len(s)) + 8
	_, err := b.w.Write(s)
	return err
}

// sorted returns the n documents of the bucket in order, beginning with document from.
func (b *textBucketFile) sorted(from, n int) ([]text.Document, error) {
	if err := b.w.Flush(); err != nil {
		return nil, err
	}
	data := make([]byte, b.size)
	if _, err := b.f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("sort text: %w", err)
	}
	docs := make([]text.Document, n)
	for len(data) > 0 {
		d, size := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		docs[int(d)-from].Text = data[8 : 8+size]
		data = data[8+size:]
	}
	return docs, nil
}
