package text

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// csvColumns are the columns of a table to read.
type csvColumns struct {
	separator byte
	count     int
	texts     []int
	others    []csvOther // other columns of a schema
	id        int        // -1 if there is none
	note      string
	headless  bool // there is no header: the first record is a document
}

// csvOther is a column and the number of its field in the schema.
type csvOther struct{ column, field int }

// csvHeader parses the first record, which names the columns. The separator is a comma, or another
// one with which the header has the wanted columns.
func csvHeader(head []byte, o *Options) (csvColumns, error) {
	first, err := tableHeader(head, o, ',')
	if err == nil || first.count != 1 {
		return first, err
	}
	for _, separator := range []byte(";\t|") {
		if c, err := tableHeader(head, o, separator); err == nil {
			return c, nil
		}
	}
	return first, err
}

// tsvHeader looks for a header in a file of tab-separated columns. Without one, the columns are an
// ID and text. Named fields must be in the header, or be numbers of columns.
func tsvHeader(head []byte, o *Options) (c csvColumns, found bool, err error) {
	c, err = tableHeader(head, o, '\t')
	if len(o.named()) > 0 {
		return c, err == nil && c.count > 0, err
	}
	first, _ := nextLine(head[emptyLines(head):])
	cells := strings.Split(string(first), "\t")
	w := o.wantedFields()
	switch {
	case !slices.ContainsFunc(cells, isNumber) && (w.find(w.texts, cells) >= 0 || w.find(w.ids, cells) >= 0):
		return c, err == nil, err // it is a header
	case tableWidth(head) > 2:
		return c, false, fmt.Errorf("%d columns and no header with a text column %s: the first line is %s; "+
			"name the columns by the header or, if there is none, by number (text.Options.Fields=3 text.Options.IDField=1)",
			len(cells), w.textNames(), shortList(cells))
	case wordyIDs(head):
		return c, false, fmt.Errorf("the first column would be the ID, but has several words in most lines: "+
			"the first line is %s; name the columns by the header or, if there is none, by number "+
			"(text.Options.Fields=1, text.Options.IDField=2)", shortList(cells))
	}
	return c, false, nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// tableWidth returns the number of columns of the first lines, or 0 if they differ.
func tableWidth(head []byte) (width int) {
	for n := 0; n < 100 && len(head) > 0; n++ {
		line, size := nextLine(head)
		if size == len(head) && n > 0 && len(head) > 0 && head[len(head)-1] != '\n' {
			break // may be truncated
		}
		if tabs := bytes.Count(line, []byte("\t")); len(line) > 0 && width != tabs+1 {
			if width > 0 {
				return 0
			}
			width = tabs + 1
		}
		head = head[size:]
	}
	return width
}

// wordyIDs reports whether the first column of most lines contains blanks.
func wordyIDs(head []byte) bool {
	lines, wordy := 0, 0
	for lines < 100 && len(head) > 0 {
		line, size := nextLine(head)
		if id, _, ok := bytes.Cut(line, []byte("\t")); ok {
			lines++
			if bytes.IndexByte(bytes.TrimSpace(id), ' ') >= 0 {
				wordy++
			}
		}
		head = head[size:]
	}
	return 2*wordy > lines
}

// namesAll reports whether the first record has all named columns.
func namesAll(names []string, o *Options) bool {
	for _, name := range o.named() {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// byNumber selects columns by number, counted from 1, in a table whose first record has none of the
// names.
func (c *csvColumns) byNumber(names []string, o *Options) bool {
	number := func(name string) int {
		if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(names) {
			return n - 1
		}
		return -1
	}
	texts := o.textFields()
	for _, name := range o.named() {
		if number(name) < 0 {
			return false
		}
	}
	for _, name := range texts {
		c.texts = append(c.texts, number(name))
	}
	for _, f := range o.otherFields() {
		c.others = append(c.others, csvOther{number(f.name), f.field})
	}
	if o.IDField != "" {
		c.id = number(o.IDField)
	}
	return len(texts) > 0
}

func tableHeader(head []byte, o *Options, separator byte) (csvColumns, error) {
	c := csvColumns{separator: separator, id: -1}
	start := emptyLines(head)
	if start == len(head) {
		return c, nil
	}
	r := csvRecord{separator: separator}
	if _, err := r.read(head, start); err != nil {
		return c, fmt.Errorf("header with the names of the columns: %w", err)
	}
	names := make([]string, len(r.fields))
	for i := range names {
		names[i] = string(r.field(head, i, nil))
	}
	c.count = len(names)
	w := o.wantedFields()
	if !namesAll(names, o) && c.byNumber(names, o) {
		usual := (&Options{}).wantedFields()
		c.headless = usual.find(append(slices.Clone(usual.texts), usual.ids...), names) < 0
		if c.headless {
			c.note = "columns are named by number: the first line is a document"
		}
		return c, nil
	}
	c.texts, c.others, c.id = nil, nil, -1
	if err := twice(names, &w); err != nil {
		return c, err
	}
	for n, name := range w.texts {
		i := w.find([]string{name}, names)
		switch {
		case i >= 0:
			c.texts = append(c.texts, i)
		case !w.usualTexts:
			return c, fmt.Errorf("no column %q: the columns are %s%s", name, shortList(names), typeHint(name))
		}
		if n == 0 && w.usualTexts && i >= 0 {
			break
		}
	}
	if len(c.texts) == 0 {
		return c, fmt.Errorf("no text column %s: the columns are %s; name those that hold text (text.Options.Fields), "+
			"or, if that is no header, give their numbers (text.Options.Fields=2)",
			w.textNames(), shortList(names))
	}
	for _, f := range w.others {
		i := slices.Index(names, f.name)
		if i < 0 {
			return c, fmt.Errorf("no column %q: the columns are %s", f.name, shortList(names))
		}
		c.others = append(c.others, csvOther{i, f.field})
	}
	if c.id = w.find(w.ids, names); c.id < 0 && o.IDField != "" {
		return c, fmt.Errorf("no column %q: the columns are %s", o.IDField, shortList(names))
	}
	c.note = w.describe(names, o)
	return c, nil
}

// typeHint lists the types of fields if a name looks like one with a misspelt type.
func typeHint(name string) string {
	if _, kind, ok := strings.Cut(name, ":"); ok {
		return fmt.Sprintf("; if %q is meant for a type, want text, keyword, number, date, geo or stored", kind)
	}
	return ""
}

// twice refuses a header with two columns of the same wanted name, of which one would be left out.
func twice(names []string, w *wantedFields) error {
	wanted := func(name string) bool {
		return w.find(w.texts, []string{name}) >= 0 || w.find(w.ids, []string{name}) >= 0 ||
			slices.ContainsFunc(w.others, func(f otherField) bool { return f.name == name })
	}
	for i, name := range names {
		if at := slices.Index(names, name); at < i && name != "" && wanted(name) {
			return fmt.Errorf("columns %d and %d are both named %q: rename one of them", at+1, i+1, name)
		}
	}
	return nil
}

// emptyLines returns the number of bytes of empty lines at the start of b.
func emptyLines(b []byte) (at int) {
	for at < len(b) {
		line, size := nextLine(b[at:])
		if len(line) > 0 {
			break
		}
		at += size
	}
	return at
}

// csvRecord is a record: the positions of its fields in the text.
type csvRecord struct {
	separator byte
	fields    []csvField
}

type csvField struct {
	start, end int
	doubled    bool // contains "" for "
}

const unclosed = "a quote that is not closed"

// read finds the fields of the record at offset at of b, and returns the offset of the next record.
func (r *csvRecord) read(b []byte, at int) (int, error) {
	r.fields = r.fields[:0]
	for {
		var f csvField
		if at < len(b) && b[at] == '"' {
			open := at
			f.start = at + 1
			for at = f.start; ; at += 2 {
				i := bytes.IndexByte(b[at:], '"')
				if i < 0 {
					return 0, wrong(open, unclosed)
				}
				at += i
				if at+1 == len(b) || b[at+1] != '"' {
					break
				}
				f.doubled = true
			}
			f.end = at
			at++
			if rest := b[at:]; len(rest) > 0 && rest[0] != r.separator && rest[0] != '\n' &&
				!bytes.HasPrefix(rest, []byte("\r\n")) && string(rest) != "\r" {
				if r.separator == '\t' {
					return 0, wrong(at, "text behind a closing quote: want a tab or the line's end; "+
						"in a file without the header that names the columns, quotes are plain text")
				}
				return 0, wrong(at, "text behind a closing quote: want a comma or the line's end")
			}
		} else {
			f.start = at
			for at < len(b) && b[at] != r.separator && b[at] != '\n' {
				if b[at] == '"' && r.separator != '\t' {
					return 0, wrong(at, "a quote inside a field that does not begin with one")
				}
				at++
			}
			f.end = at
			if at == len(b) || b[at] == '\n' {
				f.end = f.start + len(trimCR(b[f.start:at]))
			}
		}
		r.fields = append(r.fields, f)
		if at < len(b) && b[at] == '\r' {
			at++
		}
		if at == len(b) {
			return at, nil
		}
		at++
		if b[at-1] == '\n' {
			return at, nil
		}
	}
}

// field appends the i-th field to dst.
func (r *csvRecord) field(b []byte, i int, dst []byte) []byte {
	f := r.fields[i]
	text := b[f.start:f.end]
	for f.doubled {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			break
		}
		dst = append(dst, text[:i+1]...)
		text = text[i+2:]
	}
	return append(dst, text...)
}

// splitCSV makes a document of each record after the header (RFC 4180). Empty lines are skipped.
func (p *parser) splitCSV(s *source, data []byte, first bool) error {
	r := csvRecord{separator: s.columns.separator}
	for at := emptyLines(data); at < len(data); {
		next, err := r.read(data, at)
		if err != nil {
			return err
		}
		if len(r.fields) != s.columns.count {
			first := "header"
			if s.columns.headless {
				first = "first line"
			}
			return wrong(at, "%d fields: the %s has %d", len(r.fields), first, s.columns.count)
		}
		if !first || s.columns.headless {
			p.addCSV(s, data, &r)
		}
		first = false
		at = next + emptyLines(data[next:])
	}
	return nil
}

func (p *parser) addCSV(s *source, data []byte, r *csvRecord) {
	values := p.record(s.options.Schema)
	start := len(p.arena)
	for n, i := range s.columns.texts {
		if f := r.fields[i]; f.end > f.start {
			p.separate(start)
			from := len(p.arena) - start
			p.arena = r.field(data, i, p.arena)
			values.text(n, from, len(p.arena)-start)
		}
	}
	p.addJoined(start)
	for _, o := range s.columns.others {
		from := len(p.arena)
		p.arena = r.field(data, o.column, p.arena)
		values.add(o.field, p.arena[from:len(p.arena):len(p.arena)])
	}
	values.end()
	if s.columns.id >= 0 {
		p.ids = r.field(data, s.columns.id, p.ids)
		p.named()
	}
}

// cutCSV finds the first end of a line outside quotes. Empty lines at the start do not count: a
// piece of nothing else would leave the header to the next piece. b starts where a record does.
func cutCSV(b []byte, from int) int {
	from = max(from, emptyLines(b))
	quoted := bytes.Count(b[:from], []byte(`"`))%2 == 1
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return -1
		}
		if bytes.Count(b[from:from+i], []byte(`"`))%2 == 1 {
			quoted = !quoted
		}
		from += i + 1
		if !quoted {
			return from
		}
	}
}

// cutTSV finds the end of the first record that ends at or after an offset. b starts where a record
// does. Quotes inside a field are plain characters, so counting quotes is not enough. Empty lines
// at the start are not records.
func cutTSV(b []byte, from int) int {
	from = max(from, emptyLines(b))
	r := csvRecord{separator: '\t'}
	for at := 0; at < len(b); {
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 {
			return -1
		}
		next := at + end + 1
		if line := b[at:next]; line[0] == '"' || bytes.Contains(line, []byte("\t\"")) {
			var err error
			if next, err = r.read(b, at); err != nil {
				// The piece must contain the error; a quote may be closed further on.
				mistake := err.(*syntaxError)
				end := bytes.IndexByte(b[mistake.at:], '\n')
				if mistake.msg == unclosed || end < 0 {
					return -1
				}
				next = mistake.at + end + 1
			} else if b[next-1] != '\n' {
				return -1
			}
		}
		if at = next; at > from {
			return at
		}
	}
	return -1
}
