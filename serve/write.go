package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// writeAnswer says what a change did.
type writeAnswer struct {
	// Added is the number of documents that were added, or replaced those with the same IDs.
	Added   int `json:"added"`
	Deleted int `json:"deleted"` // number of documents that were deleted
	// Merged is the number of segments that were merged.
	Merged int `json:"merged,omitempty"`
	Failed int `json:"failed"` // number of lines that are no document
	// Errors are the first hundred of them.
	Errors []lineError `json:"errors,omitempty"`
	// Ignored are fields of documents that the index does not have.
	Ignored []string `json:"ignored,omitempty"`
	Notes   []string `json:"notes,omitempty"` // what may not be as intended
	// Durable is true if the change is on disk and visible to searches. Otherwise it will be soon.
	Durable bool `json:"durable"`
	// Generation is that of the index with the change, if it is durable. In a bucket, --generation
	// takes it.
	Generation uint64 `json:"index_generation,omitempty"`
}

// lineError is an error in a line of documents.
type lineError struct {
	Line  int64  `json:"line"`         // counted from 1
	ID    string `json:"id,omitempty"` // of the document, if it has one
	Error string `json:"error"`        // what is wrong with it
}

const (
	maxLineErrors = 100
	maxErrorSize  = 500       // bytes of a message about a line
	partBytes     = 256 << 10 // of documents that are added in one turn
	encodedAtOnce = 32        // documents whose vectors an encoder makes with one request
)

// fail notes an error of a line.
func (a *writeAnswer) fail(line int64, id string, err error) {
	if a.Failed++; len(a.Errors) < maxLineErrors {
		a.Errors = append(a.Errors, lineError{line, shortened(id), shortened(said(err))})
	}
}

// shortened cuts a text that a client could make as long as a document.
func shortened(s string) string {
	if len(s) > maxErrorSize {
		s = s[:maxErrorSize] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// addDocuments adds the documents in the body, or replaces those with the same IDs. They are one
// JSON object per line, or with the type application/json a single one.
func (x *exchange) addDocuments() {
	var ask api.Add
	err := x.asked(api.AddQuestion, &ask)
	how, asJob := refresh(ask.Refresh), ask.Job
	kind, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if code := x.r.Header.Get("Content-Encoding"); err == nil && code != "" && code != "identity" {
		err = fmt.Errorf("Content-Encoding %s: want none", code)
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	in := &bulk{x.Server, x.ix, x.client, x.g.objects(x.o.Limits.Document),
		newLines(&body{x: x}, x.o.Limits.Document), kind == "application/json"}
	x.letGo(x.g) // a slow client must not keep an old generation open
	x.g = nil
	if asJob {
		x.addLater(in, how)
		return
	}
	a, err := in.add(x.r.Context(), how, nil)
	http.NewResponseController(x.w).SetReadDeadline(time.Time{}) // from now on a client that leaves is noticed
	if err == nil && a.Added == 0 && a.Failed > 0 {
		x.send(http.StatusBadRequest, "application/problem+json", struct {
			*problem
			*writeAnswer
		}{problemOf(http.StatusBadRequest, errors.New(a.Errors[0].of())), a})
		return
	}
	x.answerChange(a, err)
}

// of describes the error with its line.
func (e *lineError) of() string { return fmt.Sprintf("line %d: %s", e.Line, e.Error) }

// answerChange answers with what was changed: 200 if it is durable, 202 if it will be.
func (x *exchange) answerChange(a *writeAnswer, err error) {
	switch {
	case err != nil:
		x.failed(err)
	case a.Durable:
		x.reply(http.StatusOK, a)
	default:
		x.reply(http.StatusAccepted, a)
	}
}

// body is the body of a request. A client that sends nothing for a while is disconnected, and each
// byte counts towards its quota.
type body struct {
	x     *exchange
	until time.Time
}

func (b *body) Read(to []byte) (int, error) {
	if now := time.Now(); b.until.Sub(now) < patience/2 {
		b.until = now.Add(patience)
		http.NewResponseController(b.x.w).SetReadDeadline(b.until)
	}
	if over := b.x.quotas.write(b.x.quotaKey(), 0); over != nil {
		return 0, over
	}
	b.x.conn.answering(false)
	n, err := b.x.r.Body.Read(to)
	b.x.conn.answering(true)
	b.x.quotas.write(b.x.quotaKey(), int64(n)) // the next Read fails if that was too much
	return n, err
}

// lineReader reads lines of a bounded length.
type lineReader struct {
	in     *bufio.Reader
	most   int64
	number int64 // of the last line
	row    []byte
}

func newLines(from io.Reader, most int64) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(from, 64<<10), most: most}
}

// errLongLine is the error of a line that is too long; the next one can be read.
var errLongLine = errors.New("the line is too long")

// next returns the next line that is not blank, without its end. It is valid until the next call.
// After the last one it returns io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		row, err := l.line()
		if errors.Is(err, errLongLine) || len(bytes.TrimSpace(row)) > 0 {
			if err == io.EOF {
				err = nil
			}
			return row, err
		}
		if err != nil {
			return nil, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	l.row = l.row[:0]
	long := false
	l.number++
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || int64(len(l.row)+len(part)) > l.most; !long {
			l.row = append(l.row, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || err == io.EOF):
			return nil, fmt.Errorf("%w: want at most %d bytes", errLongLine, l.most)
		}
		return bytes.TrimSuffix(l.row, []byte("\n")), err
	}
}

