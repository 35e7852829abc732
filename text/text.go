package text

import (
	"context"
	"io"
	"iter"
	"log/slog"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/given"
)

// Document is one unit of a corpus. Readers of files fill in all of it. A program that makes
// documents itself, for Corpus.Source or segments.Writer, sets ID and either Text or, if there is a
// schema, Fields. With Fields, the text is that of the text fields, as fields.Schema.Text joins
// them, and phrases do not cross fields. Text may be given beside Fields only if it is the same
// text; see Document.Complete.
type Document struct {
	// ID is the document's own ID if the format has one. Otherwise it is "file:number", with the
	// document's number in the file from 1, or "file" alone if a file is one document. The file's
	// name is its path relative to Options.Root. Without a Root it is its base name or, inside a
	// folder of the corpus, its path relative to that folder.
	ID string
	// Text is the text as bytes. It belongs to the Batch and is valid as long as the Batch is.
	Text []byte
	// Fields are the values of the fields of Options.Schema, in its order; nil if there is no
	// schema. A text field has at most one value: lists are joined by newlines. They are valid as
	// long as Text is.
	Fields []fields.Values
	// Breaks are the offsets in Text, ascending, at which another field, or another value of a
	// list, begins. Phrases and windows of words do not cross them. They are valid as long as Text
	// is.
	Breaks []uint32
	// Headings are those of the field that is cut into passages, ascending. Without any, lines of
	// Markdown may be; see fields.Headings.
	Headings []Heading
}

// Heading is a heading in a text.
type Heading struct {
	At    int    `json:"at"`    // where its line begins, in bytes
	Level int    `json:"level"` // 1 is the outermost
	Text  string `json:"text"`  // without signs of Markdown
}

// Batch is a run of consecutive documents of a corpus. Batches are numbered from 0 in corpus order
// (Seq), and their borders do not depend on the number of threads. So a document always has the
// same (Seq, position in Docs).
type Batch struct {
	Seq  int        // number of the batch in the corpus, from 0
	Docs []Document // in corpus order

	parser *parser
	before position
	whole  *Batch // the batch that these are parts of, nil if they are whole
}

// Corpus names the sources of documents and the options for reading them. Nothing is opened before
// All or Batches is called.
type Corpus struct {
	Paths   []string // files, folders (walked in byte order of their paths), or "-"
	Options Options  // how they are read; the zero value detects their format
	// Source, if it is not nil, yields documents from memory; Paths is ignored. Each slice becomes
	// a batch, which is best about a megabyte large, and must not be changed afterwards. Documents
	// are completed by Options.Schema; see Document.Complete. Source is called once each time the
	// corpus is read, and should end when the context is cancelled.
	Source func(ctx context.Context) iter.Seq2[[]Document, error]

	// Stdin is what the path "-" reads; nil means standard input.
	Stdin io.Reader
	// Streams, if not empty, are read instead of Paths.
	Streams []Stream
}

// Stream is a file, or a part of one, that is read through Open instead of a path.
type Stream struct {
	Name string // name of the file in IDs and errors
	// Before is the number of documents of the file before this part, from which those without an
	// ID are numbered; 0 at the file's beginning.
	Before int64
	// Open opens the file or the part, which may be compressed. It is called once each time the
	// corpus is read, and its result is closed then.
	Open func() (io.ReadCloser, error)
}

