package mcptools

import (
	"encoding"
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

var (
	writesText = reflect.TypeFor[encoding.TextMarshaler]()
	writesJSON = reflect.TypeFor[json.Marshaler]()
)

// outputSchema describes what an answer of a type has. Clients check answers against it.
func outputSchema(of reflect.Type) *jsonschema.Schema {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	own := map[reflect.Type]*jsonschema.Schema{}
	describeOwn(of, own, map[reflect.Type]bool{})
	schema, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		panic(err) // cannot happen: the types are ours
	}
	schema.Required = nil // an answer lacks what was not asked for
	open(schema)
	return schema
}

// open allows objects further fields, as later versions may have more.
func open(s *jsonschema.Schema) {
	if s.AdditionalProperties != nil && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		open(p)
	}
	if s.Items != nil {
		open(s.Items)
	}
	if s.AdditionalProperties != nil {
		open(s.AdditionalProperties)
	}
}

// describeOwn describes the types in a type that write themselves: as a text, or as any JSON. By
// their kind they would be numbers or objects.
func describeOwn(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch {
	case t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer:
	case t.Implements(writesJSON) || reflect.PointerTo(t).Implements(writesJSON):
		own[t] = &jsonschema.Schema{}
		return
	case t.Implements(writesText):
		own[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		describeOwn(t.Elem(), own, seen)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.IsExported() {
				describeOwn(f.Type, own, seen)
			}
		}
	}
}
