package text

import (
	"bytes"
	"fmt"

	"github.com/collocate/collocate/internal/bytesize"
)

const (
	defaultMaxDocument = 64e6
	defaultMemory      = 2e9
	// documentShare of the memory may be one document. Of one whose words are all different,
	// of five letters, the table of words alone takes up to 24 times its size.
	documentShare = 30
	// windowShare of the memory may be the window of a decompressor, which is 8 MB unless
	// somebody asked for more (zstd --long).
	windowShare = 7
	minWindow   = 8 << 20
	// largePiece is how much text makes a piece large: only one such is in work at a time.
	largePiece = 4 << 20
)

// maxBatchDocs bounds the documents of a batch, which take some 150 bytes each besides their
// text. Only where lines are shorter than 32 bytes does a piece of text have more.
var maxBatchDocs = 1 << 15

// documentLimit is how many bytes a document may have.
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

// maxWindow is how much of what it has unpacked a decompressor may hold.
func (o *Options) maxWindow() int64 {
	memory := o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	return max(minWindow, memory/windowShare)
}

// errLong says that a document is too long, and which limit it was.
func (o *Options) errLong() error {
	limit, memory := o.documentLimit(), o.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	if limit == o.MaxDocument || limit == defaultMaxDocument {
		return fmt.Errorf("a document of more than %v: raise --max-document", bytesize.Size(limit))
	}
	return fmt.Errorf("a document of more than %v needs more than %v of memory: raise --memory",
		bytesize.Size(limit), bytesize.Size(memory))
}

// Where returns the file of the i-th document of the batch and its number there, for error
// messages.
func (b *Batch) Where(i int) string {
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

// longDocument is a document of which the feeder found no end. Its line is known when all text
// before the piece is.
type longDocument struct {
	src   *source
	first bool  // the piece is the file's first
	lines int64 // of the piece before it
	at    int64 // byte of the text
}

func (e *longDocument) Error() string { return e.src.options.errLong().Error() }

// longIn makes the error about a piece from byte start of the text on that begins like data.
func longIn(s *source, first bool, start int64, data []byte) error {
	before := data[:bytes.LastIndexByte(data, '\n')+1]
	if s.format == File {
		before = nil
	}
	return &longDocument{src: s, first: first, lines: int64(bytes.Count(before, newline)),
		at: start + int64(len(before))}
}

// place says where an error of a task is, given the position before it.
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
