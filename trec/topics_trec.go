package trec

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
)

// begin begins a topic of several lines.
func (p *topicParser) begin(n int) {
	p.open, p.startLine, p.id, p.field = true, n, "", ""
	p.text.Reset()
	clear(p.parts)
}

// trec parses a line of topics with tags: TREC's <top>, <num>, <title> and others, or XML. A field
// ends at the next tag. A '<' that does not begin a tag is text.
func (p *topicParser) trec(n int, line string) error {
	for line != "" {
		at := strings.IndexByte(line, '<')
		if at < 0 {
			p.trecText(line)
			break
		}
		tag, attributes, after, isTag := tagOf(line[at+1:])
		if !isTag {
			p.trecText(line[:at+1])
			line = line[at+1:]
			continue
		}
		p.trecText(line[:at])
		line = after
		switch tag = strings.ToLower(tag); {
		case tag[0] == '?' || tag == "topics" || tag == "/topics":
		case tag == "top" || tag == "topic":
			if p.open {
				return fmt.Errorf("<%s> inside the topic of line %d", tag, p.startLine)
			}
			p.begin(n)
			p.id, p.tagged = topicNumber(attributes), true
		case tag == "/top" || tag == "/topic":
			if err := p.end(); err != nil {
				return err
			}
		case tag[0] == '/': // </num>, </title>
			p.field = ""
		case p.open:
			p.beginField(tag)
		}
	}
	p.trecText("\n")
	return nil
}

// beginField begins a field of a TREC topic.
func (p *topicParser) beginField(tag string) {
	p.field = namesOf(tag)[0]
	switch {
	case slices.Contains(p.wanted, p.field):
		if p.parts[p.field] == nil {
			p.parts[p.field] = &strings.Builder{}
		}
	case p.field != "num" && !slices.Contains(p.otherFields, tag) && len(p.otherFields) < 10:
		p.otherFields = append(p.otherFields, tag)
	}
}

// fieldHeads are the labels that precede the text of a field in some topics.
var fieldHeads = map[string]string{
	"title": "Topic:", "desc": "Description:", "narr": "Narrative:",
}

func (p *topicParser) trecText(s string) {
	switch {
	case !p.open:
	case p.field == "num":
		s = strings.TrimSpace(s)
		if s = strings.TrimSpace(strings.TrimPrefix(s, "Number:")); s != "" && p.id == "" {
			p.id = s
		}
	case p.parts[p.field] != nil:
		s = strings.TrimPrefix(strings.TrimLeft(s, " \t"), fieldHeads[p.field])
		p.parts[p.field].WriteString(html.UnescapeString(s))
	}
}

// topicNumber returns the ID of a topic in newer tracks: <topic number="101" type="faceted">.
func topicNumber(attributes string) string {
	_, after, _ := strings.Cut(attributes, `number="`)
	number, _, _ := strings.Cut(after, `"`)
	return number
}

// tagOf parses the tag at the beginning of a line whose '<' has been removed. It returns the name,
// the attributes and the rest of the line; ok is false for text that is not a tag.
func tagOf(line string) (name, attributes, after string, ok bool) {
	name, after, ok = strings.Cut(line, ">")
	if !ok {
		return "", "", line, false
	}
	name, attributes, _ = strings.Cut(name, " ")
	ok = isTagName(name) && (strings.TrimSpace(attributes) == "" || strings.Contains(attributes, `="`))
	return name, attributes, after, ok
}

// isTagName accepts letters followed by digits: topic, /topic, ?xml, webtrack2012.
func isTagName(s string) bool {
	s = strings.TrimRight(strings.TrimLeft(s, "/?"), "0123456789")
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// smart parses a line of SMART topics: .I begins a topic, and .T and .W begin its text.
func (p *topicParser) smart(n int, line string) error {
	if len(line) >= 2 && line[0] == '.' && line[1] >= 'A' && line[1] <= 'Z' &&
		(len(line) == 2 || line[2] == ' ' || line[2] == '\t') {
		if line[1] == 'I' {
			if err := p.end(); err != nil {
				return err
			}
			p.begin(n)
			p.position++
			p.id = p.smartID(strings.TrimSpace(line[2:]))
		}
		p.field = line[:2]
		return nil
	}
	if p.field == ".W" || p.field == ".T" {
		p.text.WriteString(line)
		p.text.WriteByte('\n')
	}
	return nil
}

// smartID returns the ID of a topic: the one after .I, or its position; see TopicIDs.
func (p *topicParser) smartID(said string) string {
	position := strconv.Itoa(p.position)
	switch {
	case number(said) == position || said == "":
		return position
	case p.o.IDs == ByNumber || p.o.IDs == GuessIDs && !isNumber(said):
		return number(said)
	}
	if p.renumbered++; p.odd == "" {
		p.odd, p.oddAt = said, p.position
	}
	return position
}
