package worker

import (
	"encoding"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/collocate/collocate/cmd/internal/pipe"
)

// inColumns returns an answer for Python. A list of structs is a table there, so it goes as
// columns: an array TABLE/COLUMN for each field, since a million rows take long as JSON. Texts are
// bytes, and COLUMN.ends has their ends. Lists of numbers or texts follow one another, and
// COLUMN.to has their ends; so do the rows of a list of structs, in columns COLUMN/FIELD. A field
// that can be nil is a column if no row lacks it. All else is the result.
func inColumns(answer any) pipe.Reply {
	result := map[string]any{}
	var to columns
	v := reflect.Indirect(reflect.ValueOf(answer))
	for _, f := range fieldsOf(v.Type()) {
		if one := v.FieldByIndex(f.Index); isTable(f.Type) {
			to.rows(f.Name, f.Type.Elem(), one.Len(), one.Index)
		} else {
			result[f.Name] = one.Interface()
		}
	}
	return pipe.Reply{Result: result, Arrays: to}
}

func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

// fieldsOf returns the fields of a struct, with their names in JSON.
func fieldsOf(t reflect.Type) (list []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				list = append(list, inner)
			}
		case f.IsExported() && name != "-":
			f.Name = name
			list = append(list, f)
		}
	}
	return list
}

type columns []pipe.Array

// rows adds the columns of a table with n rows.
func (c *columns) rows(name string, of reflect.Type, n int, row func(int) reflect.Value) {
	for _, f := range fieldsOf(of) {
		c.add(name+"/"+f.Name, f.Type, n, func(i int) reflect.Value { return row(i).FieldByIndex(f.Index) })
	}
}

// add adds a column with n values.
func (c *columns) add(name string, of reflect.Type, n int, value func(int) reflect.Value) {
	switch {
	case of.Kind() == reflect.Pointer:
		for i := range n {
			if value(i).IsNil() {
				return
			}
		}
		if n > 0 {
			c.add(name, of.Elem(), n, func(i int) reflect.Value { return value(i).Elem() })
		}
	case of.Kind() == reflect.String, of.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		var texts joined
		for i := range n {
			v := value(i)
			if m, ok := v.Interface().(encoding.TextMarshaler); ok {
				text, _ := m.MarshalText() // of a name there is
				texts.bytes = append(texts.bytes, text...)
			} else {
				texts.bytes = append(texts.bytes, v.String()...)
			}
			texts.end()
		}
		*c = append(*c, texts.arrays(name, name+".ends")...)
	case of.Kind() == reflect.Map: // a column for each name, NaN where a row lacks it
		names := map[string]bool{}
		for i := range n {
			for key := range value(i).Interface().(map[string]float64) {
				names[key] = true
			}
		}
		for _, key := range slices.Sorted(maps.Keys(names)) {
			c.add(name+"/"+key, of.Elem(), n, func(i int) reflect.Value {
				return value(i).MapIndex(reflect.ValueOf(key))
			})
		}
	case of.Kind() == reflect.Slice:
		var all []reflect.Value
		ends := make([]int64, n)
		for i := range n {
			for k := range value(i).Len() {
				all = append(all, value(i).Index(k))
			}
			ends[i] = int64(len(all))
		}
		*c = append(*c, pipe.NewArray(name+".to", ends))
		at := func(i int) reflect.Value { return all[i] }
		if isTable(of) {
			c.rows(name, of.Elem(), len(all), at)
		} else {
			c.add(name, of.Elem(), len(all), at)
		}
	case of.Kind() == reflect.Float64:
		numbers := make([]float64, n)
		for i := range numbers {
			numbers[i] = math.NaN()
			if v := value(i); v.IsValid() {
				numbers[i] = v.Float()
			}
		}
		*c = append(*c, pipe.NewArray(name, numbers))
	default:
		numbers := make([]int64, n)
		for i := range numbers {
			if v := value(i); v.CanUint() {
				numbers[i] = int64(v.Uint())
			} else {
				numbers[i] = v.Int()
			}
		}
		*c = append(*c, pipe.NewArray(name, numbers))
	}
}
