package text

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/collocate/collocate/fields"
)

var errStopped = errors.New("stopped by the caller")

// parser turns the pieces of a task into documents. It reuses its buffers for the next task.
type parser struct {
	docs  []Document
	ids   []byte // IDs, concatenated
	marks []mark // one per document
	ends  []end  // one per piece
	raw   []byte // text that this parser read itself
	arena []byte // texts that are not in the piece as they are
	// Offsets in these texts at which values begin, of all documents; those of the current document
	// begin at begun.
	breaks []uint32
	begun  int

	pieces []piece // of the task
	limit  int     // largest size of a document in bytes
	long   int     // the first longer document of the current piece, or -1
	tally  tally   // of the current piece

	values []fields.Values // of documents with a schema
	bytes  [][]byte        // the values' bytes
	now    recordValues    // of the current document
}

// mark is the position of a document's ID in ids, or says that it is yet to be numbered.
type mark struct {
	start, end int
	number     bool
}

// end is the number of documents up to the end of a piece, and the error in it.
type end struct {
	src   *source
	first bool
	docs  int
	lines int64
	err   error
	at    int64 // lines of the piece before err
	long  int   // the first document that is too long, or -1
	gone  bool  // it is skipped
	tally tally // of JSON records
}

// syntaxError is an error at an offset of a piece.
type syntaxError struct {
	at  int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

func wrong(at int, format string, args ...any) error {
	return &syntaxError{at, fmt.Sprintf(format, args...)}
}

// read reads those pieces of the task that are not in memory, and returns all pieces in groups, one
// for each batch.
func (p *parser) read(t *task, tell func(n int64)) (groups [][]piece, err error) {
	if t.err != nil {
		p.docs, p.ends = p.docs[:0], p.ends[:0]
		return nil, t.err
	}
	toRead := 0
	for _, pc := range t.pieces {
		if pc.data == nil {
			toRead += pc.size
		}
	}
	p.raw = room(p.raw, toRead)
	lines := 0
	p.pieces = append(p.pieces[:0], t.pieces...)
	for i := range p.pieces {
		pc := &p.pieces[i]
		if pc.data == nil {
			have := len(p.raw)
			p.raw = p.raw[:have+pc.size]
			pc.data = p.raw[have:]
			if err := pc.src.readAt(pc.data, pc.off); err != nil {
				return nil, err
			}
			tell(int64(pc.size))
		}
		lines += bytes.Count(pc.data, newline) + 1
	}
	if lines <= maxBatchDocs+len(p.pieces) {
		return [][]piece{p.pieces}, nil
	}
	return groupPieces(p.pieces), nil
}

// groupPieces divides pieces so that each group has at most maxBatchDocs documents, each of which
// takes a line.
func groupPieces(pieces []piece) (groups [][]piece) {
	var group []piece
	docs := 0
	for _, pc := range pieces {
		for rest := pc.data; ; {
			size := sizeOfLines(rest, maxBatchDocs-docs)
			if size < len(rest) {
				// The document of the last line belongs to the group, too.
				if cut := pc.src.cut(rest, size-1); cut >= 0 {
					size = cut
				} else {
					size = len(rest)
				}
			}
			part := pc
			part.data, part.size, part.last = rest[:size:size], size, pc.last && size == len(rest)
			group = append(group, part)
			docs += bytes.Count(part.data, newline) + 1
			if docs >= maxBatchDocs {
				groups, group, docs = append(groups, group), nil, 0
			}
			if rest, pc.first = rest[size:], false; len(rest) == 0 {
				break
			}
		}
	}
	if len(group) > 0 {
		groups = append(groups, group)
	}
	return groups
}

// sizeOfLines returns the size in bytes of the first n lines, at least one.
func sizeOfLines(b []byte, n int) int {
	at := 0
	for n = max(n, 1); n > 0 && at < len(b); n-- {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return len(b)
		}
		at += i + 1
	}
	return at
}

// afterLines returns the position after groups of which each line is a valid document. It is known
// before they are parsed.
func (pos position) afterLines(groups [][]piece) (_ position, ok bool) {
	for _, pieces := range groups {
		found := false
		for _, pc := range pieces {
			data, o := pc.data, pc.src.options
			if pos.src != nil && pos.src.isJSON() || pc.src.format != Lines || int64(len(data)) > o.documentLimit() ||
				o.Encoding == UTF8 && checkUTF8(data) != nil {
				return pos, false
			}
			if pc.first {
				pos.docs, pos.lines = pc.src.before(), 0
				data = bytes.TrimPrefix(data, bom)
			}
			pos.docs += int64(bytes.Count(data, newline))
			if n := len(data); n > 0 && data[n-1] != '\n' {
				pos.docs++
			}
			found = found || len(data) > 0
		}
		if found {
			pos.seq++
		}
	}
	return pos, true
}

