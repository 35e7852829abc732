package cooccur

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/collocate/collocate/internal/gpu/words"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// plainFile is a file that is read as it is, without package text.
type plainFile struct {
	path string
	size int64
}

// plainLines returns the corpus's files if all of them are regular, not compressed, and have one
// document per line.
func plainLines(c *text.Corpus) ([]plainFile, bool) {
	if c.Options.Format != text.Lines && c.Options.Format != text.Auto || c.Options.Encoding != text.Bytes ||
		c.Source != nil || len(c.Streams) > 0 { // instead of paths
		return nil, false
	}
	var files []plainFile
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if path == "-" || err != nil || !info.Mode().IsRegular() || !mayBeLines(path, &c.Options) {
			return nil, false // left to package text, which reads it or reports the error
		}
		files = append(files, plainFile{path, info.Size()})
	}
	return files, true
}

// mayBeLines reports whether a file's first bytes are uncompressed text and, if the format is
// guessed, are one document per line without anything to be said.
func mayBeLines(path string, o *text.Options) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, textfile.HeadSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false
	}
	head, whole := head[:n], n < len(head)
	return textfile.Codec(head) == "" && textfile.WhyNotText(head) == "" &&
		(o.Format == text.Lines || o.PlainLines(head, whole, filepath.Base(path)))
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// lineReader divides a corpus of plain files among workers, in parts that end with a line and fit a
// slot. A line that does not fit is a part of its own.
type lineReader struct {
	files []plainFile
	room  int64
	tell  func(done, total int64)
	total int64

	mu   sync.Mutex
	in   *os.File
	open []*os.File
	at   int64
	done int64
}

// linePart is some lines of a file.
type linePart struct {
	file       *os.File
	path       string
	start, end int64
	last       bool // the last part of the file
}

func (p linePart) size() int64 { return p.end - p.start }

func (r *lineReader) close() {
	for _, f := range r.open {
		f.Close()
	}
}

// next returns the next part; ok is false when there is none.
func (r *lineReader) next(ctx context.Context) (p linePart, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.files) > 0 && r.at == r.files[0].size {
		r.files, r.in, r.at = r.files[1:], nil, 0
	}
	if len(r.files) == 0 {
		return p, false, ctx.Err()
	}
	file := r.files[0]
	if r.in == nil {
		if r.in, err = os.Open(file.path); err != nil {
			return p, false, err
		}
		r.open = append(r.open, r.in)
	}
	end, err := r.border(ctx, file)
	if err != nil {
		return p, false, err
	}
	p = linePart{r.in, file.path, r.at, end, end == file.size}
	r.at = end
	return p, true, nil
}

// border returns the end of the last line that fits or, if none does, of the first line.
func (r *lineReader) border(ctx context.Context, file plainFile) (int64, error) {
	end := r.at + r.room
	if end >= file.size {
		return file.size, nil
	}
	for back := int64(4 << 10); ; back *= 8 {
		back = min(back, r.room)
		window, err := readAt(r.in, file, end-back, make([]byte, back))
		if err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(window, '\n'); i >= 0 {
			return end - back + int64(i) + 1, nil
		}
		if back == r.room {
			break
		}
	}
	window := make([]byte, 1<<20)
	for ; end < file.size; end += int64(len(window)) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		window, err := readAt(r.in, file, end, window[:min(int64(len(window)), file.size-end)])
		if err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(window, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return file.size, nil
}

func readAt(f *os.File, file plainFile, off int64, b []byte) ([]byte, error) {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return b, nil
	}
	if err == io.EOF {
		return nil, fmt.Errorf("read %s: it ends at byte %d but had %d bytes when opened",
			file.path, off+int64(n), file.size)
	}
	return nil, fmt.Errorf("read %s at byte %d: %w", file.path, off+int64(n), err)
}

