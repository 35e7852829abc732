package serve

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
)

// The parameters of questions in openapi.json are made from their declarations: those of URLs, and
// the objects of POST. UPDATE=1 writes them.
func TestSpecHasDeclaredParameters(t *testing.T) {
	const path = "openapi.json"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spec := string(old)
	replace := func(after, name, indent string, by any) {
		t.Helper()
		made, err := json.MarshalIndent(by, indent, " ")
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(spec, after)
		begin := strings.Index(rest, name)
		if !found || begin < 0 {
			t.Fatalf("%s has no %s after %s", path, name, after)
		}
		begin += len(name)
		var value json.RawMessage
		in := json.NewDecoder(strings.NewReader(rest[begin:]))
		if err := in.Decode(&value); err != nil {
			t.Fatal(err)
		}
		end := begin + int(in.InputOffset())
		spec = head + after + rest[:begin] + " " + string(made) + rest[end:]
	}
	replace(`"operationId": "search",`, `"parameters":`, "    ", inURL(api.SearchQuestion))
	replace("\n   \"Query\": {", `"properties":`, "    ", inBody(api.SearchQuestion))
	if spec == string(old) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the declarations say: run UPDATE=1 go test ./serve -run Declared", path)
	}
	if err := os.WriteFile(path, []byte(spec), 0o666); err != nil {
		t.Fatal(err)
	}
}

// schemaOf returns the schema of a parameter as OpenAPI 3.0 writes it.
func schemaOf(p *api.Param) map[string]any {
	s := p.Schema()
	if low, open := s["exclusiveMinimum"]; open {
		s["minimum"], s["exclusiveMinimum"] = low, true
	}
	return s
}

// inURL returns the parameters of a question in a URL. Older names are deprecated.
func inURL(q *api.Question) (list []any) {
	for _, p := range q.At(api.HTTP) {
		s, about := schemaOf(p), p.Sentence()
		if p.Kind == api.List {
			s, about = map[string]any{"type": "string"}, about+" Several are separated by commas."
		}
		one := map[string]any{"name": p.Name, "in": "query", "description": about, "schema": s}
		if p.Name == "q" {
			one["required"] = true
		}
		list = append(list, one)
		for _, older := range p.Also {
			again := maps.Clone(one)
			again["name"], again["deprecated"], again["description"] = older, true, "Older name of "+p.Name+"."
			delete(again, "required")
			list = append(list, again)
		}
	}
	return list
}

// inBody returns the properties of a question as an object.
func inBody(q *api.Question) map[string]any {
	all := map[string]any{}
	for _, p := range q.At(api.HTTP) {
		s := schemaOf(p)
		s["description"] = p.Sentence()
		all[p.Name] = s
		for _, older := range p.Also {
			s := maps.Clone(s)
			s["deprecated"], s["description"] = true, "Older name of "+p.Name+"."
			all[older] = s
		}
	}
	return all
}
