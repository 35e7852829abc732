package search_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// Every model has its public name, and a few words for help.
func TestModelsArePublic(t *testing.T) {
	source, err := os.ReadFile("request.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(search.Models(), "bm25f") {
		m, err := search.ParseModel(name)
		if err != nil {
			t.Fatal(err)
		}
		if alias := " = model." + reflect.TypeOf(m).Name() + "\n"; !strings.Contains(string(source), alias) {
			t.Errorf("request.go has no type%q", alias)
		}
		if search.ModelHelp(name) == "" {
			t.Errorf("%s has no help", name)
		}
	}
}
