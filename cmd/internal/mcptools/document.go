package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

type documentResult struct {
	ID      string         `json:"id"`
	Size    int            `json:"size" jsonschema:"size of the whole text in bytes"`
	Text    string         `json:"text"`
	Start   int            `json:"start" jsonschema:"where the text that is shown begins in the whole text, in bytes"`
	Next    int            `json:"next,omitempty" jsonschema:"where to continue, if there is more text"`
	Heading string         `json:"heading,omitempty" jsonschema:"the headings above the part that is shown"`
	Passage *api.Passage   `json:"passage,omitempty" jsonschema:"where the passage is in its document"`
	Fields  map[string]any `json:"fields,omitempty" jsonschema:"other stored fields"`
	Long    []string       `json:"long_fields,omitempty" jsonschema:"stored fields that are left out since they are long"`
	Note    string         `json:"note,omitempty" jsonschema:"says if several documents have the ID"`
}

// document shows a document, a passage, or a part of either.
func (s *Server) document(_ context.Context, _ *mcp.CallToolRequest,
	args json.RawMessage) (_ *mcp.CallToolResult, out documentResult, err error) {
	var in api.Show
	of, err := s.asks(api.ShowQuestion, args, &in)
	if err != nil {
		return nil, out, err
	}
	err = of.Read(func(x *search.Searcher) error {
		out, err = readWithin(x, in)
		return err
	})
	return nil, out, err
}

// readWithin reads as much of a document as its JSON may have tokens, but at least a letter.
func readWithin(x *search.Searcher, in api.Show) (out documentResult, err error) {
	if in.Tokens == 0 {
		return readDocument(x, in)
	}
	in.Bytes = min(in.Bytes, in.Tokens*tokenBytes)
	for {
		if out, err = readDocument(x, in); err != nil {
			return out, err
		}
		text, err := json.Marshal(out)
		over := len(text) - in.Tokens*tokenBytes
		switch {
		case err != nil || over <= 0 || in.Bytes == 1 && len(out.Fields) == 0:
			return out, err
		case in.Bytes == 1 || over > in.Bytes && len(out.Fields) > 0: // rather text than fields
			in.Show = []string{}
		default:
			in.Bytes = max(1, in.Bytes-over)
		}
	}
}

func readDocument(x *search.Searcher, in api.Show) (out documentResult, err error) {
	if in.Around >= 0 && in.Start > 0 {
		return out, fmt.Errorf("start is for whole texts: leave it out, or around")
	}
	schema := x.Index().Schema()
	parent, _, ok := text.SplitPassageID(in.ID)
	if in.Start > 0 { // goes on, in the text that offsets of passages are of
		in.Neighbours = 0
		if schema != nil && schema.Passages != nil && ok {
			in.ID = parent
		}
	}
	noFields := in.Show != nil
	in.Show = nil
	d, err := in.Do(x.Index())
	if err != nil {
		return out, err
	}
	if d == nil {
		return out, fmt.Errorf("no document %q", in.ID)
	}
	out = documentResult{ID: d.ID, Passage: d.Passage, Fields: d.Fields}
	if schema != nil {
		maps.DeleteFunc(out.Fields, func(name string, _ any) bool {
			return forPrograms(schema, name) || d.Text != nil && name == d.TextField
		})
	}
	if d.SameID > 1 {
		out.Note = fmt.Sprintf("%d documents have this ID: this is the first", d.SameID)
	}
	if d.Text != nil { // which has the long fields
		out.Long = withoutLong(out.Fields)
	}
	if noFields {
		out.Long = slices.Sorted(maps.Keys(out.Fields))
		out.Fields = nil
	}
	if d.Passage != nil {
		out.Heading = d.Passage.Heading
	}
	body := ""
	if d.Text != nil {
		body = *d.Text
	}
	switch {
	case d.Part != nil && d.Passage != nil: // the passage comes before its neighbours
		first := d.Passage.Start - d.Part.Start
		room := max(0, in.Bytes-(d.Passage.End-d.Passage.Start))
		after := len(body) - (d.Passage.End - d.Part.Start)
		first = max(0, first-max(room/2, room-after))
		if len(body) <= in.Bytes {
			first = 0
		}
		first = runeAt([]byte(body), first)
		out.Size, out.Start, out.Heading = d.Part.Size, d.Part.Start+first, d.Part.Heading
		if out.Start >= d.Passage.Start {
			out.Heading = d.Passage.Heading
		}
		out.Text = within(body, first, in.Bytes)
	case d.Part != nil:
		out.Size, out.Start, out.Heading = d.Part.Size, d.Part.Start, d.Part.Heading
		size := in.Bytes
		if in.Tokens == 0 {
			size += size / 2 // for the ends of lines
		}
		out.Text = within(body, 0, size)
	case d.Passage != nil:
		whole, err := (&api.Show{ID: parent, Around: -1}).Do(x.Index())
		if err != nil {
			return out, err
		}
		out.Start, out.Text = d.Passage.Start, within(body, 0, in.Bytes)
		if out.Size = d.Passage.End; whole != nil && whole.Text != nil {
			out.Size = len(*whole.Text)
		}
	case in.Start < 0 || in.Start > len(body):
		return out, fmt.Errorf("start %d: want 0 to %d, the length of the text", in.Start, len(body))
	default:
		if at := runeAt([]byte(body), in.Start); at < in.Start {
			return out, fmt.Errorf("start %d is inside a letter: want %d", in.Start, at)
		}
		out.Size, out.Start, out.Text = len(body), in.Start, within(body, in.Start, in.Bytes)
	}
	if end := out.Start + len(out.Text); end < out.Size {
		out.Next = end
	}
	return out, nil
}

// within returns at most so many bytes of a text, but at least one letter, or the reader would
// never end.
func within(body string, start, size int) string {
	end := runeAt([]byte(body), min(len(body), start+size))
	if end == start && end < len(body) {
		_, size := utf8.DecodeRuneInString(body[end:])
		end += size
	}
	return body[start:end]
}

// runeAt returns where the letter begins that an offset is in. Of bytes that are not UTF-8 each is
// a letter.
func runeAt(text []byte, at int) int {
	for begin := max(0, at-utf8.UTFMax+1); begin < at && at < len(text); begin++ {
		if r, size := utf8.DecodeRune(text[begin:]); r != utf8.RuneError && begin+size > at {
			return begin
		}
	}
	return at
}
