package text

import (
	"bytes"
	"fmt"
	"slices"
)

// splitJSON reads objects that need not stand on lines of their own: a list of them,
//
//	[
//	  {"id": "1", "text": "one"},
//	  {"id": "2", "text": "two"}
//	]
//
// or one after the other. A piece begins at the file's begin or after an object.
func (p *parser) splitJSON(s *source, data []byte, first, last bool) error {
	sc := newJSONScanner(s.options)
	sc.head = s.names
	defer func() { p.tally.see(sc) }()
	sc.b = data
	sc.blanks()
	open := s.list && !first
	if first && s.list {
		sc.take('[')
		if sc.blanks(); sc.at < len(data) && data[sc.at] == ']' {
			open = true // an empty array
		}
	}
	for sc.at < len(data) {
		if open { // after an object of the array
			if sc.take(']') {
				if sc.blanks(); sc.at < len(data) {
					return wrong(sc.at, "%v", sc.unexpected("nothing behind the list"))
				}
				return nil
			}
			if !sc.take(',') {
				return wrong(sc.at, "%v", sc.unexpected("a comma or ]"))
			}
		}
		at := sc.at
		if err := sc.record(data, at); err != nil {
			return wrong(min(sc.at, len(data)), "%v", err)
		}
		if err := s.mixed(sc); err != nil {
			return wrong(at+blanksAt(data[at:]), "%v", err)
		}
		if !p.addJSON(sc, s.options.Schema) {
			return wrong(at+blanksAt(data[at:]), "%s", noText(s.options, data[at:sc.at]))
		}
		open = s.list
		sc.blanks()
	}
	if last && s.list {
		return wrong(len(data), "the list does not end: want ]")
	}
	return nil
}

// blanksAt returns the number of blanks at the start of b.
func blanksAt(b []byte) int { return len(b) - len(bytes.TrimLeft(b, " \t\r\n")) }

// cutJSON returns the first offset at or after from where an object has ended. b starts at the
// beginning of the file or after an object.
func cutJSON(b []byte, from int) int {
	open := 0 // depth of objects
	for at := 0; at < len(b); at++ {
		switch b[at] {
		case '"':
			for at++; at < len(b) && b[at] != '"'; at++ {
				if b[at] == '\\' {
					at++
				}
			}
		case '{':
			open++
		case '}':
			if open--; open <= 0 && at >= from {
				return at + 1
			}
		}
	}
	return -1
}

// jsonShape reports whether a text is JSON: one object per line, objects over several lines, or an
// array.
func jsonShape(text []byte) (f Format, list, ok bool) {
	if len(text) == 0 {
		return 0, false, false
	}
	switch text[0] {
	case '[':
		rest := bytes.TrimLeft(text[1:], " \t\r\n")
		return JSON, true, len(rest) > 0 && (rest[0] == '{' || rest[0] == ']' && len(bytes.TrimSpace(rest[1:])) == 0)
	case '{':
		rest := bytes.TrimLeft(text[1:], " \t\r\n")
		if len(rest) == 0 || rest[0] != '"' && rest[0] != '}' {
			return 0, false, false
		}
		line, size := nextLine(text)
		if size == len(text) { // may be the beginning of a long line
			return JSONL, false, true
		}
		sc := newJSONScanner(&Options{Fields: []string{""}})
		if err := sc.record(line, 0); err != nil && sc.at >= len(line) {
			return JSON, false, true // the object continues
		}
		return JSONL, false, true
	}
	return 0, false, false
}

// jsonHead examines the first objects of a file. It returns a note about their fields, and an error
// if none has text although there are fields that may hold it.
func (s *source) jsonHead(head []byte) (note string, err error) {
	sc := newJSONScanner(s.options)
	var names []string
	sc.seen = func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	sc.b = head
	objects, texts := 0, 0
	for objects < headRecords {
		if sc.blanks(); s.list {
			_ = sc.take('[') || sc.take(',')
		}
		if sc.record(head, sc.at) != nil {
			break // the end of the head, or an error that the parser will report
		}
		if objects++; objects == 1 {
			s.whole = sc.fields[0].found
		}
		for _, f := range sc.text() {
			if f.last > f.first {
				texts++
				break
			}
		}
	}
	if objects > 0 {
		s.names = names
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return sc.wants.find(sc.names, []string{name}) >= 0
	})
	if objects > 1 && texts == 0 && len(left) > 0 && sc.wants.usualTexts && sc.wants.find(sc.wants.texts, names) >= 0 {
		return "", fmt.Errorf("the first %d documents have no text in %s: their fields are %s; name those that hold text (text.Options.Fields)",
			objects, names[sc.wants.find(sc.wants.texts, names)], shortList(names))
	}
	return sc.wants.describe(names, s.options), nil
}
