package api

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Cutting says how the documents of an index are cut into passages.
type Cutting struct {
	Passages     int    `ask:"passages" group:"Passages" range:"0..100000" help:"cut documents into passages of at most this many words, at headings and ends of sentences; each is a document of the index, with the ID DOCUMENT#1 and so on (0: whole documents)"`
	Overlap      int    `ask:"overlap" group:"Passages" default:"20" range:"0..50" help:"how much of a passage the next one repeats, in per cent of its words"`
	PassageField string `ask:"passage_field" group:"Passages" help:"text field that is cut, if documents have several (default the one called text, body, content or contents)"`
	Headings     string `ask:"headings" group:"Passages" default:"auto" one:"auto,markdown,none" help:"which lines are headings: auto: those with # in Markdown files; markdown: in all documents; none"`
}

// passages returns what the parameters say, or nil if documents stay whole.
func (c *Cutting) passages() (*fields.Passages, error) {
	if c.Passages == 0 {
		if c.PassageField != "" {
			return nil, wrongf("passage_field", "it needs passages, the number of words")
		}
		return nil, nil
	}
	p := &fields.Passages{Words: c.Passages, Overlap: c.Passages * c.Overlap / 100, Field: c.PassageField}
	if err := p.Headings.UnmarshalText([]byte(c.Headings)); err != nil {
		return nil, wrong("headings", err)
	}
	return p, nil
}

// Cut returns the schema of the passages of documents with the fields s, or s if there are none.
func (c *Cutting) Cut(s *fields.Schema) (*fields.Schema, error) {
	p, err := c.passages()
	if p == nil || err != nil {
		return s, err
	}
	out, err := p.Cut(s)
	if err != nil {
		return nil, wrong("passages", err)
	}
	return out, nil
}

// Passage says where a hit is in its document.
type Passage struct {
	Document string `json:"document"` // ID of the whole document
	Number   int    `json:"number"`   // of the passage in it, from 1
	Of       int    `json:"of"`       // number of its passages
	// Start and End are where the passage is in the stored text of the document, or in the field
	// that was cut, in bytes.
	Start int `json:"start"`
	End   int `json:"end"` // where it ends
	// Heading has the headings above the passage, the outermost first, with " > " between them.
	Heading string `json:"heading,omitempty"`
}

// passageOf returns what a passage's stored values say of it.
func passageOf(s *fields.Schema, id string, values []fields.Values) (*Passage, error) {
	parent, number, ok := text.SplitPassageID(id)
	own := s.Find(fields.PassageHeading)
	p := &Passage{Document: parent, Number: number, Heading: first(values[own])}
	for i, to := range []*int{&p.Start, &p.End, &p.Of} {
		n, err := strconv.Atoi(first(values[own+2+i]))
		ok = ok && err == nil
		*to = n
	}
	if !ok {
		return nil, fmt.Errorf("document %q: its fields are not those of a passage", id)
	}
	return p, nil
}

func first(v fields.Values) string {
	if len(v) == 0 {
		return ""
	}
	return string(v[0])
}

// errLacks is the error of a document of which this index lacks a passage.
func errLacks(id, passage string) error {
	return &Error{Err: fmt.Errorf("document %q: %s is not here, but perhaps in another shard: "+
		"ask for passages by their IDs", id, passage)}
}

// wholeDocument puts a document together from its passages, or returns nil if there is none. Values
// are those of whole documents, and the last number is that of its first passage.
func wholeDocument(r *segments.Reader, id string) (values []fields.Values, body []byte, doc int, err error) {
	s := r.Schema()
	cut := s.Find(s.Passages.Field)
	for number, of := 1, 1; number <= of; number++ {
		passage := text.PassageID(id, number)
		at, found, err := r.FindDoc(passage)
		if err != nil || !found && number == 1 {
			return nil, nil, 0, err
		}
		if !found {
			return nil, nil, 0, errLacks(id, passage)
		}
		v, err := r.Stored(at)
		if err != nil {
			return nil, nil, 0, err
		}
		p, err := passageOf(s, passage, v)
		if err != nil {
			return nil, nil, 0, err
		}
		if number == 1 {
			values, of, doc = v[:s.Find(fields.PassageHeading)], p.Of, at
		}
		if len(v[cut]) == 0 {
			continue
		}
		if p.Start > len(body) {
			return nil, nil, 0, fmt.Errorf("document %q: its passages leave a gap", id)
		}
		body = append(body[:p.Start], v[cut][0]...)
	}
	values = slices.Clone(values)
	if values[cut] = nil; len(body) > 0 {
		values[cut] = fields.Values{body}
	}
	return values, body, doc, nil
}

