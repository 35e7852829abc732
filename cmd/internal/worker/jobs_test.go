package worker

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/cmd/internal/pipe"
)

// follow sends a call with its documents, as often as the call reads them, and returns the answer.
func (c *client) follow(times int, do string, with any, docs ...string) answer {
	c.t.Helper()
	c.send(do, with)
	for range times {
		c.send("more", nil, list("texts", "ends", docs...)...)
		c.send("end", nil)
	}
	return c.receive()
}

func TestWords(t *testing.T) {
	c := newClient(t)
	docs := []string{"the cat sat", "the cat"}
	v := c.follow(1, "vocabulary", args{"min_count": 2}, docs...)
	words, err := split(v.Message, "vocabulary/word", "vocabulary/word.ends")
	counts, _ := pipe.Get[int64](v.Message, "vocabulary/count")
	if err != nil || len(words) != 2 || counts[0] != 2 || counts[1] != 2 {
		t.Errorf("words %q, counts %v, %v; want two words, twice each", words, counts, err)
	}
	path := filepath.Join(t.TempDir(), "words.cooc")
	made := c.follow(2, "cooccurrence", args{"out": path, "window": 1, "weighting": "count"}, docs...)
	if made.Error != "" {
		t.Fatal(made.Error)
	}
	m := c.must("matrix", args{"path": path})
	values, _ := pipe.Get[float64](m.Message, "values")
	if len(values) != 4 || values[0] != 2 { // the-cat twice, cat-sat once, and back
		t.Errorf("values are %v, want four, the first 2", values)
	}
	near := c.must("neighbours", args{"path": path, "words": []string{"cat"}, "k": 1, "by": []string{"value"}})
	words, err = split(near.Message, "words/neighbours/word", "words/neighbours/word.ends")
	values, _ = pipe.Get[float64](near.Message, "words/neighbours/value")
	if err != nil || len(words) != 1 || string(words[0]) != "the" || values[0] != 2 {
		t.Errorf("neighbours of cat are %q, %v, %v; want the, twice", words, values, err)
	}
	n := c.follow(1, "count", nil, docs...)
	starts, _ := pipe.Get[int64](n.Message, "starts")
	of, _ := pipe.Get[int32](n.Message, "docs")
	if len(starts) != 4 || starts[3] != 5 || len(of) != 5 { // cat, sat, the
		t.Errorf("starts %v, documents %v; want three words in five places", starts, of)
	}
}

func TestPlaces(t *testing.T) {
	c := newClient(t)
	arrays := []pipe.Array{
		pipe.NewArray("x", []float64{0, 1, 500}), pipe.NewArray("y", []float64{0, 0, 0}),
		pipe.NewArray("feature", []int32{0, 1, 0}),
	}
	with := args{"features": []string{"bar", "cafe"}, "distance": 2, "min_prevalence": 0.5}
	a := c.must("mine", with, arrays...)
	if !strings.Contains(string(a.Result), `"features":["bar","cafe"],"participation_index":0.5`) {
		t.Errorf("found %s, want bar with cafe, 0.5", a.Result)
	}
	p := c.must("pairs", args{"features": []string{"bar", "cafe"}, "knn": 1, "permutations": 9}, arrays...)
	if n := strings.Count(string(p.Result), `"quotient":`); n != 4 {
		t.Errorf("%d quotients in %s, want four", n, p.Result)
	}
	with["features"] = []string{"cafe", "bar"}
	if a := c.call("mine", with, arrays...); a.Kind != "value" || !strings.Contains(a.Error, "sorted") {
		t.Errorf("names out of order: %q of kind %q, want a value error", a.Error, a.Kind)
	}
}

func TestEvaluate(t *testing.T) {
	c := newClient(t)
	arrays := append(list("run_docs", "run_ends", "a", "b"), list("qrels_docs", "qrels_ends", "b")...)
	arrays = append(arrays,
		pipe.NewArray("run_topics", []int32{0, 0}), pipe.NewArray("run_values", []float64{2, 1}),
		pipe.NewArray("qrels_topics", []int32{0}), pipe.NewArray("qrels_values", []float64{1}))
	measures := []any{args{"name": "recip_rank", "level": 1}, args{"name": "P.1", "level": 1}}
	a := c.must("evaluate", args{"topics": []string{"7"}, "measures": measures}, arrays...)
	all, _ := pipe.Get[float64](a.Message, "all")
	var told struct{ Topics []string }
	if err := json.Unmarshal(a.Result, &told); err != nil || len(all) != 2 || all[0] != 0.5 ||
		all[1] != 0 || told.Topics[0] != "7" {
		t.Errorf("values %v of %s, %v; want 0.5 and 0 of topic 7", all, a.Result, err)
	}
}
