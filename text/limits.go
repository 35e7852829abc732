package text

import (
	"bytes"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
)

const (
	defaultMaxDocument = 64e6
	defaultMemory      = 2e9
	// A document may take at most 1/documentShare of the memory. If all its words are distinct and
	// of five letters, the table of words alone takes up to 24 times its size.
	documentShare = 30
	// The window of a decompressor may take at most 1/windowShare of the memory. It is 8 MB unless
	// zstd was called with --long.
	windowShare = 7
	minWindow   = 8 << 20
	// largePiece is the size from which a piece is large: only one such is processed at a time.
	largePiece = 4 << 20
)

// maxBatchDocs is the largest number of documents of a batch, which take about 150 bytes each
// besides their text. Only pieces whose lines are shorter than 32 bytes have more.
var maxBatchDocs = 1 << 15

// documentLimit returns the largest size of a document in bytes.
func (o *Options) documentLimit() int64 {
	limit, memory := o.MaxDocument, o.Memory
	if limit <= 0 {
		limit = defaultMaxDocument
	}
	if memory <= 0 {
		memory = defaultMemory
	}
	return min(limit, memory/documentShare)
}

// MemoryFor returns the least Options.Memory for documents of up to that many bytes, given that
// Options.MaxDocument allows for them.
func MemoryFor(document int64) int64 { return document * documentShare }

// maxWindow returns the largest window of a decompressor in bytes.
func (o *Options) maxWindow() int64 {
	memory := o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	return max(minWindow, memory/windowShare)
}

// errLong returns the error of a document that is too long, with the limit that it exceeds.
func (o *Options) errLong() error {
	limit, memory := o.documentLimit(), o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	if limit == o.MaxDocument || limit == defaultMaxDocument {
		return fmt.Errorf("a document of more than %v: raise text.Options.MaxDocument", bytesize.Size(limit))
	}
	return fmt.Errorf("a document of more than %v needs more than %v of memory: raise text.Options.Memory",
		bytesize.Size(limit), bytesize.Size(memory))
}

// Parts returns a batch of parts of its documents, one of each, which Where finds as the documents
// themselves.
func (b *Batch) Parts(docs []Document) *Batch {
	return &Batch{Seq: b.Seq, Docs: docs, whole: b}
}

// Where returns the file of the i-th document of the batch and its number there, for error
// messages.
func (b *Batch) Where(i int) string {
	if b.whole != nil {
		return b.whole.Where(i)
	}
	if b.parser == nil {
		return "document " + b.Docs[i].ID
	}
	docs, done := b.before.docs, 0
	for _, e := range b.parser.ends {
		if e.first {
			docs = 0
		}
		if i < e.docs {
			return fmt.Sprintf("%s: document %d", e.src.path, docs+int64(i-done)+1)
		}
		docs += int64(e.docs - done)
		done = e.docs
	}
	return "document " + b.Docs[i].ID
}

// longDocument is a document whose end the feeder did not find. Its line is known once all text
// before the piece is parsed.
type longDocument struct {
	src   *source
	first bool  // the piece is the first of the file
	lines int64 // lines of the piece before it
	at    int64 // offset in the text
}

func (e *longDocument) Error() string { return e.src.options.errLong().Error() }

// longIn returns the error of a document in a piece that starts at byte start of the text with
// data.
func longIn(s *source, first bool, start int64, data []byte) error {
	before := data[:bytes.LastIndexByte(data, '\n')+1]
	if s.format == File {
		before = nil
	}
	return &longDocument{src: s, first: first, lines: int64(bytes.Count(before, newline)),
		at: start + int64(len(before))}
}

// place adds the position to an error of a task, given the position before the task.
func (pos position) place(err error) error {
	e, ok := err.(*longDocument)
	if !ok {
		return err
	}
	line := e.lines + 1
	switch {
	case e.first:
	case e.src.format == Lines:
		line += pos.docs
	default:
		line += pos.lines
	}
	return fmt.Errorf("%s: line %d, from byte %d on: %w", e.src.path, line, e.at, e)
}
