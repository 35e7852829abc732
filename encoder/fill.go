package encoder

import (
	"context"
	"fmt"
	"slices"

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
	at, err := schema.VectorField(field)
	if err != nil {
		return fmt.Errorf("encoder: %w", err)
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
	f := &schema.Fields[at]
	for i, d := range of {
		if vectors[i] == nil {
			continue
		}
		if len(vectors[i]) != f.Dim {
			return fmt.Errorf("encoder %s: its vectors have %d dimensions, and the field %q has %d", e.name,
				len(vectors[i]), f.Name, f.Dim)
		}
		d.Fields = slices.Clone(d.Fields) // passages share it
		for len(d.Fields) <= at {
			d.Fields = append(d.Fields, nil)
		}
		d.Fields[at] = fields.Values{fields.VectorValue(vectors[i])}
	}
	return nil
}
