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

// How a file is cut into pieces that can be parsed independently. Cuts are at borders between
// documents, by a rule that depends on the text alone. The first piece starts at byte 0. A piece
// that starts at byte s ends at the first border at or after the next multiple of chunkSize above
// s. So the pieces are the same for a plain and a compressed file, and for any number of threads.
var (
	// chunkSize is large enough that the fixed cost of a piece (a read, a channel, a goroutine
	// switch: about 10 us) is small beside parsing it (1 ms). It is small enough that the piece's
	// text and words stay in a core's L2 or share of L3.
	chunkSize = 1 << 20
	// windowSize is the number of bytes that the search for a border reads first.
	windowSize = 1 << 14
	// detectSize is the number of bytes from which the format of a file is detected.
	detectSize = textfile.HeadSize
)

// piece is a run of whole documents of one file.
type piece struct {
	src   *source
	first bool   // the first piece of the file
	last  bool   // the last piece of the file; only known of streams
	data  []byte // the text, or nil if a worker is to read it:
	off   int64  // its offset in the file
	size  int    // and its size
}

// task is the work for one batch: one piece of a long file, several short files, or the error that
// ended reading.
type task struct {
	pieces []piece
	size   int
	err    error
	large  bool            // it has a large piece, of which only one is processed at a time
	in     <-chan position // receives the position after the tasks before
	out    chan<- position
}

// position is what must be known of all text before a task to number its documents.
type position struct {
	seq         int   // number of batches
	docs, lines int64 // in the current file

	src         *source // the current file
	file, files tally   // statistics of its JSON records, and of those of all files before
	records     int64   // number of JSON records in all files before
}

// feeder reads a corpus in order and cuts it into tasks.
type feeder struct {
	ctx    context.Context
	corpus *Corpus
	tell   func(n int64)
	emit   func(*task) error // takes ownership of the task; an error stops the feeder
	buffer func() []byte     // returns a buffer for text, of any length
	spare  []byte
	task   *task
	told   map[string]bool // notes that were passed on
	mu     sync.Mutex      // guards told
	large  chan struct{}   // holds an item while a large piece is processed
}

// tellNote passes on a note about a file, unless the same was passed on for another file.
func (f *feeder) tellNote(path, note string) { f.say(f.corpus.Options.Note, path, note) }

func (f *feeder) tellGuess(path, guess string) {
	say := f.corpus.Options.Guess
	if say == nil {
		say = f.corpus.Options.Note
	}
	f.say(say, path, guess)
}

func (f *feeder) say(tell func(line string), path, line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if tell == nil || line == "" || f.told[line] {
		return
	}
	if f.told == nil {
		f.told = map[string]bool{}
	}
	f.told[line] = true
	tell(path + ": " + line)
}

// enlarge waits until no other large piece is processed. It is called before one is read.
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

// run emits all tasks. An error of reading is the err of the last task.
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
			if bad, ok := err.(badFile); ok {
				err = bad.error
			}
			if err := f.flush(); err != nil {
				return err
			}
			return f.emit(&task{err: err})
		}
	}
	return f.flush()
}

// stopped marks an error of emit, which is not about the corpus.
type stopped struct{ error }

func (f *feeder) flush() error {
	t := f.task
	if len(t.pieces) == 0 {
		return nil
	}
	f.task = &task{}
	return f.emit(t)
}

// add appends a piece to the current task, and emits the task if it is large enough.
func (f *feeder) add(p piece) error {
	p.src.users.Add(1)
	f.task.pieces = append(f.task.pieces, p)
	f.task.size += p.size + 1
	if f.task.size < (chunkSize+1)/2 { // pieces of a long file are a little smaller or larger than a chunk
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
	if f.corpus.Options.SkipBad != nil {
		s.skip = f.tellBad
	}
	defer s.release()
	buf, err := s.read(f.take(), detectSize)
	if err != nil && err != io.EOF {
		return badFile{err}
	}
	if err := s.detect(buf, err == io.EOF); err != nil {
		return badFile{err}
	}
	f.tellGuess(s.path, s.guess)
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

// feedStream cuts a text that must be read sequentially. buf holds its beginning.
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
				err := longIn(s, first, start, buf)
				if first {
					err = badFile{err}
				}
				return err
			}
		}
		if len(buf) == 0 && !first && s.format != JSON {
			f.spare = buf
			return nil
		}
		var data []byte
		if cut < chunkSize/4 {
			data = bytes.Clone(buf[:cut]) // so that a short file does not keep a large buffer alive
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

// feedFile cuts a long plain file by reading around its borders only; workers read the rest.
func (f *feeder) feedFile(s *source) error {
	f.tell(-s.raw.n) // workers will read these bytes again
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

// cut returns the first offset at or after from at which the text can be cut, or -1 if there is
// none in b. b starts where a piece starts if that matters to the format: see inOrder.
func (s *source) cut(b []byte, from int) int {
	if cut := layouts[s.format].cut; cut != nil {
		return cut(s, b, from)
	}
	return cutLine(b, from, nil)
}

// inOrder reports whether borders are known only after reading all text before them, or the bytes
// of the file are not its text.
func (s *source) inOrder() bool {
	return s.format == CSV || s.format == JSON || s.columns.count > 0 || s.converted
}

// cutLine returns the start of the first line after from that ok accepts. Only lines that are
// complete in b are tested, so that the result does not depend on how much of the text b holds.
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
