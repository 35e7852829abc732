package folders

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/extract"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// Schema lists the fields of files.
func Schema() *fields.Schema {
	s, err := schema(0)
	if err != nil {
		panic(err) // cannot happen: a test makes it
	}
	return s
}

// schema is Schema with a field for vectors of so many dimensions, unless these are 0.
func schema(dim int) (*fields.Schema, error) {
	list := strings.Fields(`title:text:weight=3 name:text:code|parts|lower text:text
		path:keyword extension:keyword kind:keyword modified:date size:number
		author:keyword date:date from:keyword to:keyword tag:keyword language:keyword link:keyword
		attachment:keyword encoding:keyword problem:keyword headings:stored hash:keyword recheck:keyword`)
	if dim != 0 {
		list = append(list, fmt.Sprintf("%s:vector:%d:optional", vectorField, dim))
	}
	return fields.ParseList(list)
}

// vectorField is the name of the field for vectors.
const vectorField = "vector"

// checkVectors returns an error unless documents of an index have vectors just if they get some.
func (o *Options) checkVectors(dir string, s *fields.Schema) error {
	at := s.Find(vectorField)
	switch {
	case at >= 0 && o.Finish == nil:
		return fmt.Errorf("%s has vectors: name what made them again", dir)
	case at < 0 && o.Finish != nil:
		return fmt.Errorf("%s was made without vectors: make a new index", dir)
	case at >= 0 && s.Fields[at].Dim != o.Dim:
		return fmt.Errorf("%s has vectors of %d dimensions: these have %d", dir, s.Fields[at].Dim, o.Dim)
	}
	return nil
}

// checkSchema returns an error unless an index has the fields of files.
func checkSchema(dir string, r *segments.Reader) error {
	has := r.Schema()
	for _, f := range Schema().Fields {
		if at := -1; has != nil {
			if at = has.Find(f.Name); at >= 0 && has.Fields[at].Type == f.Type && fields.IsStored(&has.Fields[at]) {
				continue
			}
		}
		return fmt.Errorf("%s was not made from a folder by sync: it has no stored field %s of type %s: name another index", dir, f.Name, f.Type)
	}
	return nil
}

// document makes the values of a document: d's, and those of the file.
func (s *syncer) document(f *file, d *extract.Document, hash string) (text.Document, error) {
	values := make([]fields.Values, len(s.schema.Fields))
	set := func(name string, list ...string) {
		for _, v := range list {
			if v != "" {
				at := s.schema.Find(name)
				values[at] = append(values[at], []byte(v))
			}
		}
	}
	for name, list := range d.Fields {
		if at := s.schema.Find(name); at >= 0 {
			if t := s.schema.Fields[at].Type; t != fields.Keyword {
				list = list[:1]
			}
			for i, v := range list {
				list[i] = cut(v, longest)
			}
			set(name, list...)
		}
	}
	set("title", d.Title)
	set("kind", d.Kind)
	if len(d.Text) > 0 {
		values[s.schema.Find("text")] = fields.Values{d.Text}
	}
	if d.Encoding != "utf-8" {
		set("encoding", d.Encoding)
	}
	if len(d.Headings) > 0 {
		list, err := json.Marshal(d.Headings)
		if err != nil {
			return text.Document{}, err
		}
		set("headings", string(list))
	}
	set("hash", hash)
	s.setFile(values, f)
	return text.Document{ID: idOf(f.path, d.Part), Fields: values}, nil
}

// longest is the length of the longest value of a keyword that is kept whole, such as an address.
const longest = 2000

// cut returns a value of at most n bytes.
func cut(v string, n int) string {
	if len(v) <= n {
		return v
	}
	return strings.ToValidUTF8(v[:n], "")
}

// idOf returns the ID of a file, or of a part of it. No file can lie below another, so no other
// file has the ID of a part.
func idOf(path, part string) string {
	if part == "" {
		return path
	}
	return path + "/" + part
}

// setFile sets the fields that a file has whatever its bytes are.
func (s *syncer) setFile(values []fields.Values, f *file) {
	set := func(name, value string) {
		at := s.schema.Find(name)
		if values[at] = nil; value != "" {
			values[at] = fields.Values{[]byte(value)}
		}
	}
	set("path", f.path)
	set("name", path.Base(f.path))
	set("extension", strings.ToLower(strings.TrimPrefix(path.Ext(f.path), ".")))
	set("modified", f.modified.UTC().Truncate(time.Millisecond).Format("2006-01-02T15:04:05.000Z"))
	set("size", strconv.FormatInt(f.size, 10))
	recheck := ""
	if f.modified.After(s.begun.Add(-grain(f.modified))) {
		recheck = "yes"
	}
	set("recheck", recheck)
}

// grain is how far apart two changes of a file must be to be sure to have different times. File
// systems that keep fractions of seconds take them from a clock that ticks every 10 ms or faster.
func grain(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 50 * time.Millisecond
}

// again returns a document of the index for a file that has the same bytes: after it was touched,
// or moved.
func (s *syncer) again(f *file, d known1, from string) (text.Document, error) {
	values, err := s.old.Segments()[d.segment].Stored(d.doc)
	if err != nil {
		return text.Document{}, err
	}
	values = slices.Clone(values)
	s.setFile(values, f)
	return text.Document{ID: f.path + strings.TrimPrefix(d.id, from), Fields: values}, nil
}
