package text

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/collocate/collocate/internal/textfile"
)

// How a file is cut into pieces that can be parsed apart. The cuts are made at
// documents' borders by a rule that looks at the text alone: the first piece starts
// at byte 0; a piece that starts at byte s ends at the first border found by
// searching from the next multiple of chunkSize above s. It is the same for a plain
// and a compressed file, and for any number of threads.
var (
	// chunkSize is large enough that a piece's fixed cost (a read, a channel, a
	// goroutine switch: some 10 us) vanishes beside parsing it (1 ms), and small
	// enough that text and words of a piece stay in a core's L2 or share of L3.
	chunkSize = 1 << 20
	// windowSize is how much is looked at first when searching a border.
	windowSize = 1 << 14
	// detectSize is how much of a file its format is detected from.
	detectSize = textfile.HeadSize
)

// piece is a run of whole documents of one file.
type piece struct {
	src   *source
	first bool   // the file starts here
	last  bool   // the file ends here; known of text that is read from front to back
	data  []byte // the text, or nil where a worker is to read it:
	off   int64  // where in the file
	size  int    // and how much
}

// task is what one worker turns into one batch: one piece of a long file, or
// several short files, or the error that ended the reading.
type task struct {
	pieces []piece
	size   int
	err    error
	large  bool            // it has a large piece, the only one in work
	in     <-chan position // where the documents before this task end
	out    chan<- position
}

// position is what must be known of all text before a task to number what is in it.
type position struct {
	seq         int   // batches
	docs, lines int64 // in the file at hand

	src         *source // that file
	file, files tally   // of its records, and of those of all files before
	records     int64   // of JSON in all files before
}

// feeder reads a corpus in order and cuts it into tasks.
type feeder struct {
	ctx    context.Context
	corpus *Corpus
	tell   func(n int64)
	emit   func(*task) error // takes the task over; an error stops the feeder
	buffer func() []byte     // a buffer for text, of any length
	spare  []byte
	task   *task
	told   map[string]bool // notes
	mu     sync.Mutex      // of told
	large  chan struct{}   // holds one item while a large piece is in work
}

// tellNote passes on what is to be said of a file, but not the same of another one.
func (f *feeder) tellNote(path, note string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.corpus.Options.Note == nil || note == "" || f.told[note] {
		return
	}
	if f.told == nil {
		f.told = map[string]bool{}
	}
	f.told[note] = true
	f.corpus.Options.Note(path + ": " + note)
}

// enlarge is called before a large piece is read, and waits until no other is in work.
func (f *feeder) enlarge() error {
	if f.task.large {
		return nil
	}
	if err := f.flush(); err != nil {
		return stopped{err}
	}
	select {
	case f.large <- struct{}{}:
		f.task.large = true
		return nil
	case <-f.ctx.Done():
		return stopped{f.ctx.Err()}
	}
}

// take returns an empty buffer.
func (f *feeder) take() []byte {
	b := f.spare
	f.spare = nil
	if b == nil {
		b = f.buffer()
	}
	return b[:0]
}

// run emits all tasks; what goes wrong in reading is the last task's err.
func (f *feeder) run(inputs []input) error {
	f.task = &task{}
	for _, in := range inputs {
		err := f.feed(in)
		if f.skips(in, err) {
			continue
		}
		if stop, ok := err.(stopped); ok {
			return stop.error
		}
		if err != nil {
			if err := f.flush(); err != nil {
				return err
			}
			return f.emit(&task{err: err})
		}
	}
	return f.flush()
}

// stopped marks an error of emit: it is not about the corpus.
type stopped struct{ error }

func (f *feeder) flush() error {
	t := f.task
	if len(t.pieces) == 0 {
		return nil
	}
	f.task = &task{}
	return f.emit(t)
}

// add appends a piece to the task at hand, and emits that if it is large enough.
func (f *feeder) add(p piece) error {
	p.src.users.Add(1)
	f.task.pieces = append(f.task.pieces, p)
	f.task.size += p.size + 1
	if f.task.size < (chunkSize+1)/2 { // a long file's pieces are a bit less or more than a chunk
		return nil
	}
	if err := f.flush(); err != nil {
		return stopped{err}
	}
	return nil
}

func (f *feeder) feed(in input) error {
	f.tellNote(in.path, in.note)
	s, err := open(f.ctx, in, &f.corpus.Options, f.corpus.stdin(), f.tell)
	if err != nil {
		return badFile{err}
	}
	s.say = f.tellNote
	defer s.release()
	buf, err := s.read(f.take(), detectSize)
	if err != nil && err != io.EOF {
		return badFile{err}
	}
	if err := s.detect(buf, err == io.EOF); err != nil {
		return badFile{err}
	}
	f.tellNote(s.path, s.note)
	if log := s.options.Log; log != nil {
		log.Info("reading", "file", s.path, "format", s.format, "compression", cmp.Or(s.codec, "none"), "bytes", s.size)
	}
	if s.codec == "" && s.regular && s.size > int64(max(chunkSize, len(buf))) && !s.inOrder() {
		f.spare = buf
		return f.feedFile(s)
	}
	return f.feedStream(s, buf, err == io.EOF)
}

