package collocate

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
)

// dense has vectors of all Go types that can be one.
type dense struct {
	ID   string `index:"id"`
	Text string
	Year int
	A    []float32   `index:":vector:3:dot"`
	B    [3]float32  `index:":vector:dot"`
	C    []float64   `index:":vector:3:dot"`
	D    *[3]float32 `index:":vector:dot"`
	E    [2]float64  `index:":vector:dot"`
	F    [][]float32 `index:":vector:2:dot:optional"`
}

func notes(t *testing.T) *Index {
	t.Helper()
	x, err := Memory(Options{Like: dense{}})
	must(t, err)
	t.Cleanup(func() { x.Close() })
	for i, n := range []dense{{Text: "a cat", Year: 2020}, {Text: "a dog", Year: 2021}, {Text: "two cats", Year: 2022}} {
		at := float64(i + 1)
		n.ID = []string{"x", "y", "z"}[i]
		n.A, n.B, n.C = []float32{float32(at), 1, 0}, [3]float32{float32(-at), 1, 0}, []float64{at, 0, 0.5}
		n.E = [2]float64{at, 181}
		n.F = [][]float32{{0, 1}, {1, float32(at)}, {0, 0}}[:i+1]
		if i == 1 {
			n.D = &[3]float32{1, 2, 3}
		}
		must(t, x.Add(n))
	}
	must(t, x.Commit(t.Context()))
	return x
}

func TestVectorsInStructs(t *testing.T) {
	x := notes(t)
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}}, "z y x"},
		{Request{Nearest: &search.Nearest{Field: "b", Vector: []float32{1, 0, 0}}}, "x y z"},
		{Request{Nearest: &search.Nearest{Field: "c", Vector: []float32{1, 0, 0}}}, "z y x"},
		{Request{Nearest: &search.Nearest{Field: "d", Vector: []float32{1, 0, 0}}}, "y"},
		{Request{Nearest: &search.Nearest{Field: "e", Vector: []float32{-1, 0}}}, "x y z"},
		{Request{Query: "dog", Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}, WordWeight: 100}}, "y z x"},
		{Request{Nearest: &search.Nearest{Field: "f", Vector: []float32{0, 1}}}, "z y x"},
		{Request{Nearest: &search.Nearest{Field: "f", Vector: []float32{1, 0}}, Filter: "year:>2020"}, "y z"},
		{Request{Nearest: &search.Nearest{Field: "f", Like: "y"}}, "z y x"},
		{Request{Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}, Filter: "year:<2022"}, "y x"},
		{Request{Query: "dog", Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}, Filter: "year:2020"}, "x"},
	} {
		if got := ids(t, x, c.r); got != c.want {
			t.Errorf("%q within %q, %+v: found %s, want %s", c.r.Query, c.r.Filter, *c.r.Nearest, got, c.want)
		}
	}
	two := Request{Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}, K: 2}
	first, err := x.Search(t.Context(), two)
	must(t, err)
	two.After = first.Next()
	if got := ids(t, x, two); got != "x" {
		t.Errorf("after two hits: %s", got)
	}
	two.Nearest = &search.Nearest{Field: "a", Vector: []float32{1, 1, 0}}
	if _, err := x.Search(t.Context(), two); err == nil || !strings.Contains(err.Error(), "another query, filter, vector") {
		t.Errorf("after hits of another vector: %v", err)
	}
	_, err = x.Search(t.Context(), Request{Query: "dog", Filter: "year:2020", With: func(r *search.Request) {
		r.Nearest = &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}
	}})
	if err == nil || !strings.Contains(err.Error(), "Request.Nearest") {
		t.Errorf("a vector that the filter does not reach: %v", err)
	}
}

func TestVectorsOfMaps(t *testing.T) {
	x := notes(t)
	var m map[string]any
	must(t, json.Unmarshal([]byte(`{"id": "w", "text": "w", "a": [9, 0, 0], "b": [0, 0, 0], "c": [1, 2, 3], "e": [1, 2]}`), &m))
	must(t, x.Add(m))
	must(t, x.Add(map[string]any{"id": "v", "text": "v", "a": "[8, 0, 0]", "b": []int{1, 2, 3}, "c": []float32{1, 2, 3}, "e": [2]float64{1, 2},
		"f": []any{[]any{1, 2}, []float64{3, 4}}}))
	must(t, x.Commit(t.Context()))
	if got := ids(t, x, Request{Nearest: &search.Nearest{Field: "a", Vector: []float32{1, 0, 0}}, K: 3}); got != "w v z" {
		t.Errorf("found %s", got)
	}
	if got := ids(t, x, Request{Nearest: &search.Nearest{Field: "f", Vector: []float32{1, 0}}, K: 1}); got != "v" {
		t.Errorf("the document with the nearest of several vectors: found %s", got)
	}
	good := map[string]any{"id": "u", "text": "u", "a": []float32{1, 2, 3}, "b": []float32{1, 2, 3}, "c": []float32{1, 2, 3}, "e": []float32{1, 2}}
	for value, bad := range map[string]any{
		"a document has one, unless":   [][]float32{{1, 2, 3}, {4, 5, 6}},
		"item 2 of the list of vector": []any{[]float32{1, 2, 3}, 4},
		"want 3":                       []float32{1},
		"there is no vector":           []float32{},
		"number 2 of the vector is x":  []any{1.0, "x", 2.0},
		"number 3 of the vector is <":  []any{1.0, 2.0, nil},
		"number 1 of the vector is +I": []float64{math.Inf(1), 0, 0},
		"number 1 of the vector is 1e": []float64{1e300, 0, 0},
		"number 2 of the vector is Na": []float64{0, math.NaN(), 0},
	} {
		good["a"] = bad
		if err := x.Add(good); err == nil || !strings.Contains(err.Error(), value) {
			t.Errorf("%v: %v, want %q", bad, err, value)
		}
	}
}

func TestStructsWithoutDimensions(t *testing.T) {
	for want, bad := range map[string]any{
		"dimensions": struct {
			ID string `index:"id"`
			V  []float32
		}{},
		"as keyword": struct {
			ID string    `index:"id"`
			V  []float32 `index:":keyword"`
		}{},
		"as vector": struct {
			ID string  `index:"id"`
			V  float64 `index:":vector:3"`
		}{},
	} {
		if _, err := SchemaOf(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v, want %s", bad, err, want)
		}
	}
}
