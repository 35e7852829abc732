package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// csvColumns says which columns of a CSV file are wanted.
type csvColumns struct {
	count int
	texts []int
	id    int // -1: none
}

// csvHeader reads the first record, which names the columns.
func csvHeader(head []byte, o *Options) (csvColumns, error) {
	c := csvColumns{id: -1}
	start := emptyLines(head)
	if start == len(head) {
		return c, nil
	}
	var r csvRecord
	if _, err := r.read(head, start); err != nil {
		return c, fmt.Errorf("the header that names the columns: %w", err)
	}
	names := make([]string, len(r.fields))
	for i := range names {
		names[i] = string(r.field(head, i, nil))
	}
	c.count = len(names)
	wanted, ids := o.Fields, []string{o.IDField}
	if len(wanted) == 0 {
		wanted = defaultTexts
		if slices.Contains(names, "contents") {
			wanted = wanted[:1]
		}
	}
	if o.IDField == "" {
		ids = defaultIDs
	}
	for _, name := range wanted {
		if i := slices.Index(names, name); i >= 0 {
			c.texts = append(c.texts, i)
		} else if len(o.Fields) > 0 {
			return c, fmt.Errorf("no column %q: the columns are %s", name, shortList(names))
		}
	}
	if len(c.texts) == 0 {
		return c, fmt.Errorf("no text column %s: the columns are %s", strings.Join(wanted, ", "), shortList(names))
	}
	for _, name := range ids {
		if i := slices.Index(names, name); i >= 0 {
			c.id = i
			return c, nil
		}
	}
	if o.IDField != "" {
		return c, fmt.Errorf("no column %q: the columns are %s", o.IDField, shortList(names))
	}
	return c, nil
}

// shortList is a list for an error: not all of a thousand columns, or of a file that is
// no CSV.
func shortList(names []string) string {
	if list := strings.Join(names, ", "); len(list) <= 200 {
		return list
	}
	list := strings.ToValidUTF8(strings.Join(names, ", ")[:200], "\ufffd")
	return fmt.Sprintf("%s... (%d in all)", list, len(names))
}

// emptyLines is how many bytes of empty lines b begins with.
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

// csvRecord is one record: where its fields are in the text.
type csvRecord struct {
	fields []csvField
}

type csvField struct {
	start, end int
	doubled    bool // it holds "" for "
}

// read finds the fields of the record that starts at a byte of b, and returns where
// the next one starts.
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
					return 0, wrong(open, "a quote that is not closed")
				}
				at += i
				if at+1 == len(b) || b[at+1] != '"' {
					break
				}
				f.doubled = true
			}
			f.end = at
			at++
			if rest := b[at:]; len(rest) > 0 && rest[0] != ',' && rest[0] != '\n' && !bytes.HasPrefix(rest, []byte("\r\n")) && string(rest) != "\r" {
				return 0, wrong(at, "text behind a closing quote: want a comma or the line's end")
			}
		} else {
			f.start = at
			for at < len(b) && b[at] != ',' && b[at] != '\n' {
				if b[at] == '"' {
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

// splitCSV makes a document of each record after the header (RFC 4180). Empty
// lines are skipped.
func (p *parser) splitCSV(s *source, data []byte, first bool) error {
	var r csvRecord
	for at := emptyLines(data); at < len(data); {
		next, err := r.read(data, at)
		if err != nil {
			return err
		}
		if len(r.fields) != s.columns.count {
			return wrong(at, "%d fields: the header has %d", len(r.fields), s.columns.count)
		}
		if !first {
			p.addCSV(s, data, &r)
		}
		first = false
		at = next + emptyLines(data[next:])
	}
	return nil
}

func (p *parser) addCSV(s *source, data []byte, r *csvRecord) {
	start := len(p.arena)
	for _, i := range s.columns.texts {
		if f := r.fields[i]; f.end > f.start {
			if len(p.arena) > start {
				p.arena = append(p.arena, '\n')
			}
			p.arena = r.field(data, i, p.arena)
		}
	}
	p.add(p.arena[start:len(p.arena):len(p.arena)])
	if s.columns.id >= 0 {
		p.ids = r.field(data, s.columns.id, p.ids)
		p.named()
	}
}

// cutCSV finds the first line's end outside of quotes. b starts where a record does.
func cutCSV(b []byte, from int) int {
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
