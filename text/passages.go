package text

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/fields"
)

// Cutter cuts documents into passages, as a schema says. Every byte of the field that is cut is in
// a passage, so that the whole text can be put together again.
type Cutter struct {
	schema *fields.Schema
	whole  *fields.Schema // of documents; nil if they have no fields
	body   int            // the field that is cut
	own    int            // the fields before those of passages
	marked int            // the stored field with the headings, or -1
	words  wordBorders
}

// HeadingsField is the name of the stored field that may have the headings of documents, as a JSON
// list of Heading.
const HeadingsField = "headings"

// NewCutter returns a Cutter for a schema with Passages.
func NewCutter(s *fields.Schema) *Cutter {
	return &Cutter{schema: s, whole: s.Documents(), body: s.Find(s.Passages.Field),
		own: s.Find(fields.PassageHeading), marked: HeadingsIn(s)}
}

// HeadingsIn returns the field of a schema that has the headings of documents, or -1.
func HeadingsIn(s *fields.Schema) int {
	if at := s.Find(HeadingsField); at >= 0 && s.Fields[at].Type == fields.Stored {
		return at
	}
	return -1
}

// PassageID returns the ID of a passage of a document, from 1.
func PassageID(parent string, number int) string { return parent + "#" + strconv.Itoa(number) }

// SplitPassageID is the inverse of PassageID.
func SplitPassageID(id string) (parent string, number int, ok bool) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(id[at+1:])
	return id[:at], n, err == nil && n > 0 && id[at+1:] == strconv.Itoa(n)
}

// Cut returns the passages of a whole document: at least one. They share its bytes.
func (c *Cutter) Cut(d Document) ([]Document, error) {
	if err := d.Complete(c.whole); err != nil {
		return nil, err
	}
	body := d.Text
	if c.whole != nil {
		body = nil
		if v := d.Fields[c.body]; len(v) > 0 {
			body = v[0]
		}
	}
	headings := c.headings(&d, body)
	pieces := c.words.cut(body, headings, c.schema.Passages)
	list := make([]Document, len(pieces))
	values := make([]fields.Values, len(list)*len(c.schema.Fields))
	count := numberValue(len(pieces))
	parent := fields.Values{[]byte(d.ID)}
	above := pathOfHeadings{list: headings}
	for i, p := range pieces {
		v := values[:len(c.schema.Fields):len(c.schema.Fields)]
		values = values[len(c.schema.Fields):]
		copy(v[:c.own], d.Fields)
		v[c.body] = nil
		if p.end > p.start {
			v[c.body] = fields.Values{body[p.start:p.end:p.end]}
		}
		if path := above.at(p.inside); path != "" {
			v[c.own] = fields.Values{[]byte(path)}
		}
		copy(v[c.own+1:], []fields.Values{parent, numberValue(p.start), numberValue(p.end), count})
		out := Document{ID: PassageID(d.ID, i+1), Fields: v, Breaks: c.breaks(&d, v, p)}
		if err := out.Complete(c.schema); err != nil {
			return nil, err
		}
		list[i] = out
	}
	return list, nil
}

func numberValue(n int) fields.Values { return fields.Values{strconv.AppendInt(nil, int64(n), 10)} }

// breaks returns the breaks of a document that lie in the fields of one of its passages.
func (c *Cutter) breaks(d *Document, v []fields.Values, p passagePart) (list []uint32) {
	if len(d.Breaks) == 0 {
		return nil
	}
	if c.whole == nil {
		return breaksWithin(list, d.Breaks, p.start, p.end, 0)
	}
	for _, i := range c.whole.Of(fields.Text) {
		if len(v[i]) == 0 {
			continue
		}
		from, to := c.whole.TextAt(d.Fields, i), c.schema.TextAt(v, i)
		if i == c.body {
			from += p.start
		}
		list = breaksWithin(list, d.Breaks, from, from+len(v[i][0]), to)
	}
	return list
}

// breaksWithin appends the breaks between two offsets as they are in a text whose part from the
// first begins at another offset.
func breaksWithin(list, breaks []uint32, from, end, to int) []uint32 {
	for _, b := range breaks {
		if at := int(b); at > from && at < end {
			list = append(list, uint32(at-from+to))
		}
	}
	return list
}

// headings returns the headings of a document: those that it has, or the lines of Markdown.
func (c *Cutter) headings(d *Document, body []byte) []Heading {
	how := c.schema.Passages.Headings
	if how == fields.NoHeadings {
		return nil
	}
	list := d.Headings
	if len(list) == 0 && c.marked >= 0 && c.marked < len(d.Fields) && len(d.Fields[c.marked]) > 0 {
		list = ParseHeadings(d.Fields[c.marked][0])
	}
	if validHeadings(list) && len(list) > 0 && list[len(list)-1].At <= len(body) {
		return list
	}
	if how == fields.MarkdownTexts || IsMarkdown(d.ID) {
		return MarkdownHeadings(body)
	}
	return nil
}

// ParseHeadings reads a value of HeadingsField. It is nil if that has something else.
func ParseHeadings(value []byte) (list []Heading) {
	if json.Unmarshal(value, &list) != nil || !validHeadings(list) {
		return nil
	}
	return list
}

func validHeadings(list []Heading) bool {
	return slices.IsSortedFunc(list, func(a, b Heading) int { return a.At - b.At }) &&
		(len(list) == 0 || list[0].At >= 0)
}

// HeadingPath returns the headings that apply at an offset, the outermost first.
func HeadingPath(list []Heading, at int) string {
	p := pathOfHeadings{list: list}
	return p.at(at)
}

// pathOfHeadings finds the headings above ascending offsets.
type pathOfHeadings struct {
	list  []Heading // that lie ahead
	above []Heading
	text  string
}

func (p *pathOfHeadings) at(offset int) string {
	moved := false
	for len(p.list) > 0 && p.list[0].At <= offset {
		h := p.list[0]
		for n := len(p.above); n > 0 && p.above[n-1].Level >= h.Level; n-- {
			p.above = p.above[:n-1]
		}
		p.list, p.above, moved = p.list[1:], append(p.above, h), true
	}
	if moved {
		names := make([]string, len(p.above))
		for i, h := range p.above {
			names[i] = h.Text
		}
		p.text = strings.Join(names, fields.HeadingSeparator)
	}
	return p.text
}

// passageCorpus reads a corpus and cuts its documents.
type passageCorpus struct {
	Corpus
	schema *fields.Schema
}

func (c *Corpus) passages(s *fields.Schema) *passageCorpus {
	p := &passageCorpus{*c, s}
	p.Options.Schema, p.Options.Cut, p.Options.Finish, p.Options.Beside = s.Documents(), false, nil, nil
	return p
}

func (c *passageCorpus) batches(ctx context.Context, fn func(worker int, b *Batch) error) error {
	return c.Corpus.Batches(ctx, func(worker int, b *Batch) error {
		cut := NewCutter(c.schema)
		out := make([]Document, 0, 2*len(b.Docs))
		for i := range b.Docs {
			list, err := cut.Cut(b.Docs[i])
			if err != nil {
				return err
			}
			out = append(out, list...)
		}
		return fn(worker, &Batch{Seq: b.Seq, Docs: out})
	})
}

func (c *passageCorpus) all(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		cut := NewCutter(c.schema)
		for d, err := range c.Corpus.All(ctx) {
			var list []Document
			if err == nil {
				list, err = cut.Cut(d)
			}
			if err != nil {
				yield(Document{}, err)
				return
			}
			for _, p := range list {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}
