package text

import (
	"bytes"
	"errors"
	"fmt"
)

// layout is how documents are found in the text of a format.
type layout struct {
	// open looks at the beginning of a file and at the options for it. Nil stands for
	// withoutFields.
	open func(s *source, head []byte) error
	// cut finds where a large file may be divided, so that no document crosses a border; see
	// source.cut. Nil means after any line. See also source.inOrder.
	cut func(s *source, b []byte, from int) int
	// split adds the documents of a piece of text, which are whole. It is told whether the piece is
	// the first and the last of its file.
	split func(p *parser, s *source, data []byte, first, last bool) error
	// copies tells that split copies texts, so that there should be room for them.
	copies bool
}

var layouts = [...]layout{
	Lines: {split: func(p *parser, _ *source, data []byte, _, _ bool) error {
		p.splitLines(data)
		return nil
	}},
	File: {
		cut: func(*source, []byte, int) int { return -1 },
		split: func(p *parser, s *source, data []byte, _, _ bool) error {
			p.add(data)
			p.ids = append(p.ids, s.name...)
			p.named()
			return nil
		}},
	Blank: {
		cut: func(_ *source, b []byte, from int) int {
			// The border is after a blank line, which no document crosses.
			at := cutLine(b, from, isBlank)
			if at < 0 {
				return -1
			}
			return at + bytes.IndexByte(b[at:], '\n') + 1
		},
		split: func(p *parser, _ *source, data []byte, _, _ bool) error {
			p.splitBlank(data)
			return nil
		}},
	JSONL: {open: (*source).openJSON, copies: true,
		split: func(p *parser, s *source, data []byte, _, _ bool) error { return p.splitJSONL(s, data) }},
	JSON: {open: (*source).openJSON, copies: true,
		cut:   func(_ *source, b []byte, from int) int { return cutJSON(b, from) },
		split: (*parser).splitJSON},
	TREC: {copies: true,
		cut:   func(_ *source, b []byte, from int) int { return cutTREC(b, from) },
		split: func(p *parser, _ *source, data []byte, _, _ bool) error { return p.splitTREC(data) }},
	SMART: {open: (*source).openSMART, copies: true,
		cut: func(_ *source, b []byte, from int) int {
			return cutLine(b, from, func(line []byte) bool { return smartField(line) == 'I' })
		},
		split: func(p *parser, s *source, data []byte, _, _ bool) error { return p.splitSMART(s, data) }},
	TSV: {open: (*source).openTSV, copies: true,
		cut: func(s *source, b []byte, from int) int {
			if s.columns.count > 0 {
				return cutTSV(b, from)
			}
			return cutLine(b, from, nil)
		},
		split: func(p *parser, s *source, data []byte, first, _ bool) error {
			if s.columns.count > 0 {
				return p.splitCSV(s, data, first)
			}
			return p.splitTSV(data)
		}},
	CSV: {open: (*source).openCSV, copies: true,
		cut:   func(_ *source, b []byte, from int) int { return cutCSV(b, from) },
		split: func(p *parser, s *source, data []byte, first, _ bool) error { return p.splitCSV(s, data, first) }},
}

// withoutFields refuses options that name fields.
func (s *source) withoutFields([]byte) error {
	switch o := s.options; {
	case len(o.Fields) > 0 || o.IDField != "":
		return fmt.Errorf("%s: read as %v, which has no fields to choose: leave out text.Options.Fields and text.Options.IDField, "+
			"or name another text.Options.Format", s.path, s.format)
	case len(o.named()) > 0: // those of the schema
		return fmt.Errorf("%s: read as %v, which has no fields, but the schema has %s: "+
			"name another text.Options.Format, or convert it to JSON lines", s.path, s.format, shortList(o.named()))
	}
	return nil
}

func (s *source) openJSON(head []byte) (err error) {
	_, s.list, _ = jsonShape(bytes.TrimLeft(head, " \t\r\n"))
	s.list = s.list && s.format == JSON
	if s.note, err = s.jsonHead(head); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

func (s *source) openTSV(head []byte) error {
	columns, found, err := tsvHeader(head, s.options)
	if err != nil {
		return fmt.Errorf("%s: line %d: %w", s.path, 1+bytes.Count(head[:emptyLines(head)], newline), err)
	}
	if found {
		s.columns, s.note = columns, columns.note
	}
	return nil
}

func (s *source) openCSV(head []byte) (err error) {
	s.columns, err = csvHeader(head, s.options)
	s.note = s.columns.note
	if err == nil {
		return nil
	}
	at := emptyLines(head)
	if e, ok := errors.AsType[*syntaxError](err); ok {
		at = e.at
	}
	return fmt.Errorf("%s: line %d: %w", s.path, 1+bytes.Count(head[:at], newline), err)
}

func (s *source) openSMART(head []byte) error {
	if s.options.IDField != "" {
		return fmt.Errorf("%s: text.Options.IDField: SMART files have their IDs after .I; leave it out", s.path)
	}
	if s.options.Schema != nil {
		return fmt.Errorf("%s: SMART files have no named fields, but the schema has %s: convert them to JSON lines",
			s.path, shortList(s.options.named()))
	}
	s.note = smartNote(head, s.options)
	for _, f := range s.options.Fields {
		if len(f) != 1 || f[0] < 'A' || f[0] > 'Z' {
			return fmt.Errorf("%s: field %q: sections of SMART files have one-letter names, A to Z", s.path, f)
		}
	}
	return nil
}
