package collocate

import (
	"encoding/json"
	"strings"
	"testing"
)

// tokened has weighted tokens.
type tokened struct {
	ID   string `index:"id"`
	Text string
	V    map[string]float32 `index:"v::100"`
}

// Maps of a struct, or in a map, are weighted tokens, which are ranked beside text.
func TestMapsAreWeightedTokens(t *testing.T) {
	x, err := Memory(Options{Like: tokened{}})
	must(t, err)
	defer x.Close()
	var decoded map[string]any
	must(t, json.Unmarshal([]byte(`{"id":"c","text":"moon","v":{"a b":0.5,"x":1}}`), &decoded))
	must(t, x.Add(tokened{"a", "moon", map[string]float32{"x": 0.25}}, tokened{ID: "b", Text: "sun"}, decoded))
	must(t, x.Commit(t.Context()))
	for query, want := range map[string]string{
		"v:x": "c a", "v:x^0.001 sun^9": "b c a", `v:"{\"a b\":1}"`: "c", "moon v:x^0.01": "c a",
	} {
		if got := ids(t, x, Request{Query: query}); got != want {
			t.Errorf("%s: found %s, want %s", query, got, want)
		}
	}
	if err := x.Add(tokened{"d", "", map[string]float32{"x": -1}}); err == nil || !strings.Contains(err.Error(), "not negative") {
		t.Errorf("a negative weight: %v", err)
	}
	if _, err := SchemaOf(struct {
		ID string         `index:"id"`
		V  map[string]int `index:"v:keyword"`
	}{}); err == nil || !strings.Contains(err.Error(), "weighted tokens") {
		t.Errorf("a map as a keyword: %v", err)
	}
}
