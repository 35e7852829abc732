package api

import (
	"bytes"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// TextPart says which part of a text is shown.
type TextPart struct {
	Start int `json:"start"` // in bytes
	End   int `json:"end"`   // where it ends
	Size  int `json:"size"`  // of the whole text
	// Heading has the headings above the part, the outermost first, with " > " between them: those
	// of a Markdown file, or those that the document's field headings has.
	Heading string `json:"heading,omitempty"`
}

// partOf returns the part of a text around an offset: about that many bytes, of whole lines if
// their ends are near, never a part of a letter.
func partOf(body []byte, around, size int) (start, end int) {
	around = min(around, len(body))
	start = max(0, min(around-size/2, len(body)-size))
	end = min(len(body), start+size)
	if at := bytes.LastIndexByte(body[:start], '\n') + 1; start-at <= size/4 {
		start = at
	}
	if at := bytes.IndexByte(body[end:], '\n'); at >= 0 && at <= size/4 {
		end += at + 1
	} else if at < 0 && len(body)-end <= size/4 {
		end = len(body)
	}
	for start > 0 && start < len(body) && !utf8.RuneStart(body[start]) {
		start--
	}
	for end < len(body) && !utf8.RuneStart(body[end]) {
		end++
	}
	return start, end
}

// around leaves of a document's text the part that the question asks for.
func (q *Show) around(d *Document, headings []text.Heading) error {
	if d.Text == nil {
		return wrongf("around", "no text of the document is stored")
	}
	if q.Around > len(*d.Text) {
		return wrongf("around", "%d: the text has %d bytes", q.Around, len(*d.Text))
	}
	start, end := partOf([]byte(*d.Text), q.Around, q.Bytes)
	part := (*d.Text)[start:end]
	d.Part = &TextPart{start, end, len(*d.Text), text.HeadingPath(headings, q.Around)}
	d.Text, d.Fields, d.Lines = &part, nil, nil
	return nil
}

// headingsOf returns the headings of a whole document, whose text is body: those that its field
// headings has, or the lines of Markdown.
func headingsOf(s *fields.Schema, id string, values []fields.Values, body []byte) []text.Heading {
	markdown := text.IsMarkdown(id)
	if s != nil && s.Passages != nil {
		switch s.Passages.Headings {
		case fields.NoHeadings:
			return nil
		case fields.MarkdownTexts:
			markdown = true
		}
	}
	if s != nil {
		if at := text.HeadingsIn(s); at >= 0 && at < len(values) && len(values[at]) > 0 {
			if list := text.ParseHeadings(values[at][0]); list != nil {
				return list
			}
		}
	}
	if markdown {
		return text.MarkdownHeadings(body)
	}
	return nil
}

// bodyField returns the text field that is the text of documents, to which their headings and the
// places of passages refer. -1 stands for all text fields, one after the other.
func bodyField(s *fields.Schema) int {
	if s == nil || s.Passages == nil && text.HeadingsIn(s) < 0 {
		return -1
	}
	if at := s.Body(); at >= 0 && fields.IsStored(&s.Fields[at]) {
		return at
	}
	return -1
}

// bodyOf returns the text of the document that is shown, with its headings.
func (d *Document) bodyOf(r *segments.Reader) (body []byte, list []text.Heading, err error) {
	s := r.Schema()
	if at := bodyField(s); at >= 0 {
		values, err := r.Stored(d.Doc)
		if err != nil {
			return nil, nil, err
		}
		if len(values[at]) > 0 {
			d.TextField, body = s.Fields[at].Name, values[at][0]
			return body, headingsOf(s, d.ID, values, body), nil
		}
	}
	body, err = r.Text(d.Doc)
	return body, headingsOf(s, d.ID, nil, body), err
}

// neighbours replaces the text of a passage by the part of its document that it and its neighbours
// are.
func (q *Show) neighbours(r *segments.Reader, d *Document) error {
	if d.Passage == nil {
		return wrongf("neighbours", "%q is not a passage", q.ID)
	}
	whole := &Show{ID: d.Passage.Document, Around: -1}
	all, err := whole.showWhole(r)
	if err != nil {
		return err
	}
	from, to := d.Passage, d.Passage
	for n := 1; n <= q.Neighbours; n++ {
		for _, p := range []struct {
			number int
			end    **Passage
		}{{d.Passage.Number - n, &from}, {d.Passage.Number + n, &to}} {
			if p.number < 1 || p.number > d.Passage.Of {
				continue
			}
			if *p.end, err = findPassage(r, d.Passage.Document, p.number); err != nil {
				return err
			}
		}
	}
	part := (*all.Text)[from.Start:to.End]
	d.Text, d.Fields, d.Lines = &part, nil, nil
	d.Part = &TextPart{from.Start, to.End, len(*all.Text), from.Heading}
	return nil
}

func findPassage(r *segments.Reader, parent string, number int) (*Passage, error) {
	id := text.PassageID(parent, number)
	doc, found, err := r.FindDoc(id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errLacks(parent, id)
	}
	values, err := r.Stored(doc)
	if err != nil {
		return nil, err
	}
	return passageOf(r.Schema(), id, values)
}
