package collocate

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// Chains are analyzers of an index and of its fields, in tags too: names of code are found by their
// parts, and synonyms are those that the index has.
func TestChains(t *testing.T) {
	type snippet struct {
		ID    string `index:"id"`
		Code  string `index:"code:text:code|parts|lower|edge(2-4):weight=2"`
		About string `index:"about:text:unicode|fold|synonyms(car, auto, motor car)"`
	}
	dir := filepath.Join(t.TempDir(), "index")
	for _, o := range []Options{{Like: snippet{}, Analyzer: "unicode|fold"}, {Like: snippet{}}} {
		x, err := Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		err = x.Add(snippet{"1", "asyncio.create_task(f)", "un café"}, snippet{"2", "def createTask", "my auto"},
			snippet{"3", "task create", "motor car"})
		if err == nil {
			err = x.Commit(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		for q, want := range map[string]string{`code:"create_task"`: "[1 2]", "code:asyncio.create_task": "[1]", "code:asyn": "[1]",
			"cafe": "[1]", "about:CAFE": "[1]", "about:car": "[2 3]", `about:"my car"`: "[2]", "car": "[3]"} {
			found, err := x.Search(t.Context(), Request{Query: q, All: true})
			if err != nil {
				t.Fatal(q, err)
			}
			ids := []string{}
			for _, h := range found.Hits {
				ids = append(ids, h.ID)
			}
			slices.Sort(ids)
			if fmt.Sprint(ids) != want {
				t.Errorf("%s finds %v, want %s", q, ids, want)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Open(dir, Options{Analyzer: "unicode"})
	if err == nil || !strings.Contains(err.Error(), "unicode | fold, not unicode") {
		t.Errorf("another analyzer: %v", err)
	}

	plain, err := Memory(Options{Analyzer: "code | parts | lower"})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if err = plain.Add(text.Document{ID: "1", Text: []byte("run asyncio.create_task now")}); err == nil {
		err = plain.Commit(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	found, err := plain.Search(t.Context(), Request{Query: `"create task now"`})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("a phrase of parts: %v, %v", found, err)
	}
}
