package collocate

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
//	[n]float32, other [n]float64    vector of n dimensions
//	[]float32, []float64            vector, whose dimensions the tag gives
//	lists of these                  vector with the option many
//	maps from strings to numbers    sparse: weighted tokens
//
// Pointers to these are fields that a document may lack. Empty strings, also in lists, and the zero
// time are no values. Fields of embedded structs, but not of pointers to them, count as those of
// the struct. The tag `index` changes the name, the type and options, written as fields.ParseList
// takes them, with parts that may be left out: `index:"title:text:english:weight=3"`,
// `index:"headline"`, `index:":keyword"`, `index:":vector:384"`. Without a name it is that of the
// struct's field, in lower case. The tag `index:"id"` marks the document's ID, a string or an
// integer, and `index:"-"` leaves a field out. The tag `also` makes another field of the same
// value, such as one to sort by: `index:"title:text:english" also:"title_key:keyword"`.
//
// A pointer to an array is an optional vector. Vectors are not stored, so Hit.Decode leaves them
// out.
//
// Weights of text fields count with the model search.BM25F, not with BM25: see Request.Model.
func SchemaOf(v any) (*fields.Schema, error) {
	s, err := shapeOf(reflect.TypeOf(v))
	if err == nil {
		err = s.part
	}
	if err != nil {
		return nil, err
	}
	return s.schema, nil
}

// shape is what is known of a struct type.
type shape struct {
	schema *fields.Schema
	id     []int                         // path of the field with the ID; nil if there is none
	paths  [][]int                       // of the fields of the schema
	also   []bool                        // the field of the schema is a second one of its path
	part   error                         // why the type is no document, but may be a part of one; or nil
	fits   atomic.Pointer[fields.Schema] // of an index, the last that was found to have these fields
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
	if err := s.add(t, nil); err != nil {
		shapes.Store(t, err)
		return nil, err
	}
	if s.id == nil {
		s.part = fmt.Errorf("%v: no field has the tag `index:\"id\"`", t)
	} else if err := s.schema.Check(); err != nil {
		s.part = fmt.Errorf("%v: %w", t, err)
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
			tags := []string{tag}
			if also, ok := f.Tag.Lookup("also"); ok {
				if name, _, _ := strings.Cut(also, ":"); name == "" {
					return fmt.Errorf("%v.%s: the tag also needs the name of a field", t, f.Name)
				}
				tags = append(tags, also)
			}
			for i, tag := range tags {
				field, err := fieldOf(f, tag)
				if err != nil {
					return fmt.Errorf("%v.%s: %w", t, f.Name, err)
				}
				s.schema.Fields, s.paths = append(s.schema.Fields, field), append(s.paths, at)
				s.also = append(s.also, i > 0)
			}
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
	t, nullable := f.Type, f.Type.Kind() == reflect.Pointer
	if nullable {
		t = t.Elem()
	}
	if parts[1] == fields.Vector.String() {
		one, many := t, kind == fields.Vector && isListType(t.Elem())
		if many {
			one = t.Elem()
		}
		if one.Kind() == reflect.Array {
			parts = slices.Insert(parts, 2, strconv.Itoa(one.Len()))
		}
		if many && !slices.Contains(parts, "many") {
			parts = append(parts, "many")
		}
		if nullable {
			parts = append(parts, "optional")
		}
	}
	// ParseList wants a text field, which the struct may have elsewhere.
	s, err := fields.ParseList([]string{strings.Join(parts, ":"), "some_text_field:text"})
	if err != nil {
		return fields.Field{}, err
	}
	one := s.Fields[0].Type
	if (kind == fields.Sparse) != (one == fields.Sparse) && kind != fields.Text {
		return fields.Field{}, fmt.Errorf("%v as %v: weighted tokens are maps from strings to numbers, and these are weighted tokens", f.Type, one)
	}
	if (kind == fields.Vector) != (one == fields.Vector) && t != pointType {
		return fields.Field{}, fmt.Errorf("%v as %v: vectors are lists or arrays of floats, and these are vectors", f.Type, one)
	}
	if kind == fields.Keyword && one == fields.Text && isList(f.Type) {
		return fields.Field{}, fmt.Errorf("%v as text: want one string, such as all joined by newlines", f.Type)
	}
	return s.Fields[0], nil
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String
}

// isWeights reports whether a type is a map of weighted tokens.
func isWeights(t reflect.Type) bool {
	if t.Kind() != reflect.Map || t.Key().Kind() != reflect.String {
		return false
	}
	k := t.Elem().Kind()
	return isInteger(k) || k == reflect.Float32 || k == reflect.Float64
}

func isListType(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

func isFloat(t reflect.Type) bool { return t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64 }

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
	case t.Implements(marshalerType), k == reflect.Bool, isList(t):
		return fields.Keyword, nil
	case k == reflect.String:
		return fields.Text, nil
	case isInteger(k), k == reflect.Float32, k == reflect.Float64:
		return fields.Number, nil
	case isListType(t) && isFloat(t.Elem()),
		isListType(t) && isListType(t.Elem()) && isFloat(t.Elem().Elem()) && t.Elem() != pointType:
		return fields.Vector, nil
	case isWeights(t):
		return fields.Sparse, nil
	}
	return 0, fmt.Errorf("type %v: want a string, a list of strings, a number, a bool, time.Time, "+
		"[2]float64, a list of floats, a map of tokens and weights, an encoding.TextMarshaler or a pointer to one of these, or the tag `index:\"-\"`", t)
}

