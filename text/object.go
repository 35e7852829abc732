package text

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Objects reads documents from JSON objects, one at a time, by the rules for files of JSON lines.
// Of Options only Schema, Fields, IDField, Encoding, MaxDocument and Memory have an effect.
type Objects struct {
	o      Options
	sc     *jsonScanner
	p      parser
	known  map[string]bool // names of fields, and whether they are wanted
	others []string
}

// maxOthers is the number of unused fields that Objects remembers.
const maxOthers = 20

// NewObjects returns a reader of documents.
func NewObjects(o Options) *Objects {
	j := &Objects{o: o, sc: newJSONScanner(&o), known: map[string]bool{}}
	j.p.limit = int(o.documentLimit())
	j.sc.seen = j.see
	return j
}

// see notes the name of a field.
func (j *Objects) see(name string) {
	if _, known := j.known[name]; known || len(j.others) == maxOthers {
		return
	}
	wanted := slices.ContainsFunc(j.sc.names, func(w string) bool { return j.sc.wants.matches(w, name) })
	if j.known[name] = wanted; !wanted {
		j.others = append(j.others, name)
	}
}

// Others returns the first twenty names of fields that were in objects and of no use.
func (j *Objects) Others() []string { return j.others }

// Parse reads a document, which is valid until the next call. Its ID is "" if the object has none.
func (j *Objects) Parse(object []byte) (Document, error) {
	if j.o.Encoding == UTF8 && !utf8.Valid(object) {
		return Document{}, errors.New("not UTF-8")
	}
	p := &j.p
	p.docs, p.ids, p.marks = p.docs[:0], p.ids[:0], p.marks[:0]
	p.arena, p.breaks, p.begun, p.long = p.arena[:0], p.breaks[:0], 0, -1
	p.values, p.bytes = p.values[:0], p.bytes[:0]
	err := j.sc.record(object, 0)
	if err == nil {
		err = j.sc.finish()
	}
	if err != nil {
		return Document{}, fmt.Errorf("column %d: %w", j.sc.at+1, err)
	}
	ids := len(j.sc.wants.texts) + len(j.sc.wants.ids)
	found := func(f jsonField) bool { return f.found }
	some := slices.ContainsFunc(j.sc.fields[:len(j.sc.wants.texts)], found) ||
		slices.ContainsFunc(j.sc.fields[ids:], found)
	if !some || !p.addJSON(j.sc, j.o.Schema) {
		return Document{}, errors.New(noText(&j.o, object))
	}
	if p.long >= 0 {
		return Document{}, j.o.errLong()
	}
	d := p.docs[0]
	if m := p.marks[0]; !m.number {
		d.ID = string(p.ids[m.start:m.end])
	}
	return d, nil
}
