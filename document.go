package collocate

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/text"
)

// SchemaOf returns the fields of a struct, as an index stores them. A field of the struct becomes a
// field of documents, by its Go type:
//
//	string, []byte                  text
//	[]string, bool, TextMarshaler   keyword
//	integers, float32, float64      number
//	time.Time                       date, in milliseconds
//	[2]float64                      geo: latitude, then longitude
//
// Pointers to these are fields that a document may lack. Fields of embedded structs count as those
// of the struct. The tag `index` changes the name, the type and options, written as
// fields.ParseList takes them, with parts that may be left out:
// `index:"title:text:english:weight=3"`, `index:"headline"`, `index:":keyword"`. Without a name it
// is that of the struct's field, in lower case. The tag `index:"id"` marks the document's ID, a
// string or an integer, and `index:"-"` leaves a field out.
func SchemaOf(v any) (*fields.Schema, error) {
	t, err := shapeOf(reflect.TypeOf(v))
	if err != nil {
		return nil, err
	}
	return t.schema, nil
}

// shape is what is known of a struct type.
type shape struct {
	schema *fields.Schema
	id     []int   // path of the field with the ID
	paths  [][]int // of the fields of the schema
}

var shapes sync.Map // from reflect.Type to *shape or error

func shapeOf(t reflect.Type) (*shape, error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%v: want a struct", t)
	}
	if known, ok := shapes.Load(t); ok {
		if err, bad := known.(error); bad {
			return nil, err
		}
		return known.(*shape), nil
	}
	s := &shape{schema: &fields.Schema{}}
	err := s.add(t, nil)
	switch {
	case err != nil:
	case s.id == nil:
		err = fmt.Errorf("%v: no field has the tag `index:\"id\"`", t)
	default:
		if err = s.schema.Check(); err != nil {
			err = fmt.Errorf("%v: %w", t, err)
		}
	}
	if err != nil {
		shapes.Store(t, err)
		return nil, err
	}
	shapes.Store(t, s)
	return s, nil
}

func (s *shape) add(t reflect.Type, path []int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(path), i)
		tag, tagged := f.Tag.Lookup("index")
		switch {
		case tag == "-":
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct && f.Type != timeType:
			if err := s.add(f.Type, at); err != nil {
				return err
			}
		case !f.IsExported():
			if tagged {
				return fmt.Errorf("%v.%s: a field with a tag must be exported", t, f.Name)
			}
		case tag == "id":
			if s.id != nil {
				return fmt.Errorf("%v.%s: a second field for the ID", t, f.Name)
			}
			if k := f.Type.Kind(); k != reflect.String && !isInteger(k) {
				return fmt.Errorf("%v.%s: an ID of type %v: want a string or an integer", t, f.Name, f.Type)
			}
			s.id = at
		default:
			field, err := fieldOf(f, tag)
			if err != nil {
				return fmt.Errorf("%v.%s: %w", t, f.Name, err)
			}
			s.schema.Fields, s.paths = append(s.schema.Fields, field), append(s.paths, at)
		}
	}
	return nil
}

