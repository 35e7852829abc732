package mcptools

import (
	"fmt"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
)

// offer is what a client is told about an index before it asks.
type offer struct {
	Source
	docs     int
	analyzer string
	text     bool // is stored
	schema   *fields.Schema
}

// offers looks at all indexes. One that cannot be read now is left out.
func (s *Server) offers() (list []offer) {
	for _, x := range s.o.Indexes() {
		o := offer{Source: x}
		err := x.Read(func(x *search.Searcher) error {
			ix := x.Index()
			o.docs, o.analyzer, o.text, o.schema = ix.Docs(), ix.Analyzer(), ix.HasText(), ix.Schema()
			return nil
		})
		if err == nil {
			list = append(list, o)
		} else if s.o.Log != nil {
			s.o.Log.Warn("an index cannot be read", "index", x.Name, "error", err)
		}
	}
	return list
}

func (o *offer) cut() bool { return o.schema != nil && o.schema.Passages != nil }

// line describes the index in a line.
func (o *offer) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", o.Name)
	if o.About != "" {
		b.WriteString(strings.TrimSuffix(o.About, ".") + "; ")
	}
	if what := "documents"; o.cut() {
		fmt.Fprintf(&b, "%d passages of documents", o.docs)
	} else {
		fmt.Fprintf(&b, "%d %s", o.docs, what)
	}
	fmt.Fprintf(&b, ", analyzer %s", o.analyzer)
	if !o.text {
		b.WriteString(", without their text")
	}
	if o.schema != nil {
		b.WriteString("; fields ")
		for i, f := range o.schema.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s (%v)", f.Name, f.Type)
		}
	}
	return b.String() + "."
}

func (s *Server) instructions(offers []offer) string {
	var about []string
	if len(offers) > 0 {
		about = append(about, "Search these indexes, and quote documents by their IDs. The tool describe has values of "+
			"fields, ranges and examples.")
	}
	for _, o := range offers {
		about = append(about, o.line())
	}
	if x := s.o.Words; x != nil {
		about = append(about, fmt.Sprintf("company: %s, %d words.", s.o.Matrix, x.Len()))
	}
	if x := s.o.Vectors; x != nil {
		about = append(about, fmt.Sprintf("similar, analogy: %s, %d words.", s.o.VectorFile, len(x.Words)))
	}
	if x := s.o.Places; x != nil {
		about = append(about,
			fmt.Sprintf("places: %s, %d points of %d kinds; ask places_summary first.", s.o.Points,
				x.Len(), len(x.Features)))
	}
	return strings.Join(about, "\n")
}

// indexArgument describes the argument that names an index: needed if there are several.
func indexArgument(offers []offer) map[string]any {
	var lines []string
	for _, o := range offers {
		lines = append(lines, o.line())
	}
	if len(offers) == 1 {
		return map[string]any{"type": "string", "description": "The index to ask; there is only one. " + lines[0]}
	}
	var names []string
	for _, o := range offers {
		names = append(names, o.Name)
	}
	return map[string]any{"type": "string", "enum": names, "description": "The index to ask. " + strings.Join(lines, " ")}
}

// aboutVectors says that documents have vectors, if those of some index have.
func aboutVectors(offers []offer) string {
	for _, o := range offers {
		if o.schema != nil && len(o.schema.Of(fields.Vector)) > 0 {
			return "Documents with a field of type vector are also found by meaning, without or beside the words: by vector, " +
				"by like, the ID of one of them, or by encode, if the server has an encoder. "
		}
	}
	return ""
}

func aboutFields(offers []offer) string {
	has := false
	for _, o := range offers {
		has = has || o.schema != nil
	}
	if !has {
		return "There are no fields."
	}
	return aboutVectors(offers) + "By fields, field:value and year:[2020 TO 2024] match documents. In the query such a part is one of several, " +
		"any of which may match. To restrict the documents use the argument filter: all its parts must match, and " +
		"scores do not change. The argument index names the fields."
}
