package extract

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/choice"
)

// Document is the text of a file, or of one part of a file.
type Document struct {
	// Part is "" if the file is one document, or else names the part: 1, 2 and so on.
	Part  string
	Kind  string // see the package comment
	Title string // "" if the file has none
	Text  []byte // UTF-8
	// Headings are those of the text, in its order.
	Headings []Heading
	// Fields are values that the file states: author, date, link, from, to, language and others.
	Fields map[string][]string
	// Encoding is that of the file, by its name in the WHATWG standard, or utf-32le or utf-32be.
	Encoding string
}

// Heading is the title of a section.
type Heading struct {
	At    int    `json:"at"`    // offset in the text at which the heading's line begins
	Level int    `json:"level"` // 1 for the highest
	Text  string `json:"text"`  // without markup
}

// Options bound what is read. The zero value is useful.
type Options struct {
	// MaxText is the largest text that is extracted, in bytes; 0 means 64 MB. It also bounds what
	// compressed files may expand to.
	MaxText int
	// Encoding is that of text that does not say its own and is not UTF-8; "" means a guess.
	Encoding string
}

func (o *Options) maxText() int {
	if o.MaxText <= 0 {
		return 64 << 20
	}
	return o.MaxText
}

// Why says why a file has no text.
type Why int

// The reasons.
const (
	Unknown     Why = iota // it is not of a kind that is read
	Encrypted              // it needs a password
	Broken                 // it is not what its kind should be
	NoText                 // such as scanned pages
	TooLarge               // beyond the bounds of Options
	Unsupported            // of a kind that is known, but not read, such as old formats of Word
)

var reasons = choice.New[Why]("reason", "unknown", "encrypted", "broken", "no-text", "too-large", "unsupported")

func (w Why) String() string { return reasons.Of(w) }

// MarshalText writes the name.
func (w Why) MarshalText() ([]byte, error) { return reasons.Text(w) }

// UnmarshalText reads a name.
func (w *Why) UnmarshalText(name []byte) error { return reasons.Set(w, string(name)) }

// Error is returned for a file whose text cannot be found.
type Error struct {
	Why Why   // the reason
	Err error // details, or nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Why.String()
	}
	return e.Why.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func fail(why Why, format string, args ...any) error {
	return &Error{why, fmt.Errorf(format, args...)}
}