// whole returns everything as one line.
func (l *lineReader) whole() ([]byte, error) {
	if l.number++; l.number > 1 {
		return nil, io.EOF
	}
	row, err := io.ReadAll(io.LimitReader(l.in, l.most+1))
	if err == nil && int64(len(row)) > l.most {
		err = fmt.Errorf("%w: want at most %d bytes", errLongLine, l.most)
	}
	return row, err
}

// bulk is a stream of documents for an index.
type bulk struct {
	v      *Server
	ix     *served
	client netip.Addr

	objects *text.Objects
	lines   *lineReader
	single  bool // the body is one document
}

// add adds the documents until the stream ends. An error in a document is noted, and the others are
// added. If the stream itself fails, those before stay. tell, unless it is nil, is called with the
// answer so far.
func (b *bulk) add(ctx context.Context, how refresh, tell func(*writeAnswer)) (a *writeAnswer, err error) {
	c := b.ix.writer
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		return nil, err
	}
	a = &writeAnswer{}
	next := b.lines.next
	if b.single {
		next = b.lines.whole
	}
	atOnce := 1
	if b.v.o.Encoder != nil {
		atOnce = encodedAtOnce
	}
	for more := true; more; {
		var part [][]byte
		var numbers []int64
		size := 0
		for size < partBytes && more {
			row, failed := next()
			switch {
			case errors.Is(failed, errLongLine):
				a.fail(b.lines.number, "", failed)
			case errors.Is(failed, io.EOF):
				more = false
			case failed != nil:
				err, more = failed, false
			default:
				part, numbers = append(part, bytes.Clone(row)), append(numbers, b.lines.number)
				size += len(row)
			}
		}
		if len(part) == 0 {
			continue
		}
		n := a.Added
		stop := b.v.inTurn(ctx, b.client, a.Added+a.Failed == 0, func(ctx context.Context) error {
			for from := 0; from < len(part); from += atOnce {
				to := min(from+atOnce, len(part))
				if err := b.addSome(w, part[from:to], numbers[from:to], a); err != nil {
					return err
				}
				if broke := w.Err(); broke != nil {
					c.poke()
					return fmt.Errorf("%w: %w", errLost, broke)
				}
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return nil
		})
		if a.Added > n {
			if lost := c.changed(ctx, a.Added-n, int64(size), broken, refreshNot, a); lost != nil {
				return a, lost
			}
		}
		if stop != nil {
			return a, stop
		}
		if tell != nil {
			tell(a)
		}
	}
	a.Ignored = b.objects.Others()
	if err != nil {
		if over := new(overQuota); errors.As(err, &over) && a.Added > 0 {
			a.fail(b.lines.number, "", fmt.Errorf("from here on nothing was added: %w", err))
			err = nil
		}
	}
	if err == nil && a.Added > 0 && how != refreshNot {
		err = c.changed(ctx, 0, 0, broken, how, a)
	}
	return a, err
}

