package text

import (
	"context"
	"io"
	"iter"
	"log/slog"

	"github.com/collocate/collocate/fields"
)

// Document is one unit of a corpus.
type Document struct {
	// ID is the document's own name where the format has one, else
	// "file:number" made from the file's name and the document's number in it, from
	// 1; "file" alone where a file is one document. The file's name is its base
	// name, or inside a folder of the corpus its path from that folder.
	ID string
	// Text is the raw bytes. It belongs to the Batch and lives as long as it.
	Text []byte
	// Fields are the values of the fields of Options.Schema, in its order; nil without one. A text
	// field has at most one value: a list is joined by newlines. They live as long as Text.
	Fields []fields.Values
	// Breaks are the bytes of Text at which another field begins, or another value of a list,
	// rising: no phrase goes on there. They live as long as Text.
	Breaks []uint32
}

// Batch is a run of consecutive documents of a corpus. Batches are numbered from
// 0 in corpus order, and their borders do not depend on the number of threads, so
// that whoever numbers documents by (Seq, position) gets the same numbers always.
type Batch struct {
	Seq  int
	Docs []Document

	parser *parser
	before position
}

// Corpus is a list of files, folders or standard input, with what is needed to
// read documents from them. Nothing is opened before All or Batches.
type Corpus struct {
	Paths   []string // files, folders (walked in byte order of their paths), or "-"
	Options Options
	// Source, if it is set, gives documents that are in memory, instead of Paths. Each slice
	// becomes a batch, best of about a megabyte, and must not be changed afterwards. It is called
	// once for each reading of the corpus; a cancelled context ends it.
	Source func(ctx context.Context) iter.Seq2[[]Document, error]

	// Stdin is what "-" reads; nil is standard input.
	Stdin io.Reader
	// Streams, if there are any, are read instead of Paths.
	Streams []Stream
}

// Stream is a part of a file that is not read from its path, or not from its beginning.
type Stream struct {
	Name   string // of the file, as in IDs and errors
	Before int64  // documents of the file before the part, from which those without an ID count on
	Open   func() (io.ReadCloser, error)
}

// Options say how files become documents. The zero value detects the format.
type Options struct {
	Format Format
	// Fields that hold text in JSON and tables, in order; joined by a newline, empty
	// ones left out. None: the usual names, see the package comment.
	// In SMART they are the letters of the sections; none: T and W.
	Fields []string
	// Schema says instead of Fields which fields are text and which hold other values. The text of
	// a document is that of its text fields, in the schema's order.
	Schema *fields.Schema
	// Sparse lets fields of the schema be in no record of JSON: that is noted, and no error.
	Sparse bool
	// IDField holds the ID in JSON and tables. Empty: the usual names.
	IDField string
	// Encoding says what the bytes of the files mean; see ParseEncoding.
	Encoding Encoding
	// Except names files and folders that are left out of the folders of Paths, such
	// as one for results, whose last ones would be read as documents.
	Except []string
	// MaxDocument is how many bytes a document may have; 0 means 64 MB. A longer one is an error.
	MaxDocument int64
	// Memory bounds the working memory of the corpus's reader, in bytes; 0 means 2 GB. A
	// document may take a 30th of it, since finding and counting its words takes many
	// times its size.
	Memory int64
	// TempDir is where a decompressor puts what has no room in memory; "" for os.TempDir.
	TempDir string
	// Threads that parse documents; 0 means GOMAXPROCS.
	Threads int
	// Progress is told how many bytes of how many (0: unknown) have been read.
	// It may be called from several goroutines.
	Progress func(done, total int64)
	// Note is told, in a line each, what was guessed and left out; nil: nobody is.
	Note func(line string)
	// SkipBad is told of files that cannot be opened or are no text, and the others are
	// read; nil: the first such file is an error.
	SkipBad func(path string, err error)
	// Log is told what each file was taken for; nil: nobody is.
	Log *slog.Logger
}

// All yields the documents one after the other in corpus order. A Document is
// valid until the next one is asked for. After an error it stops.
func (c *Corpus) All(ctx context.Context) iter.Seq2[Document, error] {
	if c.Source != nil {
		return c.sourceAll(ctx)
	}
	return c.all(ctx)
}

// Batches reads the corpus with Options.Threads workers and calls fn for each
// batch, from worker 0..Threads-1, concurrently and in any order of Seq. The batch
// is valid until fn returns. The first error stops all. A batch is given to fn only
// if all batches before it are too, so that fn may wait for its turn by Seq.
func (c *Corpus) Batches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	if c.Source != nil {
		return c.sourceBatches(ctx, fn)
	}
	return c.batches(ctx, fn)
}

// Span is the byte range [Start, End).
type Span struct {
	Start uint32 `json:"start"`
	End   uint32 `json:"end"`
}

// Tokens are the words of one document. Reuse one Tokens for many documents: the
// slices keep their capacity.
type Tokens struct {
	// Bytes holds the words; Words[i] says where the i-th is. Where an analyzer
	// changes nothing, Bytes is the document itself.
	Bytes []byte
	Words []Span
	// Source says where each word stands in the document, if WantSource.
	Source     []Span
	WantSource bool

	scratch []byte
	stems   stemCache
}

// Trim lets go of what a document of some megabytes took, so that it is not kept for short
// ones.
func (t *Tokens) Trim() {
	const most = 1 << 20
	if cap(t.Words) > most/8 || cap(t.Bytes) > most || cap(t.scratch) > most || cap(t.stems.text) > most {
		t.Bytes, t.Words, t.Source, t.scratch, t.stems.text = nil, nil, nil, nil, nil
	}
}

// Exchange exchanges the words of two Tokens, so that one of them keeps those of a document while
// the other is used for all. What an analyzer remembers of other documents stays where it is.
func (t *Tokens) Exchange(o *Tokens) {
	t.Bytes, o.Bytes = o.Bytes, t.Bytes
	t.Words, o.Words = o.Words, t.Words
	t.Source, o.Source = o.Source, t.Source
	t.WantSource, o.WantSource = o.WantSource, t.WantSource
	t.scratch, o.scratch = o.scratch, t.scratch
	t.stems.text, o.stems.text = o.stems.text, t.stems.text
}

// Word returns the i-th word.
func (t *Tokens) Word(i int) []byte { return t.Bytes[t.Words[i].Start:t.Words[i].End] }

// Gap is how far apart the last word of a field, or of a value of a list, and the first of the next
// one are: no phrase and nothing near each other should go from one to the other.
const Gap = 100

// Places appends where the words stand in a document with breaks, counted in words from 0. The
// words have to be those of the document, analyzed with WantSource.
func (t *Tokens) Places(places, breaks []uint32) []uint32 {
	skipped := uint32(0)
	for i := range t.Words {
		for len(breaks) > 0 && t.Source[i].Start >= breaks[0] {
			breaks, skipped = breaks[1:], skipped+Gap
		}
		places = append(places, uint32(i)+skipped)
	}
	return places
}

// Analyzer turns a document into words. Analyzers are values without state:
// several goroutines may use one, each with Tokens of its own.
type Analyzer interface {
	// Name is what ParseAnalyzer takes to make the same analyzer again.
	Name() string
	// Analyze replaces the words in t by those of doc. A document of 4 GiB or more is refused.
	Analyze(doc []byte, t *Tokens) error
}
