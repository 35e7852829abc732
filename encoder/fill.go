package encoder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Fill gives documents of a schema the vectors that they lack: those of the texts of their text
// fields, joined by newlines. Documents of whose text there is no vector are left as they are.
// field names the vector field; "" means the only one. Fill can be Options.Finish of a text.Corpus.
func (e *Encoder) Fill(ctx context.Context, schema *fields.Schema, field string, docs []text.Document) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	at, err := vectorField(schema, field)
	if err != nil {
		return err
	}
	var texts []string
	var of []*text.Document
	for i := range docs {
		d := &docs[i]
		if at < len(d.Fields) && len(d.Fields[at]) > 0 {
			continue
		}
		if t := schema.Text(d.Fields); len(t) > 0 {
			texts, of = append(texts, string(t[:min(len(t), MaxText+4)])), append(of, d)
		}
	}
	vectors, err := e.Documents(ctx, texts)
	if err != nil {
		return err
	}
	for i, d := range of {
		if vectors[i] == nil {
			continue
		}
		d.Fields = slices.Clone(d.Fields) // passages share it
		for len(d.Fields) <= at {
			d.Fields = append(d.Fields, nil)
		}
		d.Fields[at] = fields.Values{fields.VectorValue(vectors[i])}
	}
	return nil
}

const example = "meaning:vector:384:optional"

// vectorField returns the number of a vector field.
func vectorField(schema *fields.Schema, name string) (int, error) {
	if schema == nil {
		return 0, errors.New("encoder: the documents have no fields: declare one for vectors, such as " + example)
	}
	list := schema.Of(fields.Vector)
	names := schema.Names(func(f *fields.Field) bool { return f.Type == fields.Vector })
	switch at := slices.Index(names, name); {
	case len(list) == 0:
		return 0, errors.New("encoder: no field has the type vector: declare one, such as " + example)
	case name == "" && len(list) > 1:
		return 0, fmt.Errorf("encoder: name a vector field: %s", strings.Join(names, " or "))
	case name == "":
		return list[0], nil
	case at < 0:
		return 0, fmt.Errorf("encoder: unknown vector field %q: want %s", name, strings.Join(names, " or "))
	default:
		return list[at], nil
	}
}