// addSome adds the documents of some lines. The error is that of an encoder: each further document
// would wait for it.
func (b *bulk) addSome(w *segments.Writer, rows [][]byte, numbers []int64, a *writeAnswer) error {
	ids, errs := make([]string, len(rows)), make([]error, len(rows))
	docs, of := make([]text.Document, 0, len(rows)), make([]int, 0, len(rows))
	for i, row := range rows {
		d, bad := b.objects.Parse(row)
		if bad == nil && d.ID == "" {
			bad = errors.New("the document has no ID: want a field id")
		}
		if ids[i], errs[i] = d.ID, bad; bad != nil {
			continue
		}
		if len(rows) > 1 {
			d = d.Clone() // Parse uses its memory again
		}
		docs, of = append(docs, d), append(of, i)
	}
	for i, bad := range w.AddMany(docs) {
		errs[of[i]] = bad
	}
	if w.Err() != nil {
		return nil // nothing is added any more
	}
	for i, bad := range errs {
		switch {
		case bad == nil:
			a.Added++
		case errors.Is(bad, api.ErrEncoder):
			return fmt.Errorf("document %q: %w", ids[i], bad)
		default:
			a.fail(numbers[i], ids[i], bad)
		}
	}
	return nil
}

// inTurn does a part of long work in a slot. If none is free it fails, or with again waits further.
func (v *Server) inTurn(ctx context.Context, client netip.Addr, first bool, do func(context.Context) error) (err error) {
	for {
		t, err := v.gate.take(ctx, client, longLane, time.Time{})
		if errors.Is(err, errBusy) && !first {
			continue // it has waited in the queue
		}
		if err != nil {
			return err
		}
		defer t.end()
		defer mmap.Recover(mmap.Guard(), &err)
		return do(t)
	}
}

// deleteDocument deletes the document with an ID.
func (x *exchange) deleteDocument() {
	var ask api.Refreshing
	if err := x.asked(api.RefreshingQuestion, &ask); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	id, a := x.r.PathValue("id"), &writeAnswer{}
	err := x.change(shortLane, refresh(ask.Refresh), a, func(ctx context.Context, w *segments.Writer) (err error) {
		a.Deleted, err = w.Delete(id)
		return err
	})
	if err == nil && a.Deleted == 0 {
		x.refuse(http.StatusNotFound, errNoDocument(id))
		return
	}
	x.answerChange(a, err)
}

// deleteMatching deletes the documents that match a query.
func (x *exchange) deleteMatching() {
	var ask api.Delete
	err := x.asked(api.DeleteQuestion, &ask)
	how, words := refresh(ask.Refresh), ask.Query
	if err == nil && strings.TrimSpace(words) == "" {
		err = &api.Error{Param: "q", Err: errors.New("want a query; * matches all documents")}
	}
	if err == nil {
		err = x.checkWords(words)
	}
	var r search.Request
	if err == nil {
		err = new(api.Search).Ask(api.AboutIndex(x.g.s), &r, words)
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	a := &writeAnswer{Notes: api.DeleteNotes(words, r.Query, query.Options{Fields: x.g.fieldNames()})}
	err = x.change(longLane, how, a, func(ctx context.Context, w *segments.Writer) (err error) {
		a.Deleted, err = x.ix.writer.deleteMatching(w, func(s *search.Searcher) (*search.Within, error) {
			return s.Match(ctx, r)
		})
		return err
	})
	x.answerChange(a, err)
}

// change makes a change in a slot, and waits for its commit if how says so.
func (x *exchange) change(in lane, how refresh, a *writeAnswer,
	do func(context.Context, *segments.Writer) error) error {
	c := x.ix.writer
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		return err
	}
	err = x.work(in, x.o.Limits.Time, func(ctx context.Context) error { return do(ctx, w) })
	if broke := w.Err(); broke != nil {
		c.poke()
		return fmt.Errorf("%w: %w", errLost, broke)
	}
	if err != nil {
		return err
	}
	return c.changed(x.r.Context(), a.Deleted, 0, broken, how, a)
}

