package api

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Table is the table of an answer: its first list of objects, such as the hits of a search. What is
// beside it, such as a total, is not in it.
type Table struct {
	rows    reflect.Value
	columns []column
}

// column is a column of a table as CSV.
type column struct {
	name string
	path []string // names in JSON, from the row inwards
	// optional columns are left out if no row has a value.
	optional bool
}

// TableOf returns the table of an answer, or nil if it has none. always names columns that the
// table has as CSV even if no row has a value in them, such as fields.year.
func TableOf(answer any, always ...string) *Table {
	rows, ok := listIn(reflect.ValueOf(answer))
	if !ok {
		return nil
	}
	t := &Table{rows: rows}
	t.add(nil, rows.Type().Elem(), false)
	for _, name := range always {
		if !slices.ContainsFunc(t.columns, func(c column) bool { return c.name == name }) {
			t.columns = append(t.columns, column{name: name, path: strings.SplitN(name, ".", 2)})
		}
	}
	return t
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.rows.Len() }

// listIn returns the first list of objects in a value.
func listIn(v reflect.Value) (reflect.Value, bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, false
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && pointed(v.Type().Elem()).Kind() == reflect.Struct {
		return v, true
	}
	if v.Kind() != reflect.Struct {
		return v, false
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _ := nameInJSON(f)
		if f.Anonymous && name == "" {
			if rows, ok := listIn(v.Field(i)); ok {
				return rows, true
			}
		} else if name != "" && f.Type.Kind() == reflect.Slice && pointed(f.Type.Elem()).Kind() == reflect.Struct {
			return v.Field(i), true
		}
	}
	return v, false
}

func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// nameInJSON returns the name of a field in JSON, "" if it is not there or its own fields are, and
// whether it may be left out.
func nameInJSON(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "-" || !f.IsExported():
		return "", false
	case name == "" && !f.Anonymous:
		name = f.Name
	}
	return name, strings.Contains(options, "omitempty")
}

var marshalerType, jsonType = reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[json.Marshaler]()

// add adds the columns of the objects of a type. Objects within them have their fields as columns,
// as in snippet.text; other parts are one column.
func (t *Table) add(path []string, of reflect.Type, optional bool) {
	of = pointed(of)
	own := of.Implements(marshalerType) || of.Implements(jsonType) || reflect.PointerTo(of).Implements(jsonType)
	if of.Kind() != reflect.Struct || own && len(path) > 0 {
		t.columns = append(t.columns, column{strings.Join(path, "."), path, optional || of.Kind() == reflect.Map})
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, may := nameInJSON(f)
		switch {
		case name == "" && f.Anonymous && f.Tag.Get("json") != "-":
			t.add(path, f.Type, optional)
		case name != "":
			t.add(append(slices.Clip(path), name), f.Type, optional || may)
		}
	}
}

// JSON appends the rows as JSON, one per line.
func (t *Table) JSON(b []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for i := range t.rows.Len() {
		if err := e.Encode(t.rows.Index(i).Interface()); err != nil {
			return b, err
		}
	}
	return out.Bytes(), nil
}

// CSV appends the rows as CSV of RFC 4180, with the names of the columns before them. If the rows
// are a later part of a table, first is its first part: they have the same columns, and no names.
func (t *Table) CSV(b []byte, first *Table) ([]byte, error) {
	objects := make([]any, t.rows.Len())
	for i := range objects {
		text, err := json.Marshal(t.rows.Index(i).Interface())
		if err != nil {
			return b, err
		}
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		if err := in.Decode(&objects[i]); err != nil {
			return b, err
		}
	}
	out := bytes.NewBuffer(b)
	w := csv.NewWriter(out)
	w.UseCRLF = true
	if first == nil {
		t.settle(objects)
		if first = t; len(t.columns) > 0 {
			if err := w.Write(names(t.columns)); err != nil {
				return b, err
			}
		}
	}
	row := make([]string, len(first.columns))
	for _, o := range objects {
		for i, c := range first.columns {
			row[i] = cell(inside(o, c.path))
		}
		if err := w.Write(row); err != nil {
			return b, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

func names(list []column) (names []string) {
	for _, c := range list {
		names = append(names, c.name)
	}
	return names
}

// settle chooses the columns: it leaves out optional ones without values, and makes a column for
// each name of a map.
func (t *Table) settle(objects []any) {
	var settled []column
	has := func(name string) bool { return slices.Contains(names(settled), name) }
	for _, c := range t.columns {
		if !c.optional {
			if !has(c.name) {
				settled = append(settled, c)
			}
			continue
		}
		some, keys := false, []string(nil)
		for _, o := range objects {
			v := inside(o, c.path)
			some = some || v != nil
			if m, ok := v.(map[string]any); ok {
				for key := range m {
					keys = append(keys, key)
				}
			}
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if name := c.name + "." + key; !has(name) {
				settled = append(settled, column{name: name, path: append(slices.Clip(c.path), key)})
			}
		}
		if some && keys == nil {
			settled = append(settled, c)
		}
	}
	t.columns = settled
}

// inside returns the value at a path of an object; nil if there is none.
func inside(v any, path []string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// cell returns a value as the text of a cell. Texts that a spreadsheet would take for a formula
// begin with an apostrophe, which it does not show; numbers stay as they are.
func cell(v any) string {
	s, isText := plain(v)
	if isText && s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// plain returns a value as text, and whether it is one. The values of a list stand in one cell.
func plain(v any) (s string, isText bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case json.Number:
		return v.String(), false
	case bool:
		return strconv.FormatBool(v), false
	case []any:
		if slices.ContainsFunc(v, isObject) {
			break
		}
		parts := make([]string, len(v))
		for i := range v {
			part, text := plain(v[i])
			parts[i], isText = part, isText || text
		}
		return strings.Join(parts, "; "), isText
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v), true
	}
	return string(text), true
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}