// Options controls how files are read as documents. The zero value detects the format.
type Options struct {
	// Format is how the files hold documents. Auto, the zero value, detects it for each file.
	Format Format
	// Weights takes JSON objects of tokens and weights as text, for the analyzer impact. The usual
	// field is then vector.
	Weights bool
	// Plain is the format of files that are detected as plain text: Lines, File or Blank. Auto, the
	// zero value, detects it.
	Plain Format
	// Fields names the fields of JSON and tables that hold the text. They are joined by newlines in
	// this order; empty ones are left out. If Fields is empty, the usual names are used: see the
	// package comment. In SMART they are the letters of the sections, T and W by default.
	Fields []string
	// Schema, in place of Fields, names the fields with their types. The text of a document is that
	// of its text fields, in the schema's order.
	Schema *fields.Schema
	// Cut says that the documents of Source are passages already, if Schema has Passages.
	Cut bool
	// Sparse allows fields of the schema that occur in no JSON record: Note is called, and it is
	// not an error.
	Sparse bool
	// IDField names the field of JSON and tables that holds the ID; "" means the usual names.
	IDField string
	// Encoding is the character encoding of the files; see ParseEncoding. The zero value is Bytes,
	// which leaves them as they are. The command's default is UTF8, which makes other bytes an
	// error, except with analyzers of bytes: whitespace and ascii.
	Encoding Encoding
	// Root is a folder: names of files in IDs are paths relative to it. A file outside it is an
	// error if one of its documents gets its ID from the file's name. If Root is "", names are as
	// in Document.ID; package index sets it, see Corpus.WithRoot.
	Root string
	// Except names files and folders to leave out when the folders of Paths are walked: for example
	// the folder of results, which would otherwise be read as documents.
	Except []string
	// MaxDocument is the largest allowed size of a document in bytes; 0 means 64 MB. A longer one
	// is an error.
	MaxDocument int64
	// Memory bounds the working memory in bytes; 0 means 2 GB. A document may be at most a 30th of
	// it, because finding and counting its words takes many times its size.
	Memory int64
	// Threads is the number of workers that parse documents; 0 means GOMAXPROCS.
	Threads int
	// Progress is called with the number of bytes read and the total, or 0 if that is unknown. It
	// may be called from several goroutines.
	Progress func(done, total int64)
	// Note, unless it is nil, is called with a line of text for what was left out or follows from
	// names, such as fields that were chosen.
	Note func(line string)
	// Guess is called with a line of text for each guess by contents that changes the documents,
	// such as that blank lines separate them; nil means Note.
	Guess func(line string)
	// SkipBad, unless it is nil, is called for each file that cannot be opened, is not text, or
	// is not in its format or encoding, and the file is skipped. If it is nil, the first such file
	// is an error. So is, in any case, an error behind the first megabyte of a file, whose
	// documents up to there have been passed on.
	SkipBad func(path string, err error)
	// Finish, unless it is nil, completes documents before they are passed on, such as with values
	// of fields of the schema. It is called with several at a time, after they were cut into
	// passages, and concurrently. It may set what a Document has, but not change what that refers
	// to.
	Finish func(ctx context.Context, schema *fields.Schema, docs []Document) error
	// Beside, unless it is nil, completes documents with what is in files beside the corpus.
	Beside Beside
	// Log, unless it is nil, receives the detected format of each file. Jobs that read the corpus
	// log there why the cores repeat what a GPU that engine.Auto chose could not do.
	Log *slog.Logger

	// onName, unless it is nil, is called if an ID is made from the name of a file, or is it.
	onName func(name string, file bool) error
	whole  bool // Auto takes plain text for one document, as in a folder
}

// All yields the documents in corpus order. A Document is valid until the next iteration. The
// iteration ends with the first error.
func (c *Corpus) All(ctx context.Context) iter.Seq2[Document, error] {
	if err := given.Context(ctx); err != nil {
		return given.Failed[Document](err)
	}
	if s := c.Options.Schema; s != nil && s.Passages != nil && !c.Options.Cut {
		return c.finishedAll(ctx, c.passages(s).all(ctx))
	}
	if c.Source != nil {
		return c.finishedAll(ctx, c.sourceAll(ctx))
	}
	return c.finishedAll(ctx, c.all(ctx))
}

// Batches reads the corpus with Options.Threads workers, numbered from 0, and calls fn for each
// batch: concurrently, and in any order of Seq. A batch is valid until fn returns. The first error
// stops all workers. When fn is called with a batch, all earlier batches have been or will be
// passed to fn as well, so fn may wait for its turn by Seq.
func (c *Corpus) Batches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	return c.finishing(ctx, fn, func(fn func(worker int, b *Batch) error) error {
		if s := c.Options.Schema; s != nil && s.Passages != nil && !c.Options.Cut {
			return c.passages(s).batches(ctx, fn)
		}
		if c.Source != nil {
			return c.sourceBatches(ctx, fn)
		}
		return c.batches(ctx, fn)
	})
}

// Span is the half-open byte range [Start, End).
type Span struct {
	Start uint32 `json:"start"` // offset of the first byte
	End   uint32 `json:"end"`   // offset behind the last byte
}

// Tokens are the words of one document. Reuse one Tokens for many documents: the
// slices keep their capacity.
type Tokens struct {
	// Bytes holds the words. If the analyzer changes nothing, Bytes is the document itself.
	Bytes []byte
	// Words are the ranges of the words in Bytes, in the order of the document.
	Words []Span
	// Source is the range of each word in the document. It is only filled if WantSource is set, or
	// if At is filled.
	Source []Span
	// Counts are how often each word counts, if the analyzer reads weights; see OfWeights.
	// Otherwise it is empty, and each word counts once. A word with counts has no positions.
	Counts []uint32
	// At are the positions of the words, by which phrases match, if they are not 0, 1, 2 and so on;
	// otherwise it is empty. They never fall; words at the same position differ. Only analyzers
	// that make several words of one fill it.
	At []uint32
	// WantSource, set before Analyze is called, asks it to fill Source.
	WantSource bool

	scratch []byte
	seen    map[uint64]uint32 // the analyzer impact: places in Words by hashes
	stems   stemCache
	// For chains: two buffers that filters use in turn, the list of words that one reads while it
	// writes another, and others.
	rooms [2][]byte
	turn  int
	old   struct {
		words, source []Span
		at            []uint32
	}
	spans   []Span
	offsets [2][]uint32
}