// readLines fills slots from plain files.
func (f *feed) readLines(ctx context.Context, r *lineReader, threads int) error {
	defer r.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for {
				p, ok, err := r.next(ctx)
				if err == nil && ok {
					err = f.readPart(ctx, p)
				}
				if err != nil {
					cancel(err)
				}
				if err != nil || !ok {
					return
				}
				if r.tell != nil {
					r.mu.Lock()
					r.done += p.size()
					r.tell(r.done, r.total)
					r.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// readPart reads a part into a slot, or a long line into several slots.
func (f *feed) readPart(ctx context.Context, p linePart) error {
	file := plainFile{p.path, p.end}
	if p.start == 0 {
		head, err := readAt(p.file, file, 0, make([]byte, min(p.size(), int64(len(byteOrderMark)))))
		if err != nil {
			return err
		}
		if bytes.Equal(head, byteOrderMark) {
			p.start = int64(len(byteOrderMark))
		}
	}
	s, err := f.slot(ctx)
	if err != nil {
		return err
	}
	room := s.host.Values()
	if p.size() > int64(len(room)-1) {
		f.free <- s
		lines := io.NewSectionReader(p.file, p.start, p.size())
		return f.long(ctx, lines, false)
	}
	b, err := readAt(p.file, file, p.start, room[:p.size()])
	if err != nil {
		f.free <- s
		return err
	}
	if n := len(b); p.last && n > 0 && b[n-1] != '\n' {
		b = room[:n+1]
		b[n] = '\n'
	}
	s.n = len(f.kind.Squeeze(b))
	f.put(s)
	return nil
}

// long submits a text that does not fit a slot, in consecutive pieces that end between words. It
// adds a newline, which ends a document, if the text does not end with one. If blanks is true, the
// text is a document of several lines, and its newlines become blanks.
func (f *feed) long(ctx context.Context, r io.Reader, blanks bool) error {
	if f.whole {
		return fmt.Errorf("a document of more than %d bytes is too long for the paper's method; use cooccur.Options.Method=auto", f.slots[0].text.Len())
	}
	f.submit.Lock()
	defer f.submit.Unlock()
	var carry []byte
	ended := false // the last piece submitted ends with a newline
	for {
		s, err := f.slot(ctx)
		if err != nil {
			return err
		}
		buf := s.host.Values()
		n := copy(buf, carry)
		m, err := io.ReadFull(r, buf[n:len(buf)-1])
		b := buf[:n+m]
		if blanks {
			newlinesToBlanks(b[n:])
		}
		if b = f.kind.Squeeze(b); err == io.EOF || err == io.ErrUnexpectedEOF {
			if len(b) == 0 && ended {
				f.free <- s
				return nil
			}
			if len(b) == 0 || b[len(b)-1] != '\n' {
				b = append(b, '\n')
			}
			s.n = len(b)
			f.filled <- s
			return nil
		}
		if err != nil {
			f.free <- s
			return fmt.Errorf("read a long document: %w", err)
		}
		cut := bytes.LastIndexAny(b, " \t\n") + 1
		if f.kind == words.ASCII {
			cut = lastNotLetter(b) + 1
		}
		rest := b[cut:]
		if cut == 0 && f.kind == words.Whitespace {
			rest = b[:min(len(b), maxWord+8)] // longer words are cut off anyway
		} else if cut == 0 {
			f.free <- s
			return fmt.Errorf("a word of more than %d bytes is too long for the GPU engine; use cooccur.Options.Engine=multicore", len(b))
		}
		carry = append(carry[:0], rest...)
		if s.n = cut; cut == 0 {
			f.free <- s
			continue
		}
		ended = b[cut-1] == '\n'
		f.filled <- s
	}
}

func newlinesToBlanks(b []byte) {
	for i := bytes.IndexByte(b, '\n'); i >= 0; i = bytes.IndexByte(b, '\n') {
		b[i] = ' '
		b = b[i+1:]
	}
}

func lastNotLetter(b []byte) int {
	for i := len(b) - 1; i >= 0; i-- {
		if c := b[i] | 0x20; c < 'a' || c > 'z' {
			return i
		}
	}
	return -1
}
