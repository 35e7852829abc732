package text

import (
	"bytes"
	"slices"
	"strings"
)

// smartField returns the letter of a line that begins a section, such as ".T", or 0. A letter must
// be followed by a blank or the end of the line: text may begin with ".".
func smartField(line []byte) byte {
	if len(line) < 2 || line[0] != '.' || line[1] < 'A' || line[1] > 'Z' {
		return 0
	}
	if len(line) > 2 && line[2] != ' ' && line[2] != '\t' && line[2] != '\r' && line[2] != '\n' {
		return 0
	}
	return line[1]
}

// smartNote lists the sections at the beginning of a file that are left out.
func smartNote(head []byte, o *Options) string {
	if len(o.Fields) > 0 {
		return ""
	}
	var left []string
	for len(head) > 0 {
		line, size := nextLine(head)
		if f := smartField(line); f != 0 && strings.IndexByte("ITW", f) < 0 &&
			!slices.Contains(left, "."+string(rune(f))) {
			left = append(left, "."+string(rune(f)))
		}
		head = head[size:]
	}
	if len(left) == 0 {
		return ""
	}
	slices.Sort(left)
	return "text is .T, .W; left out: " + strings.Join(left, ", ") + " (text.Options.Fields chooses)"
}

// splitSMART reads the old test collections:
//
//	.I 1
//	.T
//	experimental investigation of ...
//	.A
//	brenckman,m.
//	.W
//	an experimental study ...
//
// A document starts at .I with its ID; the text is that of the wanted sections, in
// the order of the file, joined by newlines.
func (p *parser) splitSMART(s *source, data []byte) error {
	fields := strings.Join(s.options.Fields, "")
	if fields == "" {
		fields = "TW"
	}
	start, open, keep := len(p.arena), false, false
	finish := func() {
		if open {
			p.docs[len(p.docs)-1].Text = p.arena[start:len(p.arena):len(p.arena)]
		}
		start = len(p.arena)
	}
	for at := 0; at < len(data); {
		line, size := nextLine(data[at:])
		switch f := smartField(line); {
		case f == 'I':
			finish()
			id := bytes.TrimSpace(line[2:])
			if len(id) == 0 {
				return wrong(at, "no ID: want .I and the document's ID")
			}
			p.add(nil)
			p.ids = append(p.ids, id...)
			p.named()
			open, keep = true, false
		case f != 0 && open:
			keep = strings.IndexByte(fields, f) >= 0
			line = bytes.TrimLeft(line[2:], " \t") // some files have text after the letter
			if len(line) == 0 {
				break
			}
			fallthrough
		case keep:
			if !keep {
				break
			}
			if len(p.arena) > start {
				p.arena = append(p.arena, '\n')
			}
			p.arena = append(p.arena, line...)
		case !open && !isBlank(line):
			return wrong(at, "text before the first document: want .I and its ID")
		}
		at += size
	}
	finish()
	return nil
}
