package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/fields"
)

// The usual names of fields and columns, in any case. If there is a field contents, the others are
// parts of it, as in Anserini; otherwise all that exist are joined. The ID is the first that
// exists: passages also have the ID of their document.
var (
	defaultTexts = []string{"contents", "title", "headline", "headings", "abstract", "text", "body", "content",
		"passage", "paragraph", "segment", "article"}
	defaultIDs = []string{"id", "_id", "pid", "passage_id", "docno", "docid", "doc_id", "document_id"}
)

// defaultWeights are the fields of weighted tokens: of Anserini's collections and of PyTerrier.
var defaultWeights = []string{"vector", "toks"}

// wantedFields are the names of fields that hold text and IDs.
type wantedFields struct {
	texts, ids []string
	// others are the sources of the other fields of a schema, in its order.
	others []otherField
	// The usual names match in any case, names given by a user only as they are.
	usualTexts, usualIDs bool
}

// otherField is a column or field with values that are not text.
type otherField struct {
	name  string
	field int // number in the schema
}

// textFields returns the names that a user gave for the text.
func (o *Options) textFields() []string {
	if o.Schema == nil {
		return o.Fields
	}
	var names []string
	for _, i := range o.Schema.Of(fields.Text) {
		names = append(names, o.Schema.Fields[i].Sources()[0])
	}
	return names
}

// named returns all names that a user gave.
func (o *Options) named() []string {
	names := slices.Clone(o.textFields())
	for _, f := range o.otherFields() {
		names = append(names, f.name)
	}
	if o.IDField != "" {
		names = append(names, o.IDField)
	}
	return names
}

func (o *Options) otherFields() (list []otherField) {
	if o.Schema == nil {
		return nil
	}
	for i, f := range o.Schema.Fields {
		if f.Type == fields.Text {
			continue
		}
		for _, name := range f.Sources() {
			list = append(list, otherField{name, i})
		}
	}
	return list
}

func (o *Options) wantedFields() wantedFields {
	w := wantedFields{texts: o.textFields(), ids: []string{o.IDField}, others: o.otherFields()}
	switch {
	case len(w.texts) > 0:
	case o.Weights:
		w.texts, w.usualTexts = defaultWeights, true
	default:
		w.texts, w.usualTexts = defaultTexts, true
	}
	if o.IDField == "" {
		w.ids, w.usualIDs = defaultIDs, true
	}
	return w
}

// matches reports whether a field has a wanted name.
func (w *wantedFields) matches(wanted, name string) bool {
	return wanted == name || strings.EqualFold(wanted, name) &&
		(w.usualTexts && slices.Contains(defaultTexts, wanted) || w.usualIDs && slices.Contains(defaultIDs, wanted))
}

// textNames lists the names of text fields for an error.
func (w *wantedFields) textNames() string {
	if w.usualTexts && w.texts[0] == defaultTexts[0] {
		return "contents, title, text, body or the like"
	}
	return strings.Join(w.texts, ", ")
}

// find returns the index of the first field with a wanted name, in the order of the wanted names,
// or -1.
func (w *wantedFields) find(wanted, names []string) int {
	for _, want := range wanted {
		if i := slices.IndexFunc(names, func(name string) bool { return w.matches(want, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

// describe returns a note if a field of a file was left out or IDs were made up.
func (w *wantedFields) describe(names []string, o *Options) string {
	var texts, others []string
	id := w.find(w.ids, names)
	whole := w.usualTexts && w.find(w.texts[:1], names) >= 0
	for i, name := range names {
		switch at := slices.IndexFunc(w.texts, func(want string) bool { return w.matches(want, name) }); {
		case at == 0 || at > 0 && !whole:
			texts = append(texts, name)
		case i != id && !slices.ContainsFunc(w.others, func(f otherField) bool { return f.name == name }):
			others = append(others, name)
		}
	}
	var says []string
	if len(texts) == 0 {
		return "" // reported as an error elsewhere
	}
	if len(others) > 0 && o.Schema != nil {
		says = append(says, fmt.Sprintf("left out: %s (the schema does not name them)", shortList(others)))
	} else if len(others) > 0 && w.usualTexts {
		says = append(says, fmt.Sprintf("text is %s; left out: %s (text.Options.Fields chooses)",
			strings.Join(texts, ", "), shortList(others)))
	}
	switch {
	case id < 0 && o.IDField == "":
		says = append(says, "no field id, docid, docno or the like: documents are named by file and number (text.Options.IDField chooses)")
	case o.IDField == "" && slices.ContainsFunc(names, func(name string) bool {
		return w.find(w.ids, []string{name}) == 0 && name != names[id]
	}):
		says = append(says, fmt.Sprintf("IDs are from %s (text.Options.IDField chooses)", names[id]))
	}
	return strings.Join(says, "; ")
}

// shortList lists names for an error, but not all of a thousand columns, or of a file that is not
// CSV.
func shortList(names []string) string {
	if list := strings.Join(names, ", "); len(list) <= 200 {
		return list
	}
	list := strings.ToValidUTF8(strings.Join(names, ", ")[:200], "\ufffd")
	return fmt.Sprintf("%s... (%d in all)", list, len(names))
}