func isInteger(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// difference says which fields a schema has that an index lacks, and the other way round; "" if
// they are the same, in any order. Where the schema names no analyzer, the index has its own.
func difference(want, have *fields.Schema) string {
	if have == nil {
		return "it has no fields"
	}
	var list []string
	seen := make([]bool, len(have.Fields))
	for _, f := range want.Fields {
		at := have.Find(f.Name)
		if at < 0 {
			list = append(list, f.Name+" is new")
			continue
		}
		seen[at] = true
		if f.Analyzer = text.Canonical(f.Analyzer); f.Analyzer == "" {
			f.Analyzer = have.Fields[at].Analyzer
		}
		one, other := &fields.Schema{Fields: []fields.Field{f}}, &fields.Schema{Fields: have.Fields[at : at+1]}
		if !one.Equal(other) {
			list = append(list, fmt.Sprintf("%s is %s, not %s", f.Name, declared(f), declared(have.Fields[at])))
		}
	}
	for at, known := range seen {
		if !known {
			list = append(list, have.Fields[at].Name+" is missing")
		}
	}
	if len(list) == 0 && !want.With(have.Fields).Equal(have) {
		list = append(list, "they are cut into passages otherwise")
	}
	return strings.Join(list, "; ")
}

// declared describes a field without its name.
func declared(f fields.Field) string {
	f.Name = ""
	b, err := json.Marshal(f)
	if err != nil { // cannot be
		return err.Error()
	}
	return strings.Replace(string(b), `"name":"",`, "", 1)
}

// documentOf makes a document of a struct, a map or a text.Document.
func documentOf(v any, schema *fields.Schema) (text.Document, error) {
	switch v := v.(type) {
	case text.Document:
		return v, nil
	case *text.Document:
		if v != nil {
			return *v, nil
		}
	case map[string]any:
		return ofMap(v, schema)
	}
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if value.Kind() == reflect.Pointer {
		return text.Document{}, fmt.Errorf("the %T is nil", v)
	}
	if value.Kind() != reflect.Struct {
		return text.Document{}, fmt.Errorf("%T: want a struct, a map[string]any or a Document of package text", v)
	}
	s, err := shapeOf(value.Type())
	if err == nil {
		err = s.part
	}
	if err != nil {
		return text.Document{}, err
	}
	if s.fits.Load() != schema || schema == nil {
		if why := difference(s.schema, schema); why != "" {
			return text.Document{}, fmt.Errorf("%T has other fields than the index: %s", v, why)
		}
		s.fits.Store(schema)
	}
	named := map[string][]string{}
	for i, path := range s.paths {
		name := s.schema.Fields[i].Name
		if named[name], err = valuesOf(value.FieldByIndex(path), s.schema.Fields[i].Type); err != nil {
			return text.Document{}, fmt.Errorf("field %s: %w", name, err)
		}
	}
	id, err := valuesOf(value.FieldByIndex(s.id), fields.Keyword)
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
		if name == "id" {
			var err error
			if id, err = idOf(value); err != nil {
				return text.Document{}, err
			}
			continue
		}
		kind := fields.Text
		if schema != nil {
			if at := schema.Find(name); at >= 0 {
				kind = schema.Fields[at].Type
			}
		}
		list, err := valuesOf(reflect.ValueOf(value), kind)
		if err != nil {
			return text.Document{}, fmt.Errorf("field %s: %w", name, err)
		}
		named[name] = list
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

// idOf returns an ID of a map: a string or an integer. Integers of JSON are float64.
func idOf(value any) (string, error) {
	v := reflect.ValueOf(value)
	switch k := v.Kind(); {
	case k == reflect.Float64 && v.Float() == math.Trunc(v.Float()), k == reflect.String, isInteger(k):
		list, err := valuesOf(v, fields.Keyword)
		if err != nil {
			return "", fmt.Errorf("id: %w", err)
		}
		return strings.Join(list, ""), nil // an empty one is missing
	}
	return "", fmt.Errorf("an ID of %v (%T): want a string or an integer", value, value)
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

// valuesOf writes a Go value as package fields reads it, for a field of a type. Nil, empty strings
// and lists and the zero time are no value.
func valuesOf(v reflect.Value, kind fields.Type) ([]string, error) {
	if !v.IsValid() { // nil in a list
		return nil, nil
	}
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil, nil
		}
		return valuesOf(v.Elem(), kind)
	}
	one := func(s string) ([]string, error) {
		if s == "" {
			return nil, nil
		}
		return []string{s}, nil
	}
	if k := v.Kind(); kind == fields.Vector && v.Type() != bytesType && (k == reflect.Slice || k == reflect.Array) {
		return vectorsOf(v)
	}
	if kind == fields.Sparse && v.Kind() == reflect.Map {
		if v.Len() == 0 {
			return nil, nil
		}
		b, err := json.Marshal(v.Interface())
		return []string{string(b)}, err
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
		if kind == fields.Geo && len(x) == 2 {
			return nil, errPoint
		}
		var all []string
		for _, value := range x {
			list, err := valuesOf(reflect.ValueOf(value), kind)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		return all, nil
	case map[string]any:
		if kind == fields.Geo { // as JSON has points
			b, err := json.Marshal(x)
			return []string{string(b)}, err
		}
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
		return one(formatFloat(v.Float(), 32))
	case k == reflect.Float64:
		if kind == fields.Keyword && math.Abs(v.Float()) >= exact {
			return nil, fmt.Errorf("%v may not be the number that was meant, as a float64 rounds it: "+
				"give a string or a json.Number", v.Float())
		}
		return one(formatFloat(v.Float(), 64))
	case isList(v.Type()):
		var list []string
		for i := range v.Len() {
			if s := v.Index(i).String(); s != "" {
				list = append(list, s)
			}
		}
		return list, nil
	}
	if k := v.Kind(); kind == fields.Geo && (k == reflect.Slice || k == reflect.Array) {
		return nil, errPoint
	}
	return nil, fmt.Errorf("a value of type %v", v.Type())
}

// Lists of two numbers are not points: GeoJSON has them the other way round.
var errPoint = errors.New(`a list: want [2]float64{latitude, longitude}, "52.5,13.4" or ` +
	`map[string]any{"lat": 52.5, "lon": 13.4}`)

// vectorsOf writes a vector, or a list of vectors, as values of a vector field.
func vectorsOf(v reflect.Value) (all []string, err error) {
	if v.Len() == 0 || !isVector(v.Index(0)) {
		return vectorOf(v)
	}
	for i := range v.Len() {
		x := v.Index(i)
		if x.Kind() == reflect.Interface {
			x = x.Elem()
		}
		if !isVector(x) {
			return nil, fmt.Errorf("item %d of the list of vectors is %v: want a list of numbers", i+1, x)
		}
		one, err := vectorOf(x)
		if err != nil {
			return nil, fmt.Errorf("vector %d: %w", i+1, err)
		}
		all = append(all, one...)
	}
	return all, nil
}

// isVector reports whether a value is a list or an array.
func isVector(v reflect.Value) bool {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v.IsValid() && isListType(v.Type())
}

// vectorOf writes a list or an array of numbers as the value of a vector field. An empty list is no
// value.
func vectorOf(v reflect.Value) ([]string, error) {
	if v.Len() == 0 {
		return nil, nil
	}
	list := make([]float32, v.Len())
	for i := range list {
		x := v.Index(i)
		if x.Kind() == reflect.Interface {
			x = x.Elem()
		}
		switch {
		case x.IsValid() && x.CanFloat():
			wide := x.Float()
			if list[i] = float32(wide); math.IsInf(float64(list[i]), 0) && !math.IsInf(wide, 0) {
				return nil, fmt.Errorf("number %d of the vector is %v, which a float32 cannot hold", i+1, wide)
			}
		case x.IsValid() && x.CanInt():
			list[i] = float32(x.Int())
		default:
			return nil, fmt.Errorf("number %d of the vector is %v: want a number", i+1, x)
		}
	}
	return []string{string(fields.VectorValue(list))}, nil
}

// exact is the size from which a float64 stands for several integers.
const exact = 1 << 53

// formatFloat writes integers in full, as JSON does.
func formatFloat(x float64, bits int) string {
	if math.Abs(x) >= 1e-6 && math.Abs(x) < exact {
		return strconv.FormatFloat(x, 'f', -1, bits)
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
