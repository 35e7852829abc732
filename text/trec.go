package text

import (
	"bytes"
	"html"
	"strings"
)

// isTag reports whether b begins with the tag <name> or, with a slash, </name>, in
// any case, with or without attributes.
func isTag(b []byte, name string) bool {
	if len(b) < len(name)+2 || b[0] != '<' || !strings.EqualFold(string(b[1:1+len(name)]), name) {
		return false
	}
	c := b[1+len(name)]
	return c == '>' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// findTag returns the offset of the first tag of that name at or after from, or -1.
func findTag(b []byte, from int, name string) int {
	for {
		i := bytes.IndexByte(b[from:], '<')
		if i < 0 {
			return -1
		}
		from += i
		if isTag(b[from:], name) {
			return from
		}
		from++
	}
}

// cutTREC finds the first offset after a </DOC>.
func cutTREC(b []byte, from int) int {
	if i := findTag(b, from, "/DOC"); i >= 0 {
		if end := bytes.IndexByte(b[i:], '>'); end >= 0 {
			return i + end + 1
		}
	}
	return -1
}

// splitTREC reads documents
//
//	<DOC>
//	<DOCNO> AP880212-0001 </DOCNO>
//	<HEAD>Title</HEAD>
//	<TEXT>
//	Text with <P> tags
//	</TEXT>
//	</DOC>
//
// The text is what is between <DOC> and </DOC> without the tags, each of which
// counts as a blank, and without the inside of DOCNO and of DOCHDR, the headers
// of web pages. Entities such as &amp; and &#233; become what they stand for; names that HTML does
// not know stay as they are.
func (p *parser) splitTREC(data []byte) error {
	for at := 0; ; {
		start := findTag(data, at, "DOC")
		if start < 0 {
			start = len(data)
		}
		if i := strayText(data[at:start]); i >= 0 {
			return wrong(at+i, "text outside of <DOC>...</DOC>")
		}
		if start == len(data) {
			return nil
		}
		end := findTag(data, start, "/DOC")
		if end < 0 {
			return wrong(start, "<DOC> without </DOC>")
		}
		if err := p.addTREC(data, start, end); err != nil {
			return err
		}
		if at = cutTREC(data, end); at < 0 {
			return wrong(end, "</DOC without >")
		}
	}
}

// strayText returns the offset of the first byte that is neither blank nor in a tag, or -1.
func strayText(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
		case '<':
			n := tagLength(b[i:])
			if n == 0 {
				return i
			}
			i += n - 1
		default:
			return i
		}
	}
	return -1
}

// tagLength returns the length of the tag or comment at the start of b, or 0 if there is only a
// less-than sign.
func tagLength(b []byte) int {
	if bytes.HasPrefix(b, []byte("<!--")) {
		if i := bytes.Index(b, []byte("-->")); i >= 0 {
			return i + 3
		}
	}
	if len(b) < 2 {
		return 0
	}
	if c := b[1] | 0x20; b[1] != '/' && b[1] != '!' && b[1] != '?' && (c < 'a' || c > 'z') {
		return 0
	}
	end := bytes.IndexByte(b, '>')
	next := bytes.IndexByte(b[1:max(end, 1)], '<')
	if end < 0 || next >= 0 {
		return 0
	}
	return end + 1
}

// sgmlEntities are entities of the TREC disks that HTML does not have.
var sgmlEntities = map[string]string{"&hyph;": "-", "&blank;": " "}

// maxEntity is the length of the longest entity of HTML, &CounterClockwiseContourIntegral;.
const maxEntity = 33

// appendEntities appends text with its entities replaced. A name without a semicolon is not an
// entity: AT&T.
func appendEntities(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		end := bytes.IndexByte(text[:min(len(text), maxEntity)], ';')
		if end < 0 || !isEntity(text[1:end]) {
			dst = append(dst, '&')
			text = text[1:]
			continue
		}
		entity := string(text[:end+1])
		s, ok := sgmlEntities[entity]
		if !ok {
			s = html.UnescapeString(entity)
		}
		if strings.HasSuffix(s, ";") && s != ";" {
			s = entity // unknown, or only a prefix is known
		}
		dst = append(dst, s...)
		text = text[end+1:]
	}
}

// isEntity reports whether a name may be that of an entity: letters and digits, optionally after #.
func isEntity(name []byte) bool {
	name = bytes.TrimPrefix(name, []byte("#"))
	for _, c := range name {
		if kinds[c]&(letter|digit) == 0 {
			return false
		}
	}
	return len(name) > 0
}

// addTREC adds the document data[start:end], from <DOC> to before </DOC>.
func (p *parser) addTREC(data []byte, start, end int) error {
	doc := data[:end]
	begin := len(p.arena)
	id := []byte(nil)
	for at := start + tagLength(doc[start:]); at < end; {
		i := bytes.IndexByte(doc[at:], '<')
		if i < 0 {
			i = end - at
		}
		p.arena = appendEntities(p.arena, doc[at:at+i])
		if at += i; at == end {
			break
		}
		size := tagLength(doc[at:])
		if size == 0 {
			p.arena = append(p.arena, '<')
			at++
			continue
		}
		p.arena = append(p.arena, ' ')
		for _, name := range []string{"DOCNO", "DOCHDR"} {
			if !isTag(doc[at:], name) {
				continue
			}
			close := findTag(doc, at, "/"+name)
			if close < 0 {
				return wrong(at, "<%s> without </%s>", name, name)
			}
			if name == "DOCNO" {
				if id != nil {
					return wrong(at, "a second <DOCNO>")
				}
				id = bytes.TrimSpace(doc[at+size : close])
			}
			at, size = close, tagLength(doc[close:])
			if size == 0 {
				return wrong(at, "</%s without >", name)
			}
		}
		at += size
	}
	if len(id) == 0 {
		return wrong(start, "a document without <DOCNO>")
	}
	p.add(bytes.TrimSpace(p.arena[begin:len(p.arena):len(p.arena)]))
	p.ids = append(p.ids, id...)
	p.named()
	return nil
}
