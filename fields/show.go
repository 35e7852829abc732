package fields

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Shown returns the numbers of the named fields, or of all stored fields if no names are given.
func (s *Schema) Shown(names []string) (list []int, err error) {
	if s == nil {
		return nil, fmt.Errorf("the index has no stored fields: build it again with text.Options.Schema, such as title:text,url:keyword")
	}
	stored := s.Names(IsStored)
	for _, name := range names {
		if !slices.Contains(stored, name) {
			what := "there is none of that name"
			if s.Find(name) >= 0 {
				what = "it is not stored"
			}
			return nil, fmt.Errorf("field %q cannot be shown, %s: want %s", name, what,
				strings.Join(stored, ", "))
		}
		list = append(list, s.Find(name))
	}
	if len(names) == 0 {
		for _, name := range stored {
			list = append(list, s.Find(name))
		}
	}
	return list, nil
}

// JSON returns values for encoding as JSON: a number for a number field, a string for others, a
// list if there are several values, and nil if there is none.
func (f *Field) JSON(v Values) any {
	one := func(b []byte) any {
		if f.Type == Number {
			if n, err := ParseNumber(b); err == nil {
				if json.Valid(b) {
					return json.Number(b)
				}
				return n
			}
		}
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	switch len(v) {
	case 0:
		return nil
	case 1:
		return one(v[0])
	}
	list := make([]any, len(v))
	for i, b := range v {
		list[i] = one(b)
	}
	return list
}

// Line returns values as one line: white space becomes single blanks, and values are separated by
// commas.
func (f *Field) Line(v Values) string {
	parts := make([]string, len(v))
	for i, b := range v {
		parts[i] = strings.Join(strings.Fields(string(b)), " ")
	}
	return strings.Join(parts, ", ")
}
