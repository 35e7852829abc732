package text

import "strings"

// splitJSONL makes a document of each line that is not blank.
func (p *parser) splitJSONL(s *source, data []byte) error {
	texts, ids := s.options.Fields, []string{s.options.IDField}
	if len(texts) == 0 {
		texts = defaultTexts
	}
	if s.options.IDField == "" {
		ids = defaultIDs
	}
	sc := jsonScanner{names: append(append([]string{}, texts...), ids...)}
	sc.fields = make([]jsonField, len(sc.names))
	for at := 0; at < len(data); {
		line, size := nextLine(data[at:])
		if !isBlank(line) {
			sc.b, sc.at, sc.parts = line, 0, sc.parts[:0]
			clear(sc.fields)
			if err := sc.object(); err != nil {
				return wrong(at, "column %d: %v", sc.at+1, err)
			}
			text, id := sc.fields[:len(texts)], sc.fields[len(texts):]
			if len(s.options.Fields) == 0 && text[0].found {
				text = text[:1] // contents: the other fields are parts of it
			}
			if !p.addJSON(&sc, text) {
				return wrong(at, "none of the text fields %s", strings.Join(texts, ", "))
			}
			for _, f := range id {
				if f.last > f.first {
					p.ids = appendValue(p.ids, line, sc.parts[f.first])
					p.named()
					break
				}
			}
		}
		at += size
	}
	return nil
}

var (
	defaultTexts = []string{"contents", "title", "abstract", "text"}
	defaultIDs   = []string{"id", "_id", "docid"}
)

// addJSON adds the document made of these fields, joined by a newline, if any is there.
func (p *parser) addJSON(sc *jsonScanner, fields []jsonField) bool {
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
	case !found:
		return false
	case full <= 1 && !v.escaped:
		p.add(sc.b[v.start:v.end])
	default:
		start := len(p.arena)
		for _, f := range fields {
			for _, v := range sc.parts[f.first:f.last] {
				if len(p.arena) > start {
					p.arena = append(p.arena, '\n')
				}
				p.arena = appendValue(p.arena, sc.b, v)
			}
		}
		p.add(p.arena[start:len(p.arena):len(p.arena)])
	}
	return true
}

func appendValue(dst, line []byte, v jsonValue) []byte {
	if v.escaped {
		return appendUnescaped(dst, line[v.start:v.end])
	}
	return append(dst, line[v.start:v.end]...)
}