// parse splits pieces into documents. Errors are kept until number knows their lines.
func (p *parser) parse(pieces []piece) {
	p.docs, p.ids, p.marks, p.ends = p.docs[:0], p.ids[:0], p.marks[:0], p.ends[:0]
	p.values, p.bytes = p.values[:0], p.bytes[:0]
	p.limit = math.MaxInt
	toCopy := 0
	for _, pc := range pieces {
		if layouts[pc.src.format].copies {
			toCopy += pc.size
		}
		p.limit = int(pc.src.options.documentLimit())
	}
	// The texts of a piece take at most as many bytes as the piece: with this capacity the arena is
	// not reallocated while it fills.
	p.arena, p.breaks, p.begun = room(p.arena, toCopy), p.breaks[:0], 0
	for i := range pieces {
		pc := &pieces[i]
		data := pc.data
		if pc.first {
			data = bytes.TrimPrefix(data, bom)
		}
		e := end{src: pc.src, first: pc.first}
		p.tally, p.long = tally{}, -1
		if e.err = layouts[pc.src.format].split(p, pc.src, data, pc.first, pc.last); e.err == nil && pc.src.options.Encoding == UTF8 {
			e.err = checkUTF8(data)
		}
		if e.err != nil {
			if s, ok := e.err.(*syntaxError); ok {
				e.at = int64(bytes.Count(data[:s.at], newline))
			}
		}
		e.docs, e.tally, e.long = len(p.docs), p.tally, p.long
		if pc.src.format != Lines && pc.src.format != File {
			e.lines = int64(bytes.Count(data, newline))
		}
		p.ends = append(p.ends, e)
	}
}

// room returns an empty buffer for n bytes: the old one, if it is large enough but not left over
// from a document of exceptional size.
func room(b []byte, n int) []byte {
	if cap(b) > largePiece && n < chunkSize*2 {
		b = nil
	}
	return slices.Grow(b[:0], n)
}

var (
	bom     = []byte("\xef\xbb\xbf")
	newline = []byte("\n")
)

// add appends a document without an ID of its own.
func (p *parser) add(text []byte) {
	if len(text) > p.limit && p.long < 0 {
		p.long = len(p.docs)
	}
	p.docs = append(p.docs, Document{Text: text})
	p.marks = append(p.marks, mark{start: len(p.ids), number: true})
}

// separate starts another value of the document that begins in the arena at start, if it has one
// already.
func (p *parser) separate(start int) {
	if len(p.arena) > start {
		p.arena = append(p.arena, '\n')
		p.breaks = append(p.breaks, uint32(len(p.arena)-start))
	}
}

// addJoined appends a document whose values are in the arena from start.
func (p *parser) addJoined(start int) {
	p.add(p.arena[start:len(p.arena):len(p.arena)])
	if n := len(p.breaks); n > p.begun {
		p.docs[len(p.docs)-1].Breaks = p.breaks[p.begun:n:n]
		p.begun = n
	}
}

// named makes what was appended to ids since add the ID of the document.
func (p *parser) named() {
	m := &p.marks[len(p.marks)-1]
	m.end, m.number = len(p.ids), false
}

// number gives the documents their IDs and returns the position after them. All IDs of a task are
// slices of one string: one allocation.
func (p *parser) number(pos position) (position, error) {
	done, left := 0, false
	for i := range p.ends {
		e := &p.ends[i]
		from := done
		done = e.docs
		if e.first {
			if err := pos.endFile(); err != nil {
				return pos, err
			}
			pos.docs, pos.lines, pos.src = e.src.before(), 0, e.src
		}
		if e.src.skipped {
			e.gone, left = true, true
			continue
		}
		pos.file.add(e.tally)
		if err := e.failure(from, pos); err != nil {
			if !e.first || e.src.skip == nil {
				return pos, err
			}
			e.src.skip(e.src.path, err)
			e.src.skipped, e.gone, left = true, true, true
			pos.src, pos.file = nil, tally{}
			continue
		}
		if err := e.src.checkName(p.marks[from:e.docs]); err != nil {
			return pos, err
		}
		for i := from; i < e.docs; i++ {
			pos.docs++
			if m := &p.marks[i]; m.number {
				if pos.file.unnamed++; pos.file.unnamed == 1 {
					pos.file.example = pos.docs
				}
				m.start = len(p.ids)
				p.ids = append(append(p.ids, e.src.name...), ':')
				p.ids = strconv.AppendInt(p.ids, pos.docs, 10)
				m.end = len(p.ids)
			}
		}
		pos.lines += e.lines
	}
	if left {
		p.leaveOut()
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

// failure returns the error of a piece whose first document is from, or nil. pos is the position
// before it.
func (e *end) failure(from int, pos position) error {
	hint := ""
	if e.first && e.src.inFolder && e.src.skip == nil {
		hint = "; text.Options.SkipBad skips such files"
	}
	switch {
	case e.err != nil:
		line := pos.lines
		if e.src.format == Lines {
			line = pos.docs // lines are not counted twice
		}
		return fmt.Errorf("%s: line %d: %w%s", e.src.path, line+e.at+1, e.err, hint)
	case e.long >= 0:
		return fmt.Errorf("%s: document %d: %w%s", e.src.path, pos.docs+int64(e.long-from)+1,
			e.src.options.errLong(), hint)
	}
	return nil
}

// checkName returns an error if an ID is made from the name of a file that has none.
func (s *source) checkName(marks []mark) error {
	if s.part != nil || s.named.Load() || s.format != File &&
		!slices.ContainsFunc(marks, func(m mark) bool { return m.number }) {
		return nil
	}
	if s.outside {
		return s.errOutside()
	}
	s.named.Store(true)
	if tell := s.options.onName; tell != nil && s.path != "-" {
		return tell(s.name, s.format == File)
	}
	return nil
}

// leaveOut removes the documents of pieces that are skipped.
func (p *parser) leaveOut() {
	n, from := 0, 0
	for i := range p.ends {
		e := &p.ends[i]
		to := e.docs
		if !e.gone {
			copy(p.docs[n:], p.docs[from:to])
			n += copy(p.marks[n:], p.marks[from:to])
		}
		e.docs, from = n, to
	}
	p.docs, p.marks = p.docs[:n], p.marks[:n]
}

// nextLine returns the first line of b without its end (LF or CR LF), and its size with it.
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

// isBlank reports whether a line consists of blanks.
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