// feedStream cuts a text that must be read from front to back. buf holds its begin.
func (f *feeder) feedStream(s *source, buf []byte, ended bool) error {
	for start, first := int64(0), true; ; first = false {
		border := chunkSize - int(start%int64(chunkSize))
		cut := -1
		most := border + windowSize + int(s.options.documentLimit())
		for want := border + windowSize; cut < 0; want = min(2*len(buf), most) {
			if want > largePiece {
				if err := f.enlarge(); err != nil {
					return err
				}
			}
			if len(buf) < want && !ended {
				var err error
				if buf, err = s.read(buf, want-len(buf)); err == io.EOF {
					ended = true
				} else if err != nil {
					return err
				}
			}
			if len(buf) > border {
				cut = s.cut(buf, border)
			}
			if cut < 0 && ended {
				cut = len(buf)
			}
			if cut < 0 && len(buf) >= most {
				return longIn(s, first, start, buf)
			}
		}
		if len(buf) == 0 && !first && s.format != JSON {
			f.spare = buf
			return nil
		}
		var data []byte
		if cut < chunkSize/4 {
			data = bytes.Clone(buf[:cut]) // a short file must not hold a large buffer
			buf = append(buf[:0], buf[cut:]...)
		} else {
			data, buf = buf[:cut], append(f.take(), buf[cut:]...)
		}
		if err := f.add(piece{src: s, first: first, last: ended &&
			len(buf) == 0, data: data, size: len(data)}); err != nil {
			return err
		}
		if ended && len(buf) == 0 {
			f.spare = buf
			return nil
		}
		start += int64(cut)
	}
}

// feedFile cuts a long plain file by looking at its borders only; the workers read.
func (f *feeder) feedFile(s *source) error {
	f.tell(-s.raw.n) // the workers read it again
	window := f.take()
	defer func() { f.spare = window }()
	chunk := int64(chunkSize)
	most := int64(windowSize) + s.options.documentLimit()
	for start := int64(0); start < s.size; {
		border := (start/chunk + 1) * chunk
		end := s.size
		for n := int64(windowSize); border < s.size; n = min(2*n, most) {
			n = min(n, s.size-border)
			if n > largePiece {
				if err := f.enlarge(); err != nil {
					return err
				}
			}
			window = slices.Grow(window[:0], int(n))[:n]
			if err := s.readAt(window, border); err != nil {
				return err
			}
			if cut := s.cut(window, 0); cut >= 0 {
				end = border + int64(cut)
				break
			}
			if border+n == s.size {
				break
			}
			if n >= most {
				window = slices.Grow(window[:0], int(border-start))[:border-start]
				if err := s.readAt(window, start); err != nil {
					return err
				}
				return longIn(s, start == 0, start, window)
			}
		}
		if cap(window) > largePiece {
			window = nil
		}
		if err := f.add(piece{src: s, first: start == 0, off: start, size: int(end - start)}); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (s *source) readAt(b []byte, off int64) error {
	n, err := s.file.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("read %s: it ends at byte %d but had %d bytes when opened", s.path, off+int64(n), s.size)
	}
	return fmt.Errorf("read %s at byte %d: %w", s.path, off+int64(n), err)
}

// cut returns the first place from which the text may be parsed apart from what is
// before it, searching from a byte on, or -1 if there is none in b. b starts
// where a piece starts if that matters to the format: see inOrder.
func (s *source) cut(b []byte, from int) int {
	switch s.format {
	case File:
		return -1
	case CSV:
		return cutCSV(b, from)
	case JSON:
		return cutJSON(b, from)
	case TREC:
		return cutTREC(b, from)
	case SMART:
		return cutLine(b, from, func(line []byte) bool { return smartField(line) == 'I' })
	case Blank:
		// The border is after a blank line: documents do not reach over it.
		at := cutLine(b, from, isBlank)
		if at < 0 {
			return -1
		}
		return at + bytes.IndexByte(b[at:], '\n') + 1
	case TSV:
		if s.columns.count > 0 {
			return cutTSV(b, from)
		}
	}
	return cutLine(b, from, nil)
}

// inOrder reports whether borders are known only after reading all text before them, or the
// file's bytes are not its text.
func (s *source) inOrder() bool {
	return s.format == CSV || s.format == JSON || s.columns.count > 0 || s.converted
}

// cutLine returns where the first line starts that starts after from and is ok.
// Only lines that are whole in b are asked about, so that the answer does not
// depend on how much of the text b is.
func cutLine(b []byte, from int, ok func(line []byte) bool) int {
	i := bytes.IndexByte(b[from:], '\n')
	if i < 0 {
		return -1
	}
	from += i + 1
	for ok != nil {
		end := bytes.IndexByte(b[from:], '\n')
		if end < 0 {
			return -1
		}
		if ok(b[from : from+end+1]) {
			break
		}
		from += end + 1
	}
	return from
}
