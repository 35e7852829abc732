package trec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/textfile"
)

// Topic is a query with its name.
type Topic struct{ ID, Text string }

// ReadTopics reads a file of topics in any of the formats of the package comment.
// Topics without text are left out; two topics of one name are an error.
func ReadTopics(path string) ([]Topic, error) {
	b, err := textfile.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading topics: %w", err)
	}
	p := topicParser{seen: make(map[string]int, bytes.Count(b, []byte("\n"))/4)}
	return p.all(path, func(line func(int, string) error) error { return eachLineOf(string(b), path, line) })
}

// ParseTopics is ReadTopics for an open file; name is for error messages.
func ParseTopics(r io.Reader, name string) ([]Topic, error) {
	p := topicParser{seen: map[string]int{}}
	return p.all(name, func(line func(int, string) error) error { return eachLine(r, name, line) })
}

// all parses the topics of all lines.
func (p *topicParser) all(name string, lines func(func(n int, line string) error) error) ([]Topic, error) {
	if err := lines(p.line); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(p.topics) == 0 {
		return nil, fmt.Errorf("%s: no topics: want <top>, .I, JSON lines, or lines of ID, tab or colon, and text", name)
	}
	return p.topics, nil
}

type topicParser struct {
	topics []Topic
	seen   map[string]int // ID -> line
	format func(n int, line string) error

	// TREC and SMART topics stretch over lines.
	open      bool   // inside a topic
	startLine int    // where it began
	id        string // of the topic
	position  int    // SMART: topics so far
	field     string // the field the line belongs to
	text      strings.Builder
}

func (p *topicParser) line(n int, line string) error {
	if p.format == nil {
		first := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		switch {
		case first == "":
			return nil
		case first[0] == '<':
			p.format = p.trec
		case strings.HasPrefix(first, ".I"):
			p.format = p.smart
		case first[0] == '{':
			p.format = p.json
		default:
			p.format = p.separated
		}
		line = strings.TrimPrefix(line, "\ufeff")
	}
	return p.format(n, line)
}

// add ends a topic.
func (p *topicParser) add(n int, id, text string) error {
	text = tidy(text)
	if text == "" {
		return nil
	}
	if id == "" {
		return fmt.Errorf("a topic without a name: %.60q", text)
	}
	if before, ok := p.seen[id]; ok {
		return fmt.Errorf("topic %s was on line %d already", id, before)
	}
	p.seen[id] = n
	p.topics = append(p.topics, Topic{id, text})
	return nil
}

// tidy leaves one blank between words and none around them. Most texts are so already.
func tidy(text string) string {
	blank := true
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c >= 0x80 || c == ' ' && blank {
			blank = true
			break
		}
		blank = c == ' '
	}
	if blank {
		return strings.Join(strings.Fields(text), " ")
	}
	return text
}

func (p *topicParser) end() error {
	if !p.open {
		return nil
	}
	p.open = false
	return p.add(p.startLine, p.id, p.text.String())
}

func (p *topicParser) begin(n int) {
	p.open, p.startLine, p.id, p.field = true, n, "", ""
	p.text.Reset()
}

// trec: tags <top>, <num>, <title>, others; text until the next tag. A '<' that does
// not begin a tag is text.
func (p *topicParser) trec(n int, line string) error {
	for line != "" {
		at := strings.IndexByte(line, '<')
		tag, after, isTag := "", "", false
		if at >= 0 {
			if tag, after, isTag = strings.Cut(line[at+1:], ">"); isTag {
				isTag = isTagName(tag)
			}
		}
		if !isTag {
			at = len(line)
		}
		p.trecText(line[:at])
		line = after
		if !isTag {
			break
		}
		switch tag = strings.ToLower(tag); {
		case tag == "top":
			if p.open {
				return fmt.Errorf("<top> inside the topic of line %d", p.startLine)
			}
			p.begin(n)
		case tag == "/top":
			if err := p.end(); err != nil {
				return err
			}
		case tag[0] == '/': // </num>, </title>
			p.field = ""
		default:
			p.field = tag
		}
	}
	p.trecText("\n")
	return nil
}

func (p *topicParser) trecText(s string) {
	switch {
	case !p.open:
	case p.field == "num":
		s = strings.TrimSpace(s)
		if s = strings.TrimSpace(strings.TrimPrefix(s, "Number:")); s != "" && p.id == "" {
			p.id = s
		}
	case p.field == "title" || p.field == "query":
		p.text.WriteString(strings.TrimPrefix(strings.TrimLeft(s, " \t"), "Topic:"))
	}
}

func isTagName(s string) bool {
	s = strings.TrimPrefix(s, "/")
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// smart: .I begins a topic, .T and .W hold its text. The judgments of these
// collections number topics by position, which in Cranfield is not the number behind .I.
func (p *topicParser) smart(n int, line string) error {
	if len(line) >= 2 && line[0] == '.' && line[1] >= 'A' && line[1] <= 'Z' && (len(line) == 2 || line[2] == ' ' || line[2] == '\t') {
		if line[1] == 'I' {
			if err := p.end(); err != nil {
				return err
			}
			p.begin(n)
			p.position++
			p.id = strconv.Itoa(p.position)
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

func (p *topicParser) json(n int, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		return fmt.Errorf("want a JSON object: %w", err)
	}
	pick := func(names ...string) string {
		for _, name := range names {
			switch v := fields[name].(type) {
			case string:
				return v
			case json.Number:
				return v.String()
			}
		}
		return ""
	}
	text := pick("query", "text", "title")
	if text == "" {
		return fmt.Errorf(`no "query", "text" or "title" in the object`)
	}
	id := pick("id", "qid", "_id")
	if id == "" {
		id = strconv.Itoa(n)
	}
	return p.add(n, id, text)
}

// separated: ID, then a tab or else a colon, then the text.
func (p *topicParser) separated(n int, line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	id, text, ok := strings.Cut(line, "\t")
	if !ok {
		if id, text, ok = strings.Cut(line, ":"); !ok {
			return fmt.Errorf("%.60q: want ID, tab or colon, and text", line)
		}
	}
	id = strings.TrimSpace(id)
	if id == "" {
		return fmt.Errorf("%.60q: no ID before the text", line)
	}
	return p.add(n, id, text)
}
