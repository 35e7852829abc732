package text

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

var errStopped = errors.New("stopped by the caller")

// parser turns the pieces of a task into documents. Its buffers are used again for
// the next task.
type parser struct {
	docs  []Document
	ids   []byte // the IDs, one after the other
	marks []mark // one for each document
	ends  []end  // one for each piece
	raw   []byte // what this parser read itself
	arena []byte // texts that are not to be found as they are in the piece
}

// mark says where in ids a document's ID is, or that it is yet to be numbered.
type mark struct {
	start, end int
	number     bool
}

// end is how many documents there are up to the end of a piece, and what is wrong.
type end struct {
	src   *source
	first bool
	docs  int
	lines int64
	err   error
	at    int64 // lines of the piece before err
}

// syntaxError is a mistake in a piece at a byte of it.
type syntaxError struct {
	at  int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

func wrong(at int, format string, args ...any) error {
	return &syntaxError{at, fmt.Sprintf(format, args...)}
}

// parse reads the task's pieces where they are not read yet, and splits them into
// documents. Mistakes in the text are kept until number knows their line.
func (p *parser) parse(t *task, tell func(n int64)) error {
	if t.err != nil {
		p.docs, p.ends = p.docs[:0], p.ends[:0]
		return t.err
	}
	p.docs, p.ids, p.marks, p.ends = p.docs[:0], p.ids[:0], p.marks[:0], p.ends[:0]
	toRead, toCopy := 0, 0
	for _, pc := range t.pieces {
		if pc.data == nil {
			toRead += pc.size
		}
		switch pc.src.format {
		case JSONL, JSON, TREC, SMART, CSV, TSV:
			toCopy += pc.size
		}
	}
	// The texts of a piece take at most as many bytes as the piece: with this room
	// the arena does not move as it fills, and is not copied.
	p.raw = room(p.raw, toRead)
	p.arena = room(p.arena, toCopy)
	for i := range t.pieces {
		pc := &t.pieces[i]
		data := pc.data
		if data == nil {
			have := len(p.raw)
			p.raw = p.raw[:have+pc.size]
			data = p.raw[have:]
			if err := pc.src.readAt(data, pc.off); err != nil {
				return err
			}
			tell(int64(pc.size))
		}
		if pc.first {
			data = bytes.TrimPrefix(data, bom)
		}
		e := end{src: pc.src, first: pc.first}
		if e.err = p.split(pc.src, data, pc.first, pc.last); e.err == nil && pc.src.options.Encoding == UTF8 {
			e.err = checkUTF8(data)
		}
		if e.err != nil {
			if s, ok := e.err.(*syntaxError); ok {
				e.at = int64(bytes.Count(data[:s.at], newline))
			}
		}
		e.docs = len(p.docs)
		if pc.src.format != Lines && pc.src.format != File {
			e.lines = int64(bytes.Count(data, newline))
		}
		p.ends = append(p.ends, e)
	}
	return nil
}

// room returns an empty buffer for n bytes, the old one if it is large enough but not
// left over from a document of exceptional size.
func room(b []byte, n int) []byte {
	if cap(b) > 16*chunkSize && n < chunkSize*2 {
		b = nil
	}
	return slices.Grow(b[:0], n)
}

var (
	bom     = []byte("\xef\xbb\xbf")
	newline = []byte("\n")
)

func (p *parser) split(s *source, data []byte, first, last bool) error {
	switch s.format {
	case Lines:
		p.splitLines(data)
	case File:
		p.add(data)
		p.ids = append(p.ids, s.name...)
		p.named()
	case Blank:
		p.splitBlank(data)
	case JSONL:
		return p.splitJSONL(s, data)
	case JSON:
		return p.splitJSON(s, data, first, last)
	case TREC:
		return p.splitTREC(data)
	case SMART:
		return p.splitSMART(s, data)
	case TSV:
		if s.columns.count > 0 {
			return p.splitCSV(s, data, first)
		}
		return p.splitTSV(data)
	case CSV:
		return p.splitCSV(s, data, first)
	default:
		return fmt.Errorf("no reader for %v", s.format)
	}
	return nil
}

// add appends a document that has no ID of its own.
func (p *parser) add(text []byte) {
	p.docs = append(p.docs, Document{Text: text})
	p.marks = append(p.marks, mark{start: len(p.ids), number: true})
}

// named says that what was appended to ids since add is the document's ID.
func (p *parser) named() {
	m := &p.marks[len(p.marks)-1]
	m.end, m.number = len(p.ids), false
}

// number gives the documents their IDs and returns the position after them. All
// IDs of a task are cut from one string: one allocation.
func (p *parser) number(pos position) (position, error) {
	done := 0
	for _, e := range p.ends {
		if e.first {
			pos.docs, pos.lines = 0, 0
		}
		if e.err != nil {
			before := pos.lines
			if e.src.format == Lines {
				before = pos.docs // lines are not counted twice
			}
			return pos, fmt.Errorf("%s: line %d: %w", e.src.path, before+e.at+1, e.err)
		}
		for i := done; i < e.docs; i++ {
			pos.docs++
			if m := &p.marks[i]; m.number {
				m.start = len(p.ids)
				p.ids = append(append(p.ids, e.src.name...), ':')
				p.ids = strconv.AppendInt(p.ids, pos.docs, 10)
				m.end = len(p.ids)
			}
		}
		done = e.docs
		pos.lines += e.lines
	}
	ids := string(p.ids)
	for i, m := range p.marks {
		p.docs[i].ID = ids[m.start:m.end]
	}
	if len(p.docs) > 0 {
		pos.seq++
	}
	return pos, nil
}

// nextLine returns the first line of b without its end (LF or CR LF), and how many
// bytes it takes with it.
func nextLine(b []byte) (line []byte, size int) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return trimCR(b), len(b)
	}
	return trimCR(b[:i]), i + 1
}

func trimCR(b []byte) []byte {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return b[:n-1]
	}
	return b
}

func (p *parser) splitLines(data []byte) {
	for len(data) > 0 {
		line, size := nextLine(data)
		p.add(line)
		data = data[size:]
	}
}

// isBlank reports whether a line holds nothing but blanks.
func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// splitBlank makes a document of each run of lines that are not blank.
func (p *parser) splitBlank(data []byte) {
	start, end := -1, 0
	for at := 0; at < len(data); {
		line, size := nextLine(data[at:])
		if isBlank(line) {
			if start >= 0 {
				p.add(data[start:end])
			}
			start = -1
		} else {
			if start < 0 {
				start = at
			}
			end = at + len(line)
		}
		at += size
	}
	if start >= 0 {
		p.add(data[start:end])
	}
}

func (p *parser) splitTSV(data []byte) error {
	for at := 0; at < len(data); {
		line, size := nextLine(data[at:])
		if len(line) > 0 {
			id, text, ok := bytes.Cut(line, []byte("\t"))
			if !ok {
				return wrong(at, "no tab: want id<TAB>text")
			}
			p.add(text)
			p.ids = append(p.ids, id...)
			p.named()
		}
		at += size
	}
	return nil
}
