package fields

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/choice"
)

// Passages says that documents are cut into passages, each of which is a document of the index. Its
// ID is that of the whole document, #, and its number from 1.
type Passages struct {
	// Words is the most words of a passage.
	Words int `json:"words"`
	// Overlap is the most words that a passage repeats from the end of the one before. No passage
	// begins before a heading that the one before does not have.
	Overlap int `json:"overlap,omitempty"`
	// Field is the text field that is cut. Other fields are the same in all passages.
	Field string `json:"field"`
	// Plain documents have no fields of their own: their text is that of Field.
	Plain bool `json:"plain,omitempty"`
	// Headings says which lines are headings; the zero value is MarkdownFiles.
	Headings Headings `json:"headings,omitempty"`
}

// Headings says which lines of a text are headings, unless its document says where they are.
type Headings int

const (
	MarkdownFiles Headings = iota // lines with # of documents whose IDs end as Markdown files do
	MarkdownTexts                 // lines with # of all documents
	NoHeadings
)

var headingNames = choice.New[Headings]("headings", "auto", "markdown", "none")

func (h Headings) String() string { return headingNames.Of(h) }

// MarshalText writes the name.
func (h Headings) MarshalText() ([]byte, error) { return headingNames.Text(h) }

// UnmarshalText reads a name.
func (h *Headings) UnmarshalText(name []byte) error { return headingNames.Set(h, string(name)) }

// The fields that passages have besides those of their document, in this order, after them.
const (
	PassageHeading = "heading"  // text: the headings above, joined by HeadingSeparator
	PassageParent  = "parent"   // keyword: ID of the whole document
	PassageStart   = "start"    // number: where it begins in the field that was cut, in bytes
	PassageEnd     = "end"      // number: where it ends
	PassageCount   = "passages" // number: how many the document has
)

var passageFields = []Field{{Name: PassageHeading}, {Name: PassageParent, Type: Keyword},
	{Name: PassageStart, Type: Number}, {Name: PassageEnd, Type: Number}, {Name: PassageCount, Type: Number}}

// HeadingSeparator stands between the headings above a passage, the outermost first.
const HeadingSeparator = " > "

// MaxPassageWords is the most words that a passage may have.
const MaxPassageWords = 100_000

// bodies are the usual names of the field that is cut.
var bodies = []string{"text", "body", "content", "contents"}

// Cut returns the schema of the passages of documents with fields s, or with none if s is nil. If
// p.Field is empty, it is the only text field, or one with a usual name.
func (p Passages) Cut(s *Schema) (*Schema, error) {
	if s == nil {
		p.Plain = true
		if p.Field == "" {
			p.Field = bodies[0]
		}
		s = &Schema{Fields: []Field{{Name: p.Field}}}
	}
	if s.Passages != nil {
		return nil, errors.New("the fields are those of passages already")
	}
	if p.Field == "" {
		at := s.Body()
		if at < 0 {
			return nil, fmt.Errorf("name the text field that is cut into passages: one of %s",
				strings.Join(s.Names(func(f *Field) bool { return f.Type == Text }), ", "))
		}
		p.Field = s.Fields[at].Name
	}
	out := &Schema{Fields: slices.Concat(s.Fields, passageFields), Passages: &p}
	return out, out.Check()
}

// Body returns the field that has the text of documents: the one that is cut into passages, the
// only text field, or one with a usual name. It is -1 if there is none.
func (s *Schema) Body() int {
	if s.Passages != nil {
		return s.Find(s.Passages.Field)
	}
	texts := s.Of(Text)
	if len(texts) == 1 {
		return texts[0]
	}
	for _, name := range bodies {
		if at := s.Find(name); at >= 0 && s.Fields[at].Type == Text {
			return at
		}
	}
	return -1
}

// Documents returns the schema of the documents that are given to an index: without Passages it is
// s itself, with them that of whole documents, nil if these have no fields.
func (s *Schema) Documents() *Schema {
	switch {
	case s == nil || s.Passages == nil:
		return s
	case s.Passages.Plain:
		return nil
	}
	return &Schema{Fields: s.Fields[:len(s.Fields)-len(passageFields)]}
}

// With returns the schema with other fields, such as those whose analyzers are filled in.
func (s *Schema) With(list []Field) *Schema { return &Schema{Fields: list, Passages: s.Passages} }

func (s *Schema) checkPassages() error {
	p := s.Passages
	if p == nil {
		return nil
	}
	own := len(s.Fields) - len(passageFields)
	if err := headingNames.Check(p.Headings); err != nil {
		return err
	}
	switch at := s.Find(p.Field); {
	case p.Words < 1 || p.Words > MaxPassageWords:
		return fmt.Errorf("passages of %d words: want 1 to %d", p.Words, MaxPassageWords)
	case p.Overlap < 0 || p.Overlap > p.Words/2:
		return fmt.Errorf("passages of %d words with an overlap of %d: want 0 to half as many", p.Words, p.Overlap)
	case own < 1 || p.Plain && own > 1:
		return fmt.Errorf("%d fields are not those of passages", len(s.Fields))
	case at < 0 || at >= own || s.Fields[at].Type != Text:
		return fmt.Errorf("passages of %q: want a text field", p.Field)
	}
	for i, want := range passageFields {
		if f := &s.Fields[own+i]; f.Name != want.Name || f.Type != want.Type || f.Unstored {
			return fmt.Errorf("field %q: want %s:%v, which passages have", f.Name, want.Name, want.Type)
		}
	}
	return nil
}