// Trim frees buffers that a document of several megabytes has grown.
func (t *Tokens) Trim() {
	const most = 1 << 20
	if cap(t.Words) > most/8 || cap(t.Bytes) > most || cap(t.scratch) > most || cap(t.stems.text) > most {
		t.Bytes, t.Words, t.Source, t.Counts, t.scratch, t.stems.text = nil, nil, nil, nil, nil, nil
		t.At, t.rooms, t.old.words, t.old.source, t.old.at = nil, [2][]byte{}, nil, nil, nil
	}
}

// Exchange swaps the words of two Tokens, so that one can keep the words of a document while the
// other is reused. The analyzers' caches are not swapped.
func (t *Tokens) Exchange(o *Tokens) {
	t.Bytes, o.Bytes = o.Bytes, t.Bytes
	t.Words, o.Words = o.Words, t.Words
	t.Source, o.Source = o.Source, t.Source
	t.Counts, o.Counts = o.Counts, t.Counts
	t.WantSource, o.WantSource = o.WantSource, t.WantSource
	t.At, o.At = o.At, t.At
	t.scratch, o.scratch = o.scratch, t.scratch
	t.rooms, o.rooms = o.rooms, t.rooms
	t.turn, o.turn = o.turn, t.turn
	t.stems.text, o.stems.text = o.stems.text, t.stems.text
}

// Count is how often the i-th word counts.
func (t *Tokens) Count(i int) uint32 {
	if len(t.Counts) == 0 {
		return 1
	}
	return t.Counts[i]
}

// Total is the number of words, each as often as it counts.
func (t *Tokens) Total() int {
	if len(t.Counts) == 0 {
		return len(t.Words)
	}
	n := 0
	for _, count := range t.Counts {
		n += int(count)
	}
	return n
}

// Word returns the i-th word.
func (t *Tokens) Word(i int) []byte { return t.Bytes[t.Words[i].Start:t.Words[i].End] }

// gap is the distance, in word positions, between the last word of a field (or of a value in a
// list) and the first word of the next. It keeps phrases and proximity queries from matching across
// them.
const gap = 100

// Places appends the positions of the words, counted from 0, to places, with a gap at each of the
// document's breaks. If there are breaks, the document must have been analyzed with WantSource.
func (t *Tokens) Places(places, breaks []uint32) []uint32 {
	skipped := uint32(0)
	for i := range t.Words {
		for len(breaks) > 0 && t.Source[i].Start >= breaks[0] {
			breaks, skipped = breaks[1:], skipped+gap
		}
		places = append(places, t.place(i)+skipped)
	}
	return places
}

// Sections returns the ends, in Words, of the runs of words between the document's breaks, without
// empty ones. The words of different fields are in different sections, so windows of words that
// keep to their section do not cross fields. If there are breaks, the document must have been
// analyzed with WantSource.
func (t *Tokens) Sections(ends []int, breaks []uint32) []int {
	begin := 0
	for i := 0; i < len(t.Words) && len(breaks) > 0; i++ {
		if t.Source[i].Start < breaks[0] {
			continue
		}
		if i > begin {
			ends, begin = append(ends, i), i
		}
		for len(breaks) > 0 && t.Source[i].Start >= breaks[0] {
			breaks = breaks[1:]
		}
	}
	if len(t.Words) > begin {
		ends = append(ends, len(t.Words))
	}
	return ends
}

// Analyzer splits a document into words. Analyzers have no state: several goroutines may use one,
// each with its own Tokens.
//
// One of your own may have two more methods. ForQuery() Analyzer returns the analyzer for the words
// of queries, if that is another one. Normalize(part string) string returns part of a word, such as
// the sol of a query sol*, as Analyze would change its characters; without it, parts are analyzed
// to see whether capitals stay, and not otherwise changed.
type Analyzer interface {
	// Name returns a name from which ParseAnalyzer makes the same analyzer. An analyzer of your own
	// needs another name than those of Analyzers, of letters, digits, -, _ and dots: indexes store
	// it, and who opens an index gives the analyzer of that name.
	Name() string
	// Analyze replaces the words in t by those of doc; for an analyzer of your own, the lists in t
	// are empty, and WantSource is set. Words have 1 byte to 1 MB. It returns an error if doc has 4
	// GiB or more.
	Analyze(doc []byte, t *Tokens) error
}
