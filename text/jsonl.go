package text

import (
	"slices"

	"github.com/collocate/collocate/fields"
)

// splitJSONL makes a document of each line that is not blank.
func (p *parser) splitJSONL(s *source, data []byte) error {
	sc := newJSONScanner(s.options)
	sc.head = s.names
	defer func() { p.tally.see(sc) }()
	for at := 0; at < len(data); {
		line, size := nextLine(data[at:])
		if !isBlank(line) {
			err := sc.record(line, 0)
			if err == nil {
				err = sc.finish()
			}
			if err != nil {
				return wrong(at, "column %d: %v", sc.at+1, err)
			}
			if err := s.mixed(sc); err != nil {
				return wrong(at, "%v", err)
			}
			if !p.addJSON(sc, s.options.Schema) {
				return wrong(at, "%s", noText(s.options, line))
			}
		}
		at += size
	}
	return nil
}

// noText describes an object without a text field, for an error.
func noText(o *Options, object []byte) string {
	var names []string
	sc := newJSONScanner(o)
	sc.seen = func(name string) { names = append(names, name) }
	sc.record(object, 0) // no error: it was parsed before
	if len(names) == 0 {
		return "no text field " + sc.wants.textNames()
	}
	for _, name := range names {
		if !o.Weights && o.Schema == nil && slices.Contains(defaultWeights, name) {
			return "no text field " + sc.wants.textNames() + ": it has " + shortList(names) +
				"; the analyzer impact indexes weighted tokens, as " + name + " seems to have them"
		}
	}
	return "no text field " + sc.wants.textNames() + ": it has " + shortList(names) +
		"; name those that hold text (text.Options.Fields)"
}

// addJSON adds the document of the parsed object: its text fields joined by newlines. It reports
// whether there are any.
func (p *parser) addJSON(sc *jsonScanner, schema *fields.Schema) bool {
	fields := sc.text()
	values := p.record(schema)
	found, full := false, 0
	var v jsonValue
	for _, f := range fields {
		found = found || f.found
		if f.last > f.first {
			full += f.last - f.first
			v = sc.parts[f.first]
		}
	}
	switch {
	case !found && schema == nil:
		return false
	case full <= 1 && !v.escaped:
		p.add(sc.b[v.start:v.end])
		for i, f := range fields {
			if f.last > f.first {
				values.text(i, 0, v.end-v.start)
			}
		}
	default:
		start := len(p.arena)
		for i, f := range fields {
			from := -1
			for _, v := range sc.parts[f.first:f.last] {
				p.separate(start)
				if from < 0 {
					from = len(p.arena) - start
				}
				p.arena = appendValue(p.arena, sc.b, v)
			}
			if from >= 0 {
				values.text(i, from, len(p.arena)-start)
			}
		}
		p.addJoined(start)
	}
	ids := len(sc.wants.texts) + len(sc.wants.ids)
	for i, f := range sc.fields[ids:] {
		for _, v := range sc.parts[f.first:f.last] {
			from := len(p.arena)
			p.arena = appendValue(p.arena, sc.b, v)
			values.add(sc.wants.others[i].field, p.arena[from:len(p.arena):len(p.arena)])
		}
		if f.last == f.first {
			values.add(sc.wants.others[i].field, nil)
		}
	}
	values.end()
	for _, f := range sc.fields[len(sc.wants.texts):ids] {
		if f.last > f.first {
			p.ids = appendValue(p.ids, sc.b, sc.parts[f.first])
			p.named()
			break
		}
	}
	return true
}

func appendValue(dst, line []byte, v jsonValue) []byte {
	if v.escaped {
		return appendUnescaped(dst, line[v.start:v.end])
	}
	return append(dst, line[v.start:v.end]...)
}
