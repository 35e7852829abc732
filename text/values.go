package text

import (
	"bytes"

	"github.com/collocate/collocate/fields"
)

// recordValues collects the values of one document. Without a schema its methods do nothing.
type recordValues struct {
	p      *parser
	schema *fields.Schema
	texts  []fieldText
	open   int // the field whose values are being added, -1 if none
	first  int // index of its first value in p.bytes
	parts  int // number of coordinates of the current point
	start  int // index of the document's first value in p.values
}

// fieldText is the range of a field's text in that of the document.
type fieldText struct{ from, to int }

// record begins a document.
func (p *parser) record(schema *fields.Schema) *recordValues {
	v := &p.now
	if schema == nil {
		v.schema = nil
		return v
	}
	*v = recordValues{p: p, schema: schema, texts: v.texts[:0], open: -1, start: len(p.values)}
	for range schema.Fields {
		p.values = append(p.values, nil)
	}
	for range schema.Of(fields.Text) {
		v.texts = append(v.texts, fieldText{})
	}
	return v
}

// text sets the range of the n-th text field in the document's text.
func (v *recordValues) text(n, from, to int) {
	if v.schema != nil {
		v.texts[n] = fieldText{from, to}
	}
}

// add appends a value to a field of the schema. Values of one field come one after the other.
func (v *recordValues) add(field int, value []byte) {
	if v.schema == nil {
		return
	}
	f := &v.schema.Fields[field]
	if field != v.open {
		v.close()
		v.open, v.first, v.parts = field, len(v.p.bytes), 0
	}
	if f.Missing != "" && string(bytes.TrimSpace(value)) == f.Missing {
		value = nil
	}
	if len(f.From) == 2 { // latitude and longitude
		v.addPart(value)
		return
	}
	if f.Type != fields.Stored {
		value = bytes.TrimSpace(value)
	}
	if f.Split == "" {
		v.put(value)
		return
	}
	for more := true; more; {
		var part []byte
		part, value, more = bytes.Cut(value, []byte(f.Split))
		v.put(bytes.TrimSpace(part))
	}
}

func (v *recordValues) put(value []byte) {
	if len(value) > 0 {
		v.p.bytes = append(v.p.bytes, value)
	}
}

// addPart makes "latitude,longitude" of two values. A single one is refused later.
func (v *recordValues) addPart(value []byte) {
	if v.parts++; v.parts == 1 {
		v.p.bytes = append(v.p.bytes, value)
		return
	}
	last := len(v.p.bytes) - 1
	lat := v.p.bytes[last]
	if v.parts == 2 && len(lat)+len(value) == 0 {
		v.p.bytes = v.p.bytes[:last]
		return
	}
	from := len(v.p.arena)
	v.p.arena = append(append(append(v.p.arena, lat...), ','), value...)
	v.p.bytes[last] = v.p.arena[from:len(v.p.arena):len(v.p.arena)]
}

// close ends the current field.
func (v *recordValues) close() {
	if v.open >= 0 && len(v.p.bytes) > v.first {
		n := len(v.p.bytes)
		v.p.values[v.start+v.open] = fields.Values(v.p.bytes[v.first:n:n])
	}
	v.open = -1
}

// end assigns the values to the document that was added last.
func (v *recordValues) end() {
	if v.schema == nil {
		return
	}
	v.close()
	d := &v.p.docs[len(v.p.docs)-1]
	n := 0
	for i := range v.schema.Fields {
		if v.schema.Fields[i].Type != fields.Text {
			continue
		}
		if t := v.texts[n]; t.to > t.from {
			v.p.bytes = append(v.p.bytes, d.Text[t.from:t.to:t.to])
			k := len(v.p.bytes)
			v.p.values[v.start+i] = fields.Values(v.p.bytes[k-1 : k : k])
		}
		n++
	}
	d.Fields = v.p.values[v.start:len(v.p.values):len(v.p.values)]
}
