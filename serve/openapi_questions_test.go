package serve

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
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
	replace := func(after, part, name string, by any) {
		t.Helper()
		made, err := json.MarshalIndent(by, "    ", " ")
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(spec, after)
		within := strings.Index(rest, part)
		begin := strings.Index(rest[max(0, within):], name)
		if !found || within < 0 || begin < 0 {
			t.Fatalf("%s has no %s after %s", path, name, after)
		}
		begin += within + len(name)
		var value json.RawMessage
		in := json.NewDecoder(strings.NewReader(rest[begin:]))
		if err := in.Decode(&value); err != nil {
			t.Fatal(err)
		}
		end := begin + int(in.InputOffset())
		spec = head + after + rest[:begin] + " " + string(made) + rest[end:]
	}
	for _, q := range api.Questions() {
		if q.Without(api.HTTP) == "" && len(q.At(api.HTTP)) > 0 {
			method, path := q.Route()
			replace("\n  \""+path+"\": {", `"`+strings.ToLower(method)+`": {`, `"parameters":`, inURL(q))
		}
	}
	replace("\n   \"Query\": {", "", `"properties":`, inBody(api.SearchQuestion))
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
		switch {
		case p.Kind == api.List:
			s, about = map[string]any{"type": "string"}, about+" Several are separated by commas."
		case s["oneOf"] != nil: // in a URL every value is a string
			s = map[string]any{"type": "string", "example": "100"}
		}
		one := map[string]any{"name": p.Name, "in": "query", "description": about, "schema": s}
		if p.Needed && len(p.Also) == 0 { // or the older name is given
			one["required"] = true
		}
		if p.Path != "" {
			one["name"], one["in"], one["required"] = p.Path, "path", true
			list = append(list, one)
			continue
		}
		list = append(list, one)
		for _, older := range p.Also {
			again := maps.Clone(one)
			again["name"], again["deprecated"], again["description"] = older, true, "Older name of "+p.Name+"."
			list = append(list, again)
		}
	}
	if q == api.CurveQuestion {
		list = append(list, map[string]any{"name": "feature", "in": "query", "deprecated": true,
			"description": "The two kinds, for of and near: repeat the parameter.",
			"schema":      map[string]any{"type": "array", "minItems": 2, "maxItems": 2, "items": map[string]any{"type": "string"}}})
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

// A root answers a question or refuses it by its name, as is declared.
func TestRootAnswersOrRefuses(t *testing.T) {
	root := newCluster(t, 2, 1, RootOptions{}).root
	for _, q := range api.Questions() {
		if q.Without(api.HTTP) != "" {
			continue
		}
		method, path := q.Route()
		path = strings.NewReplacer("{", "", "}", "").Replace(path)
		got := httptest.NewRecorder()
		root.ServeHTTP(got, local(httptest.NewRequest(method, path, nil)))
		refused := got.Code == http.StatusNotFound && strings.Contains(got.Body.String(), path+": not supported by a root") ||
			got.Code == http.StatusForbidden // it changes no index
		if want := q.Without(api.Root) != ""; refused != want {
			t.Errorf("a root refuses %s: %v, want %v: %d %s", path, refused, want, got.Code, got.Body)
		}
	}
}

// The page asks the questions that are declared for it.
func TestPageAsks(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir("../web/src", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, _ := os.ReadFile(path)
			source.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range api.Questions() {
		_, path := q.Route()
		parts := regexp.MustCompile(`\{\w+\}`).Split(strings.TrimPrefix(path, "/"), -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		asks := regexp.MustCompile("['`]" + strings.Join(parts, "(?:\\$\\{[^}]*\\}|['`] \\+ .*)") + "(?:['`]|\\))").MatchString(source.String())
		if want := q.Without(api.Page) == ""; asks != want {
			t.Errorf("the page asks %s: %v, want %v", q.Name, asks, want)
		}
	}
}