// fieldOf makes a field of a schema from one of a struct.
func fieldOf(f reflect.StructField, tag string) (fields.Field, error) {
	kind, err := typeOf(f.Type)
	if err != nil {
		return fields.Field{}, err
	}
	parts := strings.Split(tag, ":")
	if parts[0] == "" {
		parts[0] = strings.ToLower(f.Name)
	}
	switch {
	case len(parts) == 1:
		parts = append(parts, kind.String())
	case parts[1] == "":
		parts[1] = kind.String()
	}
	// ParseList wants a text field, which the struct may have elsewhere.
	s, err := fields.ParseList([]string{strings.Join(parts, ":"), "some_text_field:text"})
	if err != nil {
		return fields.Field{}, err
	}
	return s.Fields[0], nil
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	pointType     = reflect.TypeFor[[2]float64]()
	bytesType     = reflect.TypeFor[[]byte]()
	marshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// typeOf returns the type of field that suits a Go type.
func typeOf(t reflect.Type) (fields.Type, error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case t == timeType:
		return fields.Date, nil
	case t == pointType:
		return fields.Geo, nil
	case t == bytesType:
		return fields.Text, nil
	case t.Implements(marshalerType), k == reflect.Bool,
		k == reflect.Slice && t.Elem().Kind() == reflect.String:
		return fields.Keyword, nil
	case k == reflect.String:
		return fields.Text, nil
	case isInteger(k), k == reflect.Float32, k == reflect.Float64:
		return fields.Number, nil
	}
	return 0, fmt.Errorf("type %v: want a string, a list of strings, a number, a bool, time.Time, "+
		"[2]float64 or a pointer to one of these, or the tag `index:\"-\"`", t)
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// suits reports whether an index has the fields of a schema. Where that names no analyzer, the
// index has its own.
func suits(want, have *fields.Schema) bool {
	if have == nil || len(want.Fields) != len(have.Fields) {
		return false
	}
	filled := want.With(slices.Clone(want.Fields))
	for i := range filled.Fields {
		f := &filled.Fields[i]
		if f.Analyzer = text.Canonical(f.Analyzer); f.Analyzer == "" {
			f.Analyzer = have.Fields[i].Analyzer
		}
	}
	return filled.Equal(have)
}

// documentOf makes a document of a struct, a map or a text.Document.
func documentOf(v any, schema *fields.Schema) (text.Document, error) {
	switch v := v.(type) {
	case text.Document:
		return v, nil
	case *text.Document:
		return *v, nil
	case map[string]any:
		return ofMap(v, schema)
	}
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() != reflect.Struct {
		return text.Document{}, fmt.Errorf("%T: want a struct, a map[string]any or a Document of package text", v)
	}
	s, err := shapeOf(value.Type())
	if err != nil {
		return text.Document{}, err
	}
	if !suits(s.schema, schema) {
		return text.Document{}, fmt.Errorf("%T has other fields than the index", v)
	}
	named := map[string][]string{}
	for i, path := range s.paths {
		name := s.schema.Fields[i].Name
		if named[name], err = valuesOf(value.FieldByIndex(path)); err != nil {
			return text.Document{}, fmt.Errorf("field %s: %w", name, err)
		}
	}
	id, err := valuesOf(value.FieldByIndex(s.id))
	if err != nil || len(id) == 0 {
		return text.Document{}, errors.Join(errors.New("the document has no ID"), err)
	}
	return document(id[0], named, schema)
}

func ofMap(v map[string]any, schema *fields.Schema) (text.Document, error) {
	named, id := map[string][]string{}, ""
	for name, value := range v {
		if value == nil {
			continue
		}
		list, err := valuesOf(reflect.ValueOf(value))
		switch {
		case err != nil:
			return text.Document{}, fmt.Errorf("field %s: %w", name, err)
		case name == "id" && len(list) == 1:
			id = list[0]
		case name != "id":
			named[name] = list
		}
	}
	if id == "" {
		return text.Document{}, errors.New(`the document has no "id"`)
	}
	if schema == nil {
		list := named["text"]
		if len(named) != 1 || len(list) != 1 {
			return text.Document{}, errors.New(`an index without fields: want "id" and "text" alone`)
		}
		return text.Document{ID: id, Text: []byte(list[0])}, nil
	}
	return document(id, named, schema)
}

func document(id string, named map[string][]string, schema *fields.Schema) (text.Document, error) {
	for name, list := range named {
		if len(list) == 0 {
			delete(named, name)
		}
	}
	values, err := schema.Values(named)
	return text.Document{ID: id, Fields: values}, err
}

// valuesOf writes a Go value as package fields reads it. Nil pointers, empty strings and lists and
// the zero time are no value.
func valuesOf(v reflect.Value) ([]string, error) {
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, nil
		}
		return valuesOf(v.Elem())
	}
	one := func(s string) ([]string, error) {
		if s == "" {
			return nil, nil
		}
		return []string{s}, nil
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return nil, nil
		}
		return one(x.UTC().Format("2006-01-02T15:04:05.000Z"))
	case [2]float64:
		return one(strconv.FormatFloat(x[0], 'f', -1, 64) + "," + strconv.FormatFloat(x[1], 'f', -1, 64))
	case []byte:
		return one(string(x))
	case []any:
		var all []string
		for _, value := range x {
			list, err := valuesOf(reflect.ValueOf(value))
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	case encoding.TextMarshaler:
		b, err := x.MarshalText()
		if err != nil {
			return nil, err
		}
		return one(string(b))
	}
	switch k := v.Kind(); {
	case k == reflect.String:
		return one(v.String())
	case k == reflect.Bool:
		return one(strconv.FormatBool(v.Bool()))
	case v.CanInt():
		return one(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return one(strconv.FormatUint(v.Uint(), 10))
	case k == reflect.Float32:
		return one(strconv.FormatFloat(v.Float(), 'g', -1, 32))
	case k == reflect.Float64:
		return one(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case k == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		var list []string
		for i := range v.Len() {
			if s := v.Index(i).String(); s != "" {
				list = append(list, s)
			}
		}
		return list, nil
	}
	return nil, fmt.Errorf("a value of type %v", v.Type())
}