// showWhole shows a document that was cut into passages; nil means that there is none.
func (q *Show) showWhole(r *segments.Reader) (*Document, error) {
	values, body, doc, err := wholeDocument(r, q.ID)
	if err != nil || values == nil {
		return nil, err
	}
	if q.Neighbours > 0 {
		return nil, wrongf("neighbours", "%q is a whole document: want a passage, such as %s", q.ID,
			text.PassageID(q.ID, 1))
	}
	s := r.Schema()
	d := &Document{ID: q.ID, Doc: doc}
	whole := s.Documents()
	if whole == nil {
		whole = &fields.Schema{Fields: s.Fields[:1]}
	}
	for _, name := range q.Show {
		if whole.Find(name) < 0 && s.Find(name) >= 0 {
			return nil, wrongf("show", "%q is a field of passages, not of whole documents: ask for %s", name,
				text.PassageID(q.ID, 1))
		}
	}
	show, err := whole.Shown(q.Show)
	if err != nil {
		return nil, wrong("show", err)
	}
	if d.Fields, d.Lines = Stored(whole, show, values); len(q.Show) > 0 {
		return d, nil
	}
	if s.Passages.Plain {
		d.Fields, d.Lines = nil, nil // the text is all that there is
	}
	all := string(body)
	d.TextField = s.Passages.Field
	if d.Text = &all; q.Around >= 0 {
		err = q.around(d, headingsOf(s, q.ID, values, body))
	}
	return d, err
}

// snippets gives each hit what the text of its document says of the query, with the headings above,
// where they are known. Places are those in the whole document.
func (d *Details) snippets(ctx context.Context, s *search.Searcher, r search.Request, docs []uint32, hits []Hit) error {
	schema := s.Index().Schema()
	o := search.SnippetOptions{Size: d.SnippetSize, Number: d.SnippetCount, KeepLines: d.KeepLines}
	body := bodyField(schema)
	if body >= 0 {
		o.Field = schema.Fields[body].Name
	}
	list, err := s.Excerpts(ctx, r, docs, o)
	if err != nil {
		return err
	}
	for i, of := range list {
		if len(of) == 0 { // the document has no text
			of = []*search.Snippet{{}}
		}
		hit := &hits[i]
		hit.Snippet, hit.MoreSnippets = of[0], of[1:]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := placed(s, schema, docs[i], hit.ID, of); err != nil {
			return err
		}
	}
	return nil
}

// placed moves the snippets of a passage to their places in the document, and finds the headings
// above each.
func placed(s *search.Searcher, schema *fields.Schema, doc uint32, id string, of []*search.Snippet) error {
	at, start := bodyField(schema), 0
	var headings []text.Heading
	switch {
	case at >= 0:
		values, err := s.Stored(doc)
		if err != nil {
			return err
		}
		if schema.Passages == nil {
			headings = headingsOf(schema, id, values, []byte(first(values[at])))
			break
		}
		p, err := passageOf(schema, id, values)
		if err != nil {
			return err
		}
		start = p.Start
		if of := text.HeadingsIn(schema); of >= 0 && len(values[of]) > 0 && schema.Passages.Headings != fields.NoHeadings {
			headings = text.ParseHeadings(values[of][0])
		}
	case schema == nil && text.IsMarkdown(id):
		body, err := s.Index().Text(int(doc))
		if err != nil {
			return err
		}
		headings = text.MarkdownHeadings(body)
	}
	for _, one := range of {
		if one.Start, one.End, one.First = one.Start+start, one.End+start, one.First+start; one.End > one.Start {
			one.Heading = text.HeadingPath(headings, one.First)
		}
	}
	return nil
}