// commit makes all changes durable and visible.
func (x *exchange) commit() {
	a := &writeAnswer{}
	err := x.change(longLane, refreshNow, a, func(context.Context, *segments.Writer) error { return nil })
	x.answerChange(a, err)
}

// A job's documents wait in a file, of at most maxSpool bytes; all such files have at most
// maxSpools.
const (
	maxSpool  = 1 << 30
	maxSpools = 4 << 30
)

// spool is a file for the documents of a job. Where the system can, it is gone with the process.
type spool struct {
	v    *Server
	file *os.File
	size int64
	read int64
}

func (s *spool) Write(b []byte) (int, error) {
	if s.size += int64(len(b)); s.v.spooled.Add(int64(len(b))) > maxSpools {
		return 0, errBusy
	}
	if s.size > maxSpool {
		return 0, &http.MaxBytesError{Limit: maxSpool}
	}
	return s.file.Write(b)
}

func (s *spool) Read(b []byte) (int, error) {
	n, err := s.file.Read(b)
	s.read += int64(n)
	return n, err
}

func (s *spool) remove() {
	s.v.spooled.Add(-s.size)
	s.file.Close()
	os.Remove(s.file.Name()) // if it is still there
}

// addLater keeps the documents in a file, and adds them as a job.
func (x *exchange) addLater(in *bulk, how refresh) {
	if _, _, err := in.ix.writer.open(segments.Options{}); err != nil {
		x.failed(err)
		return
	}
	file, err := os.CreateTemp(in.ix.dir, ".collocate-bulk-*")
	if err != nil {
		x.failed(err)
		return
	}
	os.Remove(file.Name())
	s := &spool{v: x.Server, file: file}
	_, err = io.Copy(s, in.lines.in)
	http.NewResponseController(x.w).SetReadDeadline(time.Time{})
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		s.remove()
		x.failed(err)
		return
	}
	in.lines = newLines(s, in.lines.most)
	x.start(jobAnswer{Kind: "documents", Index: in.ix.name, Total: 100}, longJob, func(ctx context.Context, b *job) error {
		a, err := in.add(ctx, how, func(a *writeAnswer) {
			b.tell(int(100*s.read/max(1, s.size)), *a)
		})
		if a != nil {
			b.tell(100, *a)
		}
		return err
	}, s.remove)
}

// tell updates the progress of a job that changes an index. Later errors are appended to those of
// change, which stay.
func (b *job) tell(done int, change writeAnswer) {
	b.change(func(a *jobAnswer) { a.State, a.Done, a.Change = "running", done, &change })
}

// merge merges segments, as a job.
func (x *exchange) merge() {
	x.rewrite("merge", (*segments.Writer).Merge)
}

// compact makes one segment of all, without deleted documents, as a job.
func (x *exchange) compact() {
	x.rewrite("compact", (*segments.Writer).Compact)
}

func (x *exchange) rewrite(kind string, do func(*segments.Writer, context.Context) (int, error)) {
	v, c := x.Server, x.ix.writer
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		x.failed(err)
		return
	}
	x.start(jobAnswer{Kind: kind, Index: x.ix.name, Total: 1}, longJob, func(ctx context.Context, b *job) error {
		var a writeAnswer
		b.tell(0, a)
		if a.Merged, err = do(w, v.resting(ctx)); err != nil {
			return err
		}
		err := c.changed(ctx, 0, 0, broken, refreshNow, &a)
		b.tell(1, a)
		return err
	}, nil)
}