// asError returns any error as an Error: one that no reader explained means a broken file.
func asError(err error) error {
	if e := (*Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{Broken, err}
}

// reader finds the text of one kind of file.
type reader struct {
	kind       string
	extensions string // separated by blanks
	read       func(in *input) ([]Document, error)
}

// input is a file that is being read.
type input struct {
	name  string // in lower case
	data  []byte
	o     Options
	depth int // of files within files
}

// readers are tried in order; the last takes any text.
var readers []reader

func init() {
	readers = []reader{
		{"markdown", "md markdown mdx qmd rmd mkd", markdown},
		{"rst", "rst", rst},
		{"html", "html htm xhtml shtml", html},
		{"pdf", "", pdfText},
		{"docx", "docx docm dotx", docx},
		{"pptx", "pptx pptm", pptx},
		{"opendocument", "odt ott odp ods odg", openDocument},
		{"epub", "epub", epub},
		{"mail", "eml", eml},
		{"mailbox", "mbox mbx", mbox},
		{"notebook", "ipynb", notebook},
		{"subtitles", "srt vtt", subtitles},
		{"code", codeExtensions, plain},
		{"text", "txt text log", plain},
	}
}

// Read returns the text of a file, of which name is the path or only the base name. The error is an
// *Error. Texts may refer to data.
func Read(name string, data []byte, o Options) (docs []Document, err error) {
	return (&input{name: strings.ToLower(path.Base(name)), data: data, o: o}).read()
}

// deepest is how deep files may be nested in archives and mails.
const deepest = 4

func (in *input) read() (docs []Document, err error) {
	defer func() { // a last guard around the readers of others
		if p := recover(); p != nil {
			docs, err = nil, fail(Broken, "the reader failed: %v", p)
		}
		err = asError(err)
	}()
	if in.depth > deepest {
		return nil, fail(TooLarge, "nested more than %d deep", deepest)
	}
	if in.packed() {
		return in.unzipped()
	}
	r := in.reader()
	if what := refused[in.extension()]; what != "" && (r == nil || strings.HasPrefix(string(in.data[:min(len(in.data), 5)]), "{\\rtf") ||
		bytes.HasPrefix(in.data, []byte("%!PS"))) {
		return nil, fail(Unsupported, "%s", what)
	}
	if r == nil {
		return nil, &Error{Why: Unknown}
	}
	if zipped := bytes.HasPrefix(in.data, []byte("PK")); slices.Contains(zippedKinds, r.kind) && !zipped {
		if bytes.HasPrefix(in.data, []byte("\xd0\xcf\x11\xe0")) { // what encrypted ones are wrapped in
			return nil, &Error{Why: Encrypted}
		}
		return nil, fail(Broken, "it is no zip file")
	}
	docs, err = r.read(in)
	if err != nil {
		return nil, err
	}
	some := false
	for i := range docs {
		d := &docs[i]
		if d.Kind == "" {
			d.Kind = r.kind
		}
		d.finish()
		some = some || len(bytes.TrimSpace(d.Text)) > 0 || d.Title != ""
		if len(d.Text) > in.o.maxText() {
			return nil, fail(TooLarge, "%d bytes of text: at most %d are read", len(d.Text), in.o.maxText())
		}
	}
	if !some && !slices.Contains(mayBeEmpty, r.kind) && len(in.data) > 0 {
		return nil, &Error{Why: NoText}
	}
	return docs, nil
}

// mayBeEmpty are kinds of which a file without text is no problem: a mail has its header.
var mayBeEmpty = []string{"text", "code", "mail", "mailbox"}

// zippedKinds are the kinds whose files are zip files. Only their extensions tell them apart.
var zippedKinds = []string{"docx", "pptx", "opendocument", "epub"}

func (in *input) extension() string { return strings.TrimPrefix(path.Ext(in.name), ".") }

// reader chooses how a file is read: by its first bytes if they are clear, or else by its name.
func (in *input) reader() *reader {
	kind := in.byBytes()
	ext := in.extension()
	for i := range readers {
		r := &readers[i]
		binary := kind == "unknown" && slices.Contains(zippedKinds, r.kind)
		if kind == r.kind || (kind == "" || binary) && ext != "" && slices.Contains(strings.Fields(r.extensions), ext) {
			return r
		}
	}
	if kind == "" && isText(in.data) {
		return &readers[len(readers)-1]
	}
	return nil
}

// byBytes returns the kind that a file's first bytes show, "unknown" for bytes that are no text, or
// "" if the name should decide.
func (in *input) byBytes() string {
	start := in.data[:min(len(in.data), 1024)]
	if head := bytes.ToLower(bytes.TrimLeft(start, " \t\r\n\ufeff")); bytes.HasPrefix(head, []byte("<!doctype html")) ||
		bytes.HasPrefix(head, []byte("<html")) {
		return "html"
	}
	if i := bytes.Index(start, []byte("%PDF-")); i == 0 || i > 0 && (in.extension() == "pdf" || i < 100) {
		return "pdf"
	}
	if bytes.HasPrefix(start, []byte("From ")) && boxStart.Match(start) {
		return "mailbox"
	}
	if !isText(in.data) {
		if e := in.extension(); e == "eml" || e == "mbox" { // bodies may be anything
			return ""
		}
		return "unknown"
	}
	return ""
}

func (in *input) packed() bool {
	return strings.HasSuffix(in.name, ".gz") && bytes.HasPrefix(in.data, []byte("\x1f\x8b"))
}

// boxStart matches the first line of a mail box, such as From anna@b.org Thu Feb 29 12:00:00 2024.
var boxStart = regexp.MustCompile(`^From \S+ +\w{3} +\w{3} +\d+ +\d+:\d+(:\d+)? `)

// unzipped reads what a gzip file holds.
func (in *input) unzipped() ([]Document, error) {
	z, err := gzip.NewReader(bytes.NewReader(in.data))
	if err != nil {
		return nil, err
	}
	data, err := atMost(z, in.o.maxText())
	if err != nil {
		return nil, err
	}
	return (&input{strings.TrimSuffix(in.name, ".gz"), data, in.o, in.depth + 1}).read()
}

// atMost reads up to a bound of bytes; more is an error.
func atMost(r io.Reader, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if len(data) > most {
		return nil, fail(TooLarge, "it expands to more than %d bytes", most)
	}
	return data, nil
}

// set adds a value of a field, unless it is empty or there already.
func (d *Document) set(field, value string) {
	value = strings.Join(strings.Fields(strings.ToValidUTF8(value, "\ufffd")), " ")
	if value == "" || slices.Contains(d.Fields[field], value) {
		return
	}
	if d.Fields == nil {
		d.Fields = map[string][]string{}
	}
	d.Fields[field] = append(d.Fields[field], value)
}

// finish makes a document keep its promises: valid UTF-8, titles of one line.
func (d *Document) finish() {
	d.Title = oneLine(d.Title)
	if d.Title == "" && len(d.Headings) > 0 && d.Headings[0].Level == 1 {
		d.Title = d.Headings[0].Text
	}
}

// oneLine returns text as valid UTF-8 on one line, cut at about 500 bytes.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) > 500 {
		s = strings.ToValidUTF8(s[:500], "")
	}
	return s
}

// Reads reports whether a file would be read, by its name and its first 8 KB. Read may still fail.
func Reads(name string, start []byte) bool {
	in := &input{name: strings.ToLower(path.Base(name)), data: start}
	return in.packed() || in.reader() != nil || refused[in.extension()] != ""
}
