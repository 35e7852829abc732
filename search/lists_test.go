package search_test

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// Several places list the models, which no compiler compares: the API, its description, the page,
// and the tests that compare engines. Each lists all of them.
func TestModelsAreListedEverywhere(t *testing.T) {
	names := append(search.Models(), "bm25f")
	types := map[string]string{} // such as DPH for dph
	for _, name := range names {
		m, err := search.ParseModel(name)
		if err != nil {
			t.Fatal(err)
		}
		types[name] = reflect.TypeOf(m).Name()
	}
	plain := func(name string) string { return name }
	for _, c := range []struct {
		file, from, to string
		form           func(name string) string // how a model is written there
		without        []string
	}{
		{"request.go", "// Models.\ntype (", "\n)",
			func(name string) string { return "= model." + types[name] }, nil},
		{"request.go", "The models are", "Model =",
			func(name string) string { return "[" + types[name] + "]" }, nil},
		{"../web/src/views/Search.svelte", "const models =", "\n", plain,
			[]string{"boolean", "bm25f"}}, // one ranks nothing, the other needs fields
	} {
		part := passage(t, c.file, c.from, c.to)
		for _, name := range names {
			listed := regexp.MustCompile(edge(c.form(name))).MatchString(part)
			if left := slices.Contains(c.without, name); listed == left {
				t.Errorf("%s, %q: %s is listed: %v, want %v", c.file, c.from, name, listed, !left)
			}
		}
	}

	// The description of the API has two lists of exactly these models.
	content, err := os.ReadFile("../serve/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(names))
	lists := 0
	for _, m := range regexp.MustCompile(`"enum": (\[[^\]]*\])`).FindAllSubmatch(content, -1) {
		var list []string
		if json.Unmarshal(m[1], &list) != nil || !slices.Contains(list, "bm25") {
			continue
		}
		if lists++; !slices.Equal(slices.Sorted(slices.Values(list)), want) {
			t.Errorf("serve/openapi.json: a list has %q, want %q", list, want)
		}
	}
	if lists != 2 {
		t.Errorf("serve/openapi.json: %d lists of models, want 2", lists)
	}
}

// edge returns a pattern that matches a whole name: bm25, but not bm25f or bm25+.
func edge(name string) string {
	return `(^|[^\w+-])` + regexp.QuoteMeta(name) + `([^\w+-]|$)`
}

// passage returns the part of a file between two strings.
func passage(t *testing.T, file, from, to string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), from)
	part, _, ends := strings.Cut(rest, to)
	if !found || !ends {
		t.Fatalf("%s: has no passage from %q to %q", file, from, to)
	}
	return part
}
